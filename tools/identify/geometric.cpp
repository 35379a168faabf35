#include "tools/identify/geometric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tools/identify/phase.hpp"

namespace rope {
namespace {

struct LogPoint {
  double x, y, sigma;
};

// y = a + b x by least squares, weights 1/sigma^2.
struct Line {
  double a = 0, b = 0, a_error = 0, b_error = 0;
  double at(double x) const { return a + b * x; }
};

Line weighted_line(const std::vector<LogPoint>& points) {
  double w = 0, wx = 0, wy = 0;
  for (const LogPoint& p : points) {
    const double weight = 1 / (p.sigma * p.sigma);
    w += weight;
    wx += weight * p.x;
    wy += weight * p.y;
  }
  const double mean_x = wx / w, mean_y = wy / w;
  double sxx = 0, sxy = 0;
  for (const LogPoint& p : points) {
    const double weight = 1 / (p.sigma * p.sigma);
    sxx += weight * (p.x - mean_x) * (p.x - mean_x);
    sxy += weight * (p.x - mean_x) * (p.y - mean_y);
  }
  Line line;
  line.b = sxx > 0 ? sxy / sxx : 0;
  line.a = mean_y - line.b * mean_x;
  // Errors of the points are bounds and may all have one sign, so averaging does not reduce them: count one point.
  const double count = static_cast<double>(points.size());
  line.b_error = sxx > 0 ? std::sqrt(count / sxx) : std::numeric_limits<double>::infinity();
  line.a_error = std::sqrt(count / w) + std::fabs(mean_x) * line.b_error;
  return line;
}

double sigma_of(const GeometricPoint& p, double theta, double relative) {
  return p.error / std::fabs(theta) + relative + 0x1p-50;
}

bool turns(const GeometricPoint& p) { return std::isfinite(p.error) && std::fabs(p.theta) > 2 * p.error; }

// theta plus whole turns: the value nearest to the prediction.
double unwrapped(double theta, double predicted) {
  return theta + whole_turn * std::round((predicted - theta) / whole_turn);
}

// Starts at two neighbouring points and goes on while the next point fits the line through those before it.
std::optional<std::vector<LogPoint>> follow(const std::vector<GeometricPoint>& points, double first, double second,
                                            double relative) {
  if (!(first > 0) || !(second > 0)) return std::nullopt;
  std::vector<LogPoint> logs{{points[0].exponent, std::log(first), sigma_of(points[0], first, relative)},
                             {points[1].exponent, std::log(second), sigma_of(points[1], second, relative)}};
  for (std::size_t i = 2; i < points.size(); ++i) {
    const Line line = weighted_line(logs);
    const double predicted = std::exp(line.at(points[i].exponent));
    const double uncertain = std::fabs(points[i].exponent - logs[0].x) * line.b_error + line.a_error;
    if (!std::isfinite(predicted) || predicted * uncertain > std::numbers::pi) return std::nullopt;
    const double theta = unwrapped(points[i].theta, predicted);
    if (!(theta > 0)) return std::nullopt;
    const double sigma = sigma_of(points[i], theta, relative);
    if (std::fabs(std::log(theta) - std::log(predicted)) > 4 * (sigma + uncertain)) return std::nullopt;
    logs.push_back({points[i].exponent, std::log(theta), sigma});
  }
  return logs;
}

GeometricFit fit_of(const Line& line) { return {std::exp(line.b), line.b_error, std::exp(line.a), line.a_error}; }

}  // namespace

std::optional<GeometricFit> fit_geometric(const std::vector<GeometricPoint>& points, double relative) {
  std::vector<GeometricPoint> turning;
  for (const GeometricPoint& p : points) {
    if (turns(p)) turning.push_back(p);
  }
  if (turning.empty()) return std::nullopt;
  if (turning.size() == 1) return std::nullopt;
  // From the slow end, whole turns begin to miss last; from the fast end if frequencies rise. The first two may miss
  // one too.
  for (const bool reversed : {true, false}) {
    std::vector<GeometricPoint> order = turning;
    if (reversed) std::reverse(order.begin(), order.end());
    for (const int turns_of_first : {0, 1}) {
      for (const int turns_of_second : {0, 1}) {
        const auto logs = follow(order, order[0].theta + whole_turn * turns_of_first,
                                 order[1].theta + whole_turn * turns_of_second, relative);
        if (logs) return fit_of(weighted_line(*logs));
      }
    }
  }
  return std::nullopt;
}

GeometricFit fit_through_one(const std::vector<GeometricPoint>& points, const GeometricFit& fit, double relative) {
  double sxx = 0, sxy = 0, count = 0;
  for (const GeometricPoint& p : points) {
    if (!turns(p) || p.exponent == 0) continue;
    const double predicted = fit.start * std::pow(fit.base, p.exponent);
    const double theta = unwrapped(p.theta, predicted);
    if (!(theta > 0)) continue;
    const double sigma = sigma_of(p, theta, relative);
    sxx += p.exponent * p.exponent / (sigma * sigma);
    sxy += p.exponent * std::log(theta) / (sigma * sigma);
    ++count;
  }
  if (!(sxx > 0)) return fit;
  return {std::exp(sxy / sxx), std::sqrt(count / sxx), 1, 0};
}

}  // namespace rope
