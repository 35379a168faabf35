#include "tools/identify/ramp_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/identify/phase.hpp"

namespace rope {
namespace {

constexpr std::size_t most_unknowns = 4;
using Row = std::array<long double, most_unknowns>;

// ln(base), 1/factor, and the ramp: the ratio of theta to the unscaled one = level + slope * x.
struct Unknowns {
  long double log_base = 0, tail = 1, level = 0, slope = 0;
};

struct Part {
  std::size_t head = 0, tail = 0;  // [0, head) keep theta, [tail, n) have theta / factor
};

class Ramp {
 public:
  Ramp(const std::vector<GeometricPoint>& points, RampOver over, double relative)
      : points_(points), over_(over), relative_(relative) {}

  // Guesses which pairs are on the ramp by their distance from the plateaus, and then reads it off the line itself.
  std::optional<RampFit> from(double base) const {
    for (const double guess : {1e-2, 1e-4, 1e-6, 0.0}) {
      Unknowns u{std::log(static_cast<long double>(base)), 1, 0, 0};
      std::optional<Part> part = part_of(u, guess);
      Row error{};
      for (int round = 0; part && round < 6; ++round) {
        start_line(u, *part);
        bool solved = true;
        for (int step = 0; step < 4 && solved; ++step) solved = improve(u, *part, error);
        if (!solved) break;
        const std::optional<RampFit> fit = fit_of(u, *part, error);
        if (fit && predicts(u, *part) && is_high(u)) return fit;
        const std::optional<Part> next = has_line(*part) ? part_of_line(u) : part_of(u, 0);
        if (!next || (next->head == part->head && next->tail == part->tail)) break;
        part = next;
      }
    }
    return std::nullopt;
  }

 private:
  std::size_t size() const { return points_.size(); }
  long double plain(const Unknowns& u, std::size_t p) const { return std::exp(u.log_base * points_[p].exponent); }
  long double ratio(const Unknowns& u, std::size_t p) const { return points_[p].theta / plain(u, p); }
  long double x(const Unknowns& u, std::size_t p) const {
    return over_ == RampOver::index ? static_cast<long double>(p) : plain(u, p);
  }
  // A bound for theta's error.
  long double error_of(std::size_t p) const {
    return points_[p].error + (relative_ + 0x1p-50) * std::fabs(points_[p].theta);
  }

  std::optional<Part> part_of(const Unknowns& u, double guess) const {
    const long double last = ratio(u, size() - 1);
    if (!(last > 0) || !std::isfinite(last)) return std::nullopt;
    const auto near = [&](std::size_t p, long double level) {
      return std::fabs(ratio(u, p) - level) <=
             (guess + 2 * error_of(p) / points_[p].theta) * (level + std::fabs(1 - last));
    };
    if (near(size() - 1, 1)) return std::nullopt;
    Part part;
    while (part.head < size() && near(part.head, 1)) ++part.head;
    part.tail = size() - 1;
    while (part.tail > part.head && near(part.tail - 1, last)) --part.tail;
    return part;
  }

  std::optional<Part> part_of_line(const Unknowns& u) const {
    const long double fast = (1 - u.level) / u.slope, slow = (u.tail - u.level) / u.slope;
    const bool rises = over_ == RampOver::index;
    Part part;
    while (part.head < size() && (rises ? x(u, part.head) <= fast : x(u, part.head) >= fast)) ++part.head;
    part.tail = size() - 1;
    while (part.tail > part.head && (rises ? x(u, part.tail - 1) >= slow : x(u, part.tail - 1) <= slow)) --part.tail;
    if (part.head >= size()) return std::nullopt;
    return part;
  }

  // One pair on the ramp fits many lines, so it says nothing about base and factor.
  bool has_line(const Part& part) const { return part.tail - part.head >= 2; }

  void start_line(Unknowns& u, const Part& part) const {
    u.tail = ratio(u, size() - 1);
    if (!has_line(part)) return;
    const std::size_t a = part.head, b = part.tail - 1;
    u.slope = (ratio(u, b) - ratio(u, a)) / (x(u, b) - x(u, a));
    u.level = ratio(u, a) - u.slope * x(u, a);
  }

  // theta of pair p and its derivatives; false if it says nothing.
  bool model(const Unknowns& u, const Part& part, std::size_t p, long double& theta, Row& by) const {
    const long double e = points_[p].exponent, t = plain(u, p);
    by = {};
    if (p < part.head) {
      theta = t;
      by[0] = e * t;
    } else if (p >= part.tail) {
      theta = t * u.tail;
      by[0] = e * theta;
      by[1] = t;
    } else if (has_line(part)) {
      const long double at = x(u, p);
      theta = t * (u.level + u.slope * at);
      by[0] = e * theta + (over_ == RampOver::frequency ? e * t * u.slope * at : 0);
      by[2] = t;
      by[3] = t * at;
    } else {
      return false;
    }
    return true;
  }

