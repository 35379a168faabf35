#include "tests/diagnosis/measure.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/diagnosis/bug_class.hpp"

namespace rope::diagnosis {
namespace {

// Half of what a hypothesis gets that explains as much: a shape is not a cause.
constexpr double weight_of_a_shape = 0.5;
// Errors of this share of a pair are roundings to few bits, not other numbers: bf16 has 2^-8, three operations of it.
constexpr double small = 3.0 / 256;

// No wrong cos or sin makes so much of a row: what fills the gaps between rows (`canary`) is as large in all types but
// f16.
constexpr double beyond_all = 64;

struct Shape {
  const char* bug_class;
  const char* sentence;
  std::string_view open_to = "";  // classes that a condition may speak for in its place, parted by spaces
};
constexpr Shape passes{"partial-passthrough", "features that do not turn come out changed, those that do are right"};
constexpr Shape still{"partial-passthrough", "some pairs come out as they went in"};
constexpr Shape again{"strides-memory-race", turned_again, "backward"};
constexpr Shape rounded_off{"precision", "all errors are small against the pair: a stage is too coarse"};
constexpr Shape factor{"pipeline", "each pair turns rightly and is multiplied by a number"};
constexpr Shape turned{"frequency-base", "pairs keep their length and turn by other angles, the same in every head",
                       "multi-axis scaling-config backward"};
constexpr Shape turned_by_rule{
    "scaling-config", "pairs keep their length and turn by other angles where there is scaling", "multi-axis backward"};
constexpr Shape other_row{"table-cache", "pairs keep their length and turn by other angles than the tables have",
                          "multi-axis backward"};
constexpr Shape no_angle{"precision",
                         "the cos and sin that pairs are turned by, the same in every head, are those of no angle",
                         "multi-axis backward"};
constexpr Shape unwritten{"launch-limits", never_written, "partial-passthrough backward strides-memory-race"};
constexpr Shape foreign{"strides-memory-race",
                        "numbers come out that no input holds: what lies between the rows, or beside them, is read"};
constexpr Shape unusual{"special-values", "what comes of zeros, NaN or infinities is wrong"};
constexpr Shape mixed{"pairing-layout", "results do not follow from their own pair: other features have a part in them",
                      "strides-memory-race backward"};

struct Turned {
  double cos = 0, sin = 0;
};

// The map that makes y of x, as if it were one cos and one sin.
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
    const auto rotary = static_cast<std::size_t>(seen.before.rotary_dim);
    const auto half = static_cast<int>(rotary / 2);
    const bool split = seen.before.pairing == Pairing::half_split;
    double largest = 0, most = 0;
    for (int p = 0; p < half; ++p) {
      const int first = split ? p : 2 * p, second = split ? p + half : 2 * p + 1;
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
    const bool with_gaps = seen.c.layout > Layout::shifted;
    foreign_ = of_numbers && (most > beyond_all * seen.before.attention_factor * largest || (no_number_ && with_gaps));
  }

  const std::map<int, Turned>& turns() const { return turns_; }

  const Shape& shape(bool same_in_heads) const {
    if (all_left_) return unwritten;
    if (foreign_) return foreign;
    if (turns_.empty() && no_number_) return no_angle;
    if (turns_.empty()) return of_no_size_ ? unusual : passes;
    if (all_again_ && shows_again_) return again;
    if (all_small_) return rounded_off;
    if (all_still_) return still;
    if (all_scaled_) return factor;
    if (!same_in_heads) return mixed;
    if (!all_kept_) return no_angle;
    if (seen_.before.source == AngleSource::tables) return other_row;
    const bool rule =
        seen_.before.source == AngleSource::computed && !std::holds_alternative<scaling::None>(seen_.before.scaling);
    return rule ? turned_by_rule : turned;
  }

 private:
  bool is_wrong(std::size_t i) const { return !agrees(seen_, seen_.right, i); }

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
    // Of what the first turn made the second one makes this.
    const Turned once = between(x, right);
    const Values twice{once.cos * right.first - once.sin * right.second,
                       once.cos * right.second + once.sin * right.first};
    const double grown = slack * (1 + std::hypot(once.cos, once.sin));
    all_again_ =
        all_again_ && seen_.before.in_place && std::hypot(y.first - twice.first, y.second - twice.second) <= grown;
    shows_again_ = shows_again_ || std::hypot(twice.first - right.first, twice.second - right.second) > 4 * grown;
    // Along the right result, at the length that the first pair has.
    const double ratio = length / wanted;
    if (turns_.empty()) ratio_ = ratio;
    const bool along = std::hypot(y.first - ratio * right.first, y.second - ratio * right.second) <= slack;
    all_scaled_ = all_scaled_ && along && std::fabs(ratio - ratio_) * wanted <= 2 * slack;
    turns_[pair] = between(x, y);
  }

  const Observation& seen_;
  std::map<int, Turned> turns_;  // of the wrong pairs
  bool of_no_size_ = false;      // the input of a wrong pair, which has no angle then
  bool no_number_ = false;       // came out of a pair of numbers
  bool foreign_ = false;
  bool all_left_ = false;  // never written
  bool all_small_ = true, all_still_ = true, all_scaled_ = true, all_kept_ = true, all_again_ = true;
  bool shows_again_ = false;  // a second turn is more than the error of some pair
  double ratio_ = 1;
};

// Whether two heads of one token were turned alike, in the pairs that are wrong in both.
bool alike(const RowShape& a, const RowShape& b) {
  for (const auto& [pair, turn] : a.turns()) {
    const auto other = b.turns().find(pair);
    if (other == b.turns().end()) continue;
    const double size = std::max(1.0, std::hypot(turn.cos, turn.sin));
    if (std::hypot(turn.cos - other->second.cos, turn.sin - other->second.sin) > 2 * small * size) return false;
  }
  return true;
}

}  // namespace

std::optional<Candidate> measured(const Observations& seen) {
  std::map<const Shape*, double> votes;
  std::map<const Shape*, std::vector<SeenRow>> rows_of;
  std::vector<SeenRow> right;
  double all = 0;
  for (const auto& one : seen) {
    if (!one->answered()) continue;
    const double weight = 1.0 / static_cast<double>(one->rows.size());
    for (std::size_t r = 0; r < one->rows.size(); ++r) {
      if (one->wrong[r] == 0) {
        right.push_back({one.get(), r, weight});
        continue;
      }
      const RowShape row(*one, r);
      // The heads of a token stand one after the other.
      const bool has_next = r + 1 < one->rows.size() && one->rows[r + 1].head == one->rows[r].head + 1;
      const bool has_last = one->rows[r].head > 0;
      bool same = true;
      if (has_next) same = same && alike(row, RowShape(*one, r + 1));
      if (has_last) same = same && alike(row, RowShape(*one, r - 1));
      const Shape* shape = &row.shape(same);
      votes[shape] += weight;
      rows_of[shape].push_back({one.get(), r, weight});
      all += weight;
    }
  }
  const Shape* best = nullptr;
  for (const auto& [shape, weight] : votes) {
    if (best == nullptr || weight > votes[best]) best = shape;
  }
  if (best == nullptr) return std::nullopt;
  const std::vector<Literal> condition = separate(rows_of[best], right);
  const std::string spoken_for = class_of_condition(condition);
  const bool speaks = !spoken_for.empty() && best->open_to.find(spoken_for) != std::string_view::npos;
  return Candidate{speaks ? spoken_for : best->bug_class, best->sentence, speaks ? words_of(condition) : "",
                   weight_of_a_shape * votes[best] / all};
}

}  // namespace rope::diagnosis
