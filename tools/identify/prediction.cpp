#include "tools/identify/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace rope {
namespace {

void compare(const ExecutedPair& pair, double position, const double* x, std::span<const double> y,
             const AngleNoise& noise, Predicted& seen) {
  const FeaturePair& f = pair.features;
  const double phi = pair.intercept + position * pair.theta;
  const double a = x[f.first], b = x[f.second], c = std::cos(phi), s = std::sin(phi);
  double first = a * c - b * s, second = b * c + a * s;
  if (f.kind == BlockKind::reflection) first = a * c + b * s, second = a * s - b * c;
  if (f.kind == BlockKind::unsigned_) first = a * c + b * s, second = a * s + b * c;
  const double reach = pair.lambda * std::hypot(a, b) * (f.kind == BlockKind::unsigned_ ? 2 : 1);
  const double allowed = reach * (2 * noise.at(phi) + position * pair.theta_error);
  seen.elements += 2;
  seen.right += std::fabs(y[static_cast<std::size_t>(f.out_first)] - pair.lambda * first) <= allowed ? 1 : 0;
  seen.right += std::fabs(y[static_cast<std::size_t>(f.out_second)] - pair.lambda * second) <= allowed ? 1 : 0;
}

}  // namespace

Predicted predict_random_rows(Prober& prober, const ExecutedPlan& plan, const AngleNoise& noise) {
  Predicted seen;
  if (plan.way.source == AngleSource::tables || plan.pairs.empty() || !plan.moved.empty()) return seen;
  for (const ExecutedPair& pair : plan.pairs) {
    const BlockKind kind = pair.features.kind;
    if (kind == BlockKind::other || kind == BlockKind::two_angles) return seen;
  }
  std::mt19937_64 random(plan.way.seed);
  const std::int64_t far = prober.largest_position();
  std::vector<std::int64_t> at;
  std::vector<Prober::Position> asked;
  for (int i = 0; i < 6; ++i) {
    at.push_back(
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(std::min<std::int64_t>(far, 1 << 16) + 1)));
    asked.push_back(prober.on_all_axes(at.back()));
  }
  const auto dim = static_cast<std::size_t>(prober.head_dim());
  std::vector<double> rows(4 * dim);
  // Whole eighths are exact in every type.
  for (double& x : rows) x = static_cast<double>(static_cast<std::int64_t>(random() % 33) - 16) / 8;
  prober.ask(asked, rows, [&](std::size_t i, std::size_t row, std::span<const double> y) {
    const double* x = rows.data() + row * dim;
    for (const ExecutedPair& pair : plan.pairs) compare(pair, static_cast<double>(at[i]), x, y, noise, seen);
    for (const int feature : plan.structure.passed) {
      ++seen.elements;
      seen.right += y[static_cast<std::size_t>(feature)] == x[feature] ? 1 : 0;
    }
  });
  return seen;
}

}  // namespace rope
