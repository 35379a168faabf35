#include "tools/diagnose/measure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "reference/pair_features.hpp"
#include "tools/diagnose/cause_class.hpp"

namespace rope::diagnosis {
namespace {

// Half of what a hypothesis with the same share gets: a shape is not a cause.
constexpr double weight_of_a_shape = 0.5;
// Errors up to this share of a pair are roundings to few bits: three operations in bf16, 2^-8 each.
constexpr double small = 3.0 / 256;

// No wrong cos or sin makes a row this much larger. What fills the gaps between rows (`canary`) is as large in all
// types except f16.
constexpr double beyond_all = 64;

// Classes that a condition may name instead of a shape's own class.
constexpr BugClass of_a_pass[] = {BugClass::backward};
constexpr BugClass of_an_axis[] = {BugClass::multi_axis, BugClass::backward};
constexpr BugClass of_frequencies[] = {BugClass::multi_axis, BugClass::scaling_config, BugClass::backward};
constexpr BugClass of_writing[] = {BugClass::partial_passthrough, BugClass::backward, BugClass::strides_memory_race};
constexpr BugClass of_reading[] = {BugClass::strides_memory_race, BugClass::backward};

struct ShapeEntry {
  Shape shape;
  BugClass bug_class;
  const char* sentence;
  std::span<const BugClass> open_to = {};
};

// If two shapes match equally many rows, the first is named.
constexpr ShapeEntry shapes[] = {
    {Shape::mixed, BugClass::pairing_layout, "results depend on features outside their own pair", of_reading},
    {Shape::unusual, BugClass::special_values, "results for zeros, NaN or infinities are wrong"},
    {Shape::foreign, BugClass::strides_memory_race,
     "outputs hold numbers that no input can give: gaps between rows, or memory next to them, are read"},
    {Shape::no_angle, BugClass::precision, "cos and sin of a pair belong to no angle, in every head alike", of_an_axis},
    {Shape::other_row, BugClass::table_cache, "pairs keep their length, but their angles are not the tables'",
     of_an_axis},
    {Shape::turned_by_rule, BugClass::scaling_config,
     "pairs keep their length, but their angles are wrong under a scaling rule", of_an_axis},
    {Shape::turned, BugClass::frequency_base,
     "pairs keep their length, but their angles are wrong, in every head alike", of_frequencies},
    {Shape::factor, BugClass::pipeline, "pairs turn by the right angles, but are multiplied by a factor"},
    {Shape::rounded_off, BugClass::precision,
     "all errors are small compared with the pair: some stage rounds too coarsely"},
    {Shape::still, BugClass::partial_passthrough, "some pairs are not rotated"},
    {Shape::passes, BugClass::partial_passthrough, "pass-through features are changed; rotary features are right"},
    {Shape::unwritten, BugClass::launch_limits, "some elements are never written: no thread or block handles them",
     of_writing},
    {Shape::again, BugClass::strides_memory_race, "some pairs are rotated twice, in place", of_a_pass},
};

struct Turned {
  double cos = 0, sin = 0;
};

// The map from x to y, expressed as one cos and one sin.
Turned between(Values x, Values y) {
  const double n = x.first * x.first + x.second * x.second;
  return {(y.first * x.first + y.second * x.second) / n, (y.second * x.first - y.first * x.second) / n};
}

class RowShape {
 public:
  RowShape(const Observation& seen, std::size_t row) : seen_(seen) {
    const auto dim = static_cast<std::size_t>(seen.head_dim);
    const RowKey& key = seen.rows[row];
    const Tensor& input = key.key ? *seen.before.k : seen.before.q;
    double largest = 0, most = 0;
    for (int p = 0; p < seen.before.rotary_dim / 2; ++p) {
      const auto [first, second] =
          pair_features(seen.before.pairing, seen.before.rotary_dim, seen.before.rotary_offset, p);
      const std::size_t i = row * dim + static_cast<std::size_t>(first),
                        j = row * dim + static_cast<std::size_t>(second);
      if (!is_wrong(i) && !is_wrong(j)) continue;
      const RowIndex at{key.batch, key.seq, key.head};
      const Values x{value_at(input, at, first), value_at(input, at, second)};
      largest = std::max({largest, std::fabs(x.first), std::fabs(x.second)});
      const Values y{seen.actual[i], seen.actual[j]};
      most = std::max({most, std::fabs(y.first), std::fabs(y.second)});
      add(p, x, y, {seen.right.value[i], seen.right.value[j]}, std::max(seen.right.bound[i], seen.right.bound[j]));
    }
    std::size_t wrong = 0, left = 0;
    for (std::size_t i = row * dim; i < (row + 1) * dim; ++i) {
      wrong += is_wrong(i) ? 1 : 0;
      left += is_wrong(i) && seen.poison[i] != 0 ? 1 : 0;
    }
    all_left_ = wrong > 0 && left == wrong;
    const bool of_numbers = largest > 0 && std::isfinite(largest);
    const bool with_gaps = !is_contiguous(seen.c.layout);
    foreign_ = of_numbers && (most > beyond_all * seen.before.attention_factor * largest || (no_number_ && with_gaps));
  }