  // One Gauss-Newton step. `error`: of each unknown. The points' errors are bounds that may all have one sign, so
  // averaging does not reduce them.
  bool improve(Unknowns& u, const Part& part, Row& error) const {
    std::array<Row, most_unknowns> normal{};
    Row right{}, by;
    long double theta = 0, count = 0;
    for (std::size_t p = 0; p < size(); ++p) {
      if (!model(u, part, p, theta, by) || by == Row{}) continue;
      const long double sigma = error_of(p), off = (points_[p].theta - theta) / sigma;
      for (std::size_t i = 0; i < most_unknowns; ++i) {
        right[i] += by[i] / sigma * off;
        for (std::size_t j = 0; j < most_unknowns; ++j) normal[i][j] += by[i] / sigma * (by[j] / sigma);
      }
      ++count;
    }
    const std::size_t unknowns = has_line(part) ? 4 : 2;
    // With as many unknowns as points, any frequencies fit.
    if (count <= static_cast<long double>(unknowns)) return false;
    Row step{}, variance{};
    if (!solve(normal, right, unknowns, step, variance)) return false;
    u.log_base += step[0];
    u.tail += step[1];
    u.level += step[2];
    u.slope += step[3];
    for (std::size_t i = 0; i < unknowns; ++i) error[i] = std::sqrt(count * variance[i]);
    return u.log_base > 0 && u.log_base < 64 && u.tail > 0;
  }

  // Also gives the inverse's diagonal. Columns are first scaled to 1 on the diagonal.
  static bool solve(std::array<Row, most_unknowns> m, Row right, std::size_t n, Row& solution, Row& variance) {
    Row scale{};
    for (std::size_t i = 0; i < n; ++i) {
      if (!(m[i][i] > 0)) return false;
      scale[i] = 1 / std::sqrt(m[i][i]);
    }
    std::array<Row, most_unknowns> inverse{};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) m[i][j] *= scale[i] * scale[j];
      inverse[i][i] = 1;
    }
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k + 1; i < n; ++i) {
        if (std::fabs(m[i][k]) > std::fabs(m[pivot][k])) pivot = i;
      }
      if (std::fabs(m[pivot][k]) < 0x1p-60L) return false;
      std::swap(m[k], m[pivot]);
      std::swap(inverse[k], inverse[pivot]);
      const long double divisor = m[k][k];
      for (std::size_t j = 0; j < n; ++j) {
        m[k][j] /= divisor;
        inverse[k][j] /= divisor;
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (i == k) continue;
        const long double times = m[i][k];
        for (std::size_t j = 0; j < n; ++j) {
          m[i][j] -= times * m[k][j];
          inverse[i][j] -= times * inverse[k][j];
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      solution[i] = 0;
      for (std::size_t j = 0; j < n; ++j) solution[i] += inverse[i][j] * scale[i] * scale[j] * right[j];
      variance[i] = std::max(inverse[i][i], 0.0L) * scale[i] * scale[i];
    }
    return true;
  }

  // A ramp lower than f32's error of theta is that error.
  bool is_high(const Unknowns& u) const {
    long double least = ratio(u, 0), most = least;
    for (std::size_t p = 1; p < size(); ++p) {
      least = std::min(least, ratio(u, p));
      most = std::max(most, ratio(u, p));
    }
    return most - least > of_float * most;
  }

  bool predicts(const Unknowns& u, const Part& part) const {
    long double theta = 0;
    Row by;
    for (std::size_t p = 0; p < size(); ++p) {
      if (model(u, part, p, theta, by) && std::fabs(points_[p].theta - theta) > error_of(p)) return false;
    }
    return true;
  }

  bool between(const Unknowns& u, long double end, std::size_t a, std::size_t b) const {
    const long double from = x(u, a), to = x(u, b), slack = 1e-3L * std::fabs(to - from);
    return end >= std::min(from, to) - slack && end <= std::max(from, to) + slack;
  }

