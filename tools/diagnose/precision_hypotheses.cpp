// Roundings that the call's types do not require: at every stage, to every narrower type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <set>
#include <unordered_map>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

void add(Hypotheses& all, std::string sentence, Change change, std::function<bool(const Call&)> applies = {}) {
  all.push_back({BugClass::precision, std::move(sentence), std::move(change), 0, std::move(applies), false});
}

bool own_angles(const Call& call) { return call.source != AngleSource::tables; }

void add_period(Hypotheses& all) {
  Change change;
  change.theta = [](const RowContext& s, std::vector<long double>& theta) {
    const DType working = working_type(s.call.q.dtype);
    for (long double& t : theta) {
      if (t != 0) t = 1 / static_cast<long double>(rounded(working, static_cast<double>(1 / t)));
    }
  };
  add(all, "theta is turned into a period, which is rounded (if that is meant, claim theta_as_period)",
      std::move(change), [](const Call& call) { return call.source == AngleSource::frequencies; });
}

// Rounding up to a power of two carries into the exponent. A bitwise or loses the carry only into an odd exponent.
void add_lost_carry(Hypotheses& all) {
  for (const bool only_odd : {false, true}) {
    Change change;
    change.store = [only_odd](const RowContext& s, int, double y) {
      const double nearest = rounded(s.out().dtype, y);
      int exponent = 0;
      const bool is_power = std::isfinite(nearest) && std::fabs(std::frexp(nearest, &exponent)) == 0.5;
      const bool has_exponent = std::fabs(y) >= smallest_subnormal(s.out().dtype) / (2 * unit_roundoff(s.out().dtype));
      if (!is_power || !has_exponent || std::fabs(nearest) <= std::fabs(y)) return y;
      const int biased = exponent - 2 + (s.out().dtype == DType::f16 ? 15 : 127);  // of y, before it is rounded
      return only_odd && biased % 2 == 0 ? y : nearest / 2;
    };
    add(all,
        fmt::format("the carry{} is lost when a result is rounded up to the next power of two: it is half as large",
                    only_odd ? " into an odd exponent" : ""),
        change,
        [](const Call& call) { return call.q_result().dtype == DType::f16 || call.q_result().dtype == DType::bf16; });
  }
}

// Usual roundings of 2 pi: f32, and decimals that are written into the source, of 2 pi or of pi, rounded or cut off.
std::set<double> usual_turns() {
  constexpr double exact = 2 * std::numbers::pi;
  std::set<double> all{double{2 * std::numbers::pi_v<float>}};
  for (int digits = 2; digits <= 12; ++digits) {
    const double unit = std::pow(10.0, digits);
    for (const double of : {exact, exact / 2}) {
      for (const double whole : {std::floor(of * unit), std::floor(of * unit + 0.5)})
        all.insert(exact / of * whole / unit);
    }
  }
  // The first part of a number that is kept in two or three, or the first two of them.
  for (int bits = 3; bits <= 24; ++bits) all.insert(std::ldexp(std::floor(std::ldexp(exact, bits)), -bits));
  return all;
}

// cos and sin from a table over one turn: its nearest entry, the one before, or a value between two.
void add_lookups(Hypotheses& all) {
  constexpr long double turn = 2 * std::numbers::pi_v<long double>;
  for (int bits = 8; bits <= 16; ++bits) {
    const long double steps = std::ldexp(1.0L, bits);
    const auto to_step = [&](const char* how, long double (*whole)(long double)) {
      Change change;
      change.angle = [=](const RowContext&, long double, long double, long double phi) {
        return whole(phi / turn * steps) / steps * turn;
      };
      add(all, fmt::format("angles are rounded {} to one of {} steps in a turn", how, steps), change, own_angles);
    };
    to_step("to nearest", [](long double x) { return std::floor(x + 0.5L); });
    to_step("down", [](long double x) { return std::floor(x); });
    if (bits > 12) continue;  // there, what is between two entries is right to f32
    Change change;
    change.row = [=](const RowContext&, const PairList&, Row& row) {
      for (std::size_t f = 0; f < row.phi.size(); ++f) {
        const double step = static_cast<double>(turn / steps), at = row.phi[f] / step, whole = std::floor(at);
        const auto between = [&](double (*of)(double)) {
          return of(whole * step) + (at - whole) * (of((whole + 1) * step) - of(whole * step));
        };
        row.cos[f] = between([](double x) { return std::cos(x); });
        row.sin[f] = between([](double x) { return std::sin(x); });
      }
    };
    add(all, fmt::format("cos and sin are interpolated between {} entries for a turn", steps), change, own_angles);
  }
}