  const std::map<int, Turned>& turns() const { return turns_; }

  Shape shape(bool same_in_heads) const {
    if (all_left_) return Shape::unwritten;
    if (foreign_) return Shape::foreign;
    if (turns_.empty() && no_number_) return Shape::no_angle;
    if (turns_.empty()) return of_no_size_ ? Shape::unusual : Shape::passes;
    if (all_again_ && shows_again_) return Shape::again;
    if (all_small_) return Shape::rounded_off;
    if (all_still_) return Shape::still;
    if (all_scaled_) return Shape::factor;
    return same_in_heads ? shape_of_angles() : Shape::mixed;
  }

 private:
  Shape shape_of_angles() const {
    if (!all_kept_) return Shape::no_angle;
    if (seen_.before.source == AngleSource::tables) return Shape::other_row;
    const bool rule =
        seen_.before.source == AngleSource::computed && !std::holds_alternative<scaling::None>(seen_.before.scaling);
    return rule ? Shape::turned_by_rule : Shape::turned;
  }

  bool is_wrong(std::size_t i) const { return seen_.wrong_elements[i] != 0; }

  void add(int pair, Values x, Values y, Values right, double bound) {
    const double size = std::hypot(x.first, x.second);
    const double length = std::hypot(y.first, y.second), wanted = std::hypot(right.first, right.second);
    const double slack = 4 * bound;
    const double error = std::hypot(y.first - right.first, y.second - right.second);
    if (!(size > 0) || !std::isfinite(size)) {
      of_no_size_ = true;
      return;
    }
    if (!std::isfinite(length)) {
      no_number_ = true;
      all_small_ = all_still_ = all_scaled_ = all_kept_ = all_again_ = false;
      return;
    }
    all_small_ = all_small_ && error <= small * wanted;
    all_still_ = all_still_ && std::hypot(y.first - x.first, y.second - x.second) <= slack;
    all_kept_ = all_kept_ && std::fabs(length - wanted) <= slack;
    // The second turn starts from the first one's result.
    const Turned once = between(x, right);
    const Values twice{once.cos * right.first - once.sin * right.second,
                       once.cos * right.second + once.sin * right.first};
    const double grown = slack * (1 + std::hypot(once.cos, once.sin));
    all_again_ =
        all_again_ && seen_.before.in_place && std::hypot(y.first - twice.first, y.second - twice.second) <= grown;
    shows_again_ = shows_again_ || std::hypot(twice.first - right.first, twice.second - right.second) > 4 * grown;
    // Parallel to the right result, with the length ratio of the first pair.
    const double ratio = length / wanted;
    if (turns_.empty()) ratio_ = ratio;
    const bool along = std::hypot(y.first - ratio * right.first, y.second - ratio * right.second) <= slack;
    all_scaled_ = all_scaled_ && along && std::fabs(ratio - ratio_) * wanted <= 2 * slack;
    turns_[pair] = between(x, y);
  }