  std::optional<RampFit> fit_of(const Unknowns& u, const Part& part, const Row& error) const {
    RampFit fit;
    fit.base = static_cast<double>(std::exp(u.log_base));
    fit.base_error = static_cast<double>(error[0]);
    fit.factor = static_cast<double>(1 / u.tail);
    fit.factor_error = static_cast<double>(error[1] / u.tail);
    fit.on_ramp = static_cast<int>(part.tail - part.head);
    long double fast = 0, slow = 0;
    if (has_line(part)) {
      fast = (1 - u.level) / u.slope;
      slow = (u.tail - u.level) / u.slope;
      // The fitted ramp must begin and end where the split says.
      if (part.head > 0 && !between(u, fast, part.head - 1, part.head)) return std::nullopt;
      if (part.head == 0 && over_ == RampOver::index && fast < -1) return std::nullopt;
      if (!between(u, slow, part.tail - 1, part.tail)) return std::nullopt;
    } else {
      if (part.head == 0 && part.tail == 0) return std::nullopt;  // no ramp at all
      const std::size_t k = part.head;
      // The neighbours off the ramp. If the ramp begins with the first pair, any place before that is possible.
      const long double end = x(u, part.tail);
      const long double begin = k > 0 ? x(u, k - 1) : over_ == RampOver::index ? -1 : INFINITY;
      fast = begin;
      slow = end;
      if (fit.on_ramp == 1) {
        const long double mix = (1 - ratio(u, k)) / (1 - u.tail), at = x(u, k);
        // The line through the pair that begins at one neighbour, or else ends at the other; both stay off the ramp.
        slow = std::isfinite(begin) ? begin + (at - begin) / mix : INFINITY;
        if (!std::isfinite(begin) || std::fabs(slow - begin) > std::fabs(end - begin)) {
          slow = end;
          fast = end + (at - end) / (1 - mix);
        }
      }
    }
    fit.fast_end = static_cast<double>(fast);
    fit.slow_end = static_cast<double>(slow);
    const bool falls = over_ == RampOver::index ? fit.fast_end < fit.slow_end : fit.fast_end > fit.slow_end;
    if (!falls || !std::isfinite(fit.fast_end) || !std::isfinite(fit.slow_end)) return std::nullopt;
    return fit;
  }

  const std::vector<GeometricPoint>& points_;
  RampOver over_;
  double relative_;
};

// The step base^(-2/r) from one pair to the next, from three neighbours t on one ramp. Over the index, t/step^p is a
// line, so t0 step^2 - 2 t1 step + t2 = 0. Over the frequency, t is a sum of step^p and step^2p, so
// t0 step^3 - t1 step^2 - t1 step + t2 = 0. Pairs on one plateau solve both.
std::vector<double> steps_of(const std::array<double, 3>& t, RampOver over) {
  std::vector<double> steps{t[1] / t[0], t[2] / t[1]};
  if (over == RampOver::index) {
    const double root = std::sqrt(std::max(0.0, t[1] * t[1] - t[0] * t[2]));
    steps.push_back((t[1] + root) / t[0]);
    steps.push_back((t[1] - root) / t[0]);
    return steps;
  }
  const auto value = [&](double s) { return ((t[0] * s - t[1]) * s - t[1]) * s + t[2]; };
  constexpr int intervals = 64;  // of (0, 1); each is searched for one root
  for (int i = 0; i < intervals; ++i) {
    double low = double(i) / intervals, high = double(i + 1) / intervals;
    if ((value(low) < 0) == (value(high) < 0)) continue;
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = (low + high) / 2;
      ((value(middle) < 0) == (value(low) < 0) ? low : high) = middle;
    }
    steps.push_back(low);
  }
  return steps;
}

}  // namespace

std::optional<RampFit> fit_ramp(const std::vector<GeometricPoint>& points, RampOver over, double told_base,
                                double relative) {
  if (points.size() < 3) return std::nullopt;
  for (const GeometricPoint& p : points) {
    if (!(p.theta > p.error)) return std::nullopt;
  }
  const Ramp ramp(points, over, relative);
  std::vector<double> tried;
  const auto from = [&](double base) -> std::optional<RampFit> {
    if (!(base > 1) || !std::isfinite(base)) return std::nullopt;
    const auto same = [&](double other) { return std::fabs(base / other - 1) < 1e-9; };
    if (std::any_of(tried.begin(), tried.end(), same)) return std::nullopt;
    tried.push_back(base);
    return ramp.from(base);
  };
  if (const auto fit = from(told_base)) return fit;
  for (std::size_t p = 0; p + 2 < points.size(); ++p) {
    const double apart = points[p].exponent - points[p + 1].exponent;
    for (const double step : steps_of({points[p].theta, points[p + 1].theta, points[p + 2].theta}, over)) {
      if (const auto fit = from(std::pow(step, -1 / apart))) return fit;
    }
  }
  return std::nullopt;
}

}  // namespace rope