// The powers of exp(i theta), each from the one before by a multiplication in f32.
std::complex<float> f32_power(double theta, std::int64_t exponent) {
  constexpr std::size_t most = 1 << 10;  // frequencies, of up to 2^14 powers each
  thread_local std::unordered_map<double, std::vector<std::complex<float>>> kept;
  if (kept.size() == most && !kept.contains(theta)) kept.clear();
  std::vector<std::complex<float>>& powers = kept[theta];
  if (powers.empty()) powers.emplace_back(1.0F, 0.0F);
  const auto c = static_cast<float>(std::cos(theta)), s = static_cast<float>(std::sin(theta));
  while (std::ssize(powers) <= exponent) {
    const float x = powers.back().real(), y = powers.back().imag();
    powers.emplace_back(x * c - y * s, x * s + y * c);
  }
  return powers[static_cast<std::size_t>(exponent)];
}

void add_recurrences(Hypotheses& all) {
  constexpr std::int64_t longest = 1 << 14;
  const auto is_counted = [](const Call& call) {
    return call.source != AngleSource::tables && call.axes == 1 && call.attention_factor == 1 &&
           call.q.dtype == DType::f32;
  };
  // From position 0, or from the position of the first token, whose cos and sin are right.
  for (const bool from_first_token : {false, true}) {
    Change change;
    change.row = [=](const RowContext& s, const PairList&, Row& row) {
      const std::int64_t position = token_position(s.call, s.batch, s.seq).front();
      const std::int64_t start = from_first_token ? token_position(s.call, s.batch, 0).front() : 0;
      if (position <= start || position - start > longest) return;
      for (std::size_t f = 0; f < row.phi.size(); ++f) {
        const double theta = row.phi[f] / static_cast<double>(position);
        const double first = theta * static_cast<double>(start);
        const std::complex<float> power = f32_power(theta, position - start);
        const auto c = static_cast<float>(std::cos(first)), n = static_cast<float>(std::sin(first));
        row.cos[f] = c * power.real() - n * power.imag();
        row.sin[f] = n * power.real() + c * power.imag();
      }
    };
    add(all,
        fmt::format("cos and sin are multiplied up from position to position in f32, beginning at {}",
                    from_first_token ? "the first token" : "position 0"),
        change, is_counted);
  }
}

}  // namespace

void add_precision_hypotheses(Hypotheses& all) {
  add_lost_carry(all);
  add_lookups(all);
  add_recurrences(all);
  add_period(all);
  for (int bits : {16, 24, 32}) {
    const long double turns = std::ldexp(1.0L, bits);
    Change change;
    change.angle = [=](const RowContext&, long double m, long double theta, long double) {
      const long double step = std::floor(theta / (2 * std::numbers::pi_v<long double>)*turns + 0.5L);
      return m * step / turns * 2 * std::numbers::pi_v<long double>;
    };
    add(all, fmt::format("theta is kept as a fraction of a turn in {} bits", bits), change, own_angles);
  }
  for (const double turn : usual_turns()) {
    Change change;
    change.angle = [by = static_cast<long double>(turn)](const RowContext&, long double, long double, long double phi) {
      return std::remainder(phi, by);
    };
    add(all, fmt::format("angles are reduced by {}, not by 2 pi", turn), change, own_angles);
    change.angle = [by = static_cast<long double>(turn)](const RowContext&, long double, long double, long double phi) {
      return std::fmod(phi, by);
    };
    add(all, fmt::format("angles are reduced by {}, not by 2 pi, and rounded down to whole turns", turn), change,
        own_angles);
  }
}

}  // namespace rope::diagnosis