  const Observation& seen_;
  std::map<int, Turned> turns_;  // of the wrong pairs
  bool of_no_size_ = false;      // the input of a wrong pair is 0, so it has no angle
  bool no_number_ = false;       // a pair of numbers gave something that is not a number
  bool foreign_ = false;
  bool all_left_ = false;  // never written
  bool all_small_ = true, all_still_ = true, all_scaled_ = true, all_kept_ = true, all_again_ = true;
  bool shows_again_ = false;  // for some pair a second turn differs by more than its error
  double ratio_ = 1;
};

// Whether two heads of one token were turned by the same angles, in the pairs that are wrong in both.
bool alike(const RowShape& a, const RowShape& b) {
  for (const auto& [pair, turn] : a.turns()) {
    const auto other = b.turns().find(pair);
    if (other == b.turns().end()) continue;
    const double size = std::max(1.0, std::hypot(turn.cos, turn.sin));
    if (std::hypot(turn.cos - other->second.cos, turn.sin - other->second.sin) > 2 * small * size) return false;
  }
  return true;
}

// Adjacent rows are the heads of one token.
bool same_in_heads(const Observation& seen, const RowShape& row, std::size_t r) {
  const bool has_next = r + 1 < seen.rows.size() && seen.rows[r + 1].head == seen.rows[r].head + 1;
  const bool has_last = seen.rows[r].head > 0;
  return (!has_next || alike(row, RowShape(seen, r + 1))) && (!has_last || alike(row, RowShape(seen, r - 1)));
}

// The wrong rows of each shape, and the right ones.
struct Votes {
  std::map<Shape, std::vector<SeenRow>> rows_of;
  std::map<Shape, double> weight_of;
  std::vector<SeenRow> right;
  double all = 0;

  void add(const Observation& seen) {
    const double weight = 1.0 / static_cast<double>(seen.rows.size());
    for (std::size_t r = 0; r < seen.rows.size(); ++r) {
      if (seen.wrong[r] == 0) {
        right.push_back({&seen, r, weight});
        continue;
      }
      const RowShape row(seen, r);
      const Shape shape = row.shape(same_in_heads(seen, row, r));
      weight_of[shape] += weight;
      rows_of[shape].push_back({&seen, r, weight});
      all += weight;
    }
  }

  const ShapeEntry* best() const {
    const ShapeEntry* best = nullptr;
    double most = 0;
    for (const ShapeEntry& entry : shapes) {
      const auto weight = weight_of.find(entry.shape);
      if (weight == weight_of.end() || weight->second <= most) continue;
      most = weight->second;
      best = &entry;
    }
    return best;
  }
};

}  // namespace

bool says_more_than_a_plan(Shape shape) { return shape == Shape::unwritten || shape == Shape::again; }

std::optional<Measured> measured(const Observations& seen) {
  Votes votes;
  for (const auto& one : seen) {
    if (one->answered()) votes.add(*one);
  }
  const ShapeEntry* best = votes.best();
  if (best == nullptr) return std::nullopt;
  const Condition condition = separate(votes.rows_of.at(best->shape), votes.right);
  const std::optional<BugClass> spoken_for = class_of_condition(condition);
  const bool speaks = spoken_for && std::ranges::find(best->open_to, *spoken_for) != best->open_to.end();
  return Measured{best->shape,
                  {speaks ? *spoken_for : best->bug_class, best->sentence, speaks ? words_of(condition) : "",
                   weight_of_a_shape * votes.weight_of.at(best->shape) / votes.all}};
}

}  // namespace rope::diagnosis
