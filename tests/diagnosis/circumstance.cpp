#include "tests/diagnosis/circumstance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rope::diagnosis {
namespace {

const Case& of(const SeenRow& r) { return r.seen->c; }

template <class Rule>
bool scaled_by(const SeenRow& r) {
  return std::holds_alternative<Rule>(of(r).spec.scaling);
}

double original_length(const Case& c) {
  return std::visit(
      [](const auto& rule) {
        if constexpr (requires { rule.original_max_position_embeddings; }) {
          return rule.original_max_position_embeddings;
        } else {
          return 0.0;
        }
      },
      c.spec.scaling);
}

std::int64_t first_position(const SeenRow& r, std::int64_t batch, std::int64_t seq) {
  return token_position(r.seen->before, batch, seq).front();
}

}  // namespace

const std::vector<Circumstance>& circumstances() {
  static const std::vector<Circumstance> all{
      {"in place", [](const SeenRow& r) { return of(r).in_place; }},
      {"out of place", [](const SeenRow& r) { return !of(r).in_place; }},
      {"very large inputs", [](const SeenRow& r) { return of(r).input == InputKind::huge; }},
      {"subnormal inputs", [](const SeenRow& r) { return of(r).input == InputKind::subnormal; }},
      {"zeros for inputs", [](const SeenRow& r) { return of(r).input == InputKind::zero; }},
      {"inputs of an unusual size", [](const SeenRow& r) { return of(r).input >= InputKind::huge; }},
      {"backward", [](const SeenRow& r) { return of(r).direction == Direction::backward; }},
      {"forward", [](const SeenRow& r) { return of(r).direction == Direction::forward; }},
      {"in k", [](const SeenRow& r) { return r.key().key; }, true},
      {"in q", [](const SeenRow& r) { return !r.key().key; }, true},
      {"k given", [](const SeenRow& r) { return of(r).key_heads > 0; }},
      {"no k given", [](const SeenRow& r) { return of(r).key_heads == 0; }},
      {"k with fewer heads than q",
       [](const SeenRow& r) { return of(r).key_heads > 0 && of(r).key_heads < of(r).heads; }},
      {"several batches", [](const SeenRow& r) { return of(r).batch > 1; }},
      {"one batch", [](const SeenRow& r) { return of(r).batch == 1; }},
      {"past the first batch", [](const SeenRow& r) { return r.key().batch > 0; }, true},
      {"one token", [](const SeenRow& r) { return of(r).seq == 1; }},
      {"several tokens", [](const SeenRow& r) { return of(r).seq > 1; }},
      {"past the first token", [](const SeenRow& r) { return r.key().seq > 0; }, true},
      {"as many tokens as batches", [](const SeenRow& r) { return of(r).seq == of(r).batch; }},
      {"several heads", [](const SeenRow& r) { return of(r).heads > 1; }},
      {"past the first head", [](const SeenRow& r) { return r.key().head > 0; }, true},
      {"f32", [](const SeenRow& r) { return of(r).dtype == DType::f32; }},
      {"f64", [](const SeenRow& r) { return of(r).dtype == DType::f64; }},
      {"f16", [](const SeenRow& r) { return of(r).dtype == DType::f16; }},
      {"bf16", [](const SeenRow& r) { return of(r).dtype == DType::bf16; }},
      {"16-bit tensors", [](const SeenRow& r) { return of(r).dtype == DType::f16 || of(r).dtype == DType::bf16; }},
      {"an output of another type", [](const SeenRow& r) { return of(r).dtype != of(r).out_dtype; }},
      {"tables given", [](const SeenRow& r) { return of(r).source == AngleSource::tables; }},
      {"no tables given", [](const SeenRow& r) { return of(r).source != AngleSource::tables; }},
      {"frequencies given", [](const SeenRow& r) { return of(r).source == AngleSource::frequencies; }},
      {"computed angles", [](const SeenRow& r) { return of(r).source == AngleSource::computed; }},
      {"full-width tables", [](const SeenRow& r) { return of(r).full_tables; }},
      {"half-width tables", [](const SeenRow& r) { return of(r).source == AngleSource::tables && !of(r).full_tables; }},
      {"tables with unequal halves", [](const SeenRow& r) { return of(r).unequal_halves; }},
      {"more rows in the tables than positions need", [](const SeenRow& r) { return of(r).spare_rows > 0; }},
      {"tables that end with the largest position",
       [](const SeenRow& r) { return of(r).source == AngleSource::tables && of(r).spare_rows == 0; }},
      {"tables of another type than q",
       [](const SeenRow& r) { return of(r).source == AngleSource::tables && of(r).given != of(r).dtype; }},
      {"positions from an offset", [](const SeenRow& r) { return of(r).form == PositionForm::offset; }},
      {"given positions", [](const SeenRow& r) { return of(r).form != PositionForm::offset; }},
      {"positions for each batch", [](const SeenRow& r) { return of(r).form == PositionForm::per_batch; }},
      {"positions shared by the batches", [](const SeenRow& r) { return of(r).form == PositionForm::shared; }},
      {"positions of which the second follows the first",
       [](const SeenRow& r) {
         return of(r).seq > 1 && first_position(r, r.key().batch, 1) == first_position(r, r.key().batch, 0) + 1;
       },
       true},
      {"in a batch that begins as the first one",
       [](const SeenRow& r) {
         return r.key().batch > 0 && first_position(r, r.key().batch, 0) == first_position(r, 0, 0);
       },
       true},
      {"i32 positions",
       [](const SeenRow& r) { return of(r).form != PositionForm::offset && of(r).position_dtype == DType::i32; }},
      {"i64 positions",
       [](const SeenRow& r) { return of(r).form != PositionForm::offset && of(r).position_dtype == DType::i64; }},
      {"rotary_dim below head_dim", [](const SeenRow& r) { return of(r).spec.rotary_dim < of(r).spec.head_dim; }},
      {"rotary_dim equal to head_dim", [](const SeenRow& r) { return of(r).spec.rotary_dim == of(r).spec.head_dim; }},
      {"several axes", [](const SeenRow& r) { return of(r).spec.axes.count() > 1; }},
      {"one axis", [](const SeenRow& r) { return of(r).spec.axes.count() == 1; }},
      {"axes that alternate",
       [](const SeenRow& r) {
         return of(r).spec.axes.count() > 1 && of(r).spec.axes.order == AxisLayout::Order::interleaved;
       }},
      {"axes in blocks",
       [](const SeenRow& r) {
         return of(r).spec.axes.count() > 1 && of(r).spec.axes.order == AxisLayout::Order::chunked;
       }},
      {"scaling", [](const SeenRow& r) { return !scaled_by<scaling::None>(r); }},
      {"no scaling", scaled_by<scaling::None>},
      {"linear scaling", scaled_by<scaling::Linear>},
      {"ntk scaling", scaled_by<scaling::Ntk>},
      {"dynamic scaling", scaled_by<scaling::Dynamic>},
      {"yarn scaling", scaled_by<scaling::Yarn>},
      {"longrope scaling", scaled_by<scaling::LongRope>},
      {"llama3 scaling", scaled_by<scaling::Llama3>},
      {"proportional scaling", scaled_by<scaling::Proportional>},
      {"pixel scaling", scaled_by<scaling::Pixel>},
      {"constant scaling", scaled_by<scaling::Constant>},
      {"a sequence longer than the original length",
       [](const SeenRow& r) {
         const double length = original_length(of(r));
         return length > 0 && static_cast<double>(sequence_length(of(r))) > length;
       }},
      {"a base other than 10000", [](const SeenRow& r) { return of(r).spec.base != 10000; }},
      {"an attention factor", [](const SeenRow& r) { return r.seen->before.attention_factor != 1; }},
      {"no attention factor", [](const SeenRow& r) { return r.seen->before.attention_factor == 1; }},
      {"half-split pairs", [](const SeenRow& r) { return of(r).spec.pairing == Pairing::half_split; }},
      {"interleaved pairs", [](const SeenRow& r) { return of(r).spec.pairing == Pairing::interleaved; }},
      {"strides that are not contiguous", [](const SeenRow& r) { return of(r).layout > Layout::shifted; }},
      {"contiguous tensors", [](const SeenRow& r) { return of(r).layout <= Layout::shifted; }},
      {"data that begins between aligned addresses",
       [](const SeenRow& r) { return of(r).layout == Layout::shifted || of(r).layout == Layout::strided; }},
      {"rows without gaps that begin between aligned addresses",
       [](const SeenRow& r) { return of(r).layout == Layout::shifted || of(r).output == OutputLayout::shifted; }},
      {"padded rows", [](const SeenRow& r) { return of(r).layout == Layout::strided; }},
      {"strides of k unlike those of q",
       [](const SeenRow& r) {
         return of(r).layout == Layout::key_strided || of(r).output == OutputLayout::key_strided;
       }},
      {"padded positions and tables", [](const SeenRow& r) { return of(r).layout == Layout::angles_strided; }},
      {"heads before tokens in memory", [](const SeenRow& r) { return of(r).layout == Layout::seq_last; }},
      {"negative strides, features apart", [](const SeenRow& r) { return of(r).layout == Layout::reversed; }},
      {"q and k in one memory", [](const SeenRow& r) { return of(r).layout == Layout::packed; }},
      {"one row for all batches and heads", [](const SeenRow& r) { return of(r).layout == Layout::expanded; }},
      {"an output laid out otherwise than the input",
       [](const SeenRow& r) { return of(r).output != OutputLayout::as_input || of(r).layout == Layout::expanded; }},
      {"rotary_dim that is no power of two",
       [](const SeenRow& r) { return (of(r).spec.rotary_dim & (of(r).spec.rotary_dim - 1)) != 0; }},
  };
  return all;
}

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all{
      {"position", [](const SeenRow& r) { return r.key().position; }, true},
      {"head_dim", [](const SeenRow& r) { return std::int64_t{of(r).spec.head_dim}; }},
      {"rotary_dim", [](const SeenRow& r) { return std::int64_t{of(r).spec.rotary_dim}; }},
      {"number of heads",
       [](const SeenRow& r) { return r.key().key ? std::int64_t{of(r).key_heads} : std::int64_t{of(r).heads}; }},
      {"number of tokens", [](const SeenRow& r) { return std::int64_t{of(r).seq}; }},
      {"number of batches", [](const SeenRow& r) { return std::int64_t{of(r).batch}; }},
      {"token", [](const SeenRow& r) { return r.key().seq; }, true},
      {"head", [](const SeenRow& r) { return r.key().head; }, true},
      {"batch", [](const SeenRow& r) { return r.key().batch; }, true},
      {"sequence length", [](const SeenRow& r) { return sequence_length(of(r)); }},
  };
  return all;
}

namespace {

double weight_of(const std::vector<SeenRow>& rows) {
  double sum = 0;
  for (const SeenRow& r : rows) sum += r.weight;
  return sum;
}

double weight_where(const std::vector<SeenRow>& rows, const std::function<bool(const SeenRow&)>& holds) {
  double sum = 0;
  for (const SeenRow& r : rows) sum += holds(r) ? r.weight : 0;
  return sum;
}

std::vector<Literal> candidates(const std::vector<SeenRow>& with) {
  std::vector<Literal> all;
  const bool rows_known = std::none_of(with.begin(), with.end(), [](const SeenRow& r) { return r.whole; });
  for (const Circumstance& c : circumstances()) {
    if (c.of_row && !rows_known) continue;
    if (std::all_of(with.begin(), with.end(), c.holds)) all.push_back({c.words, c.holds});
  }
  for (const Quantity& q : quantities()) {
    if (q.of_row && !rows_known) continue;
    std::int64_t least = INT64_MAX, most = INT64_MIN;
    for (const SeenRow& r : with) {
      least = std::min(least, q.of(r));
      most = std::max(most, q.of(r));
    }
    const auto of = q.of;
    if (least == most) {
      all.push_back(
          {fmt::format("{} {}", q.words, least), [=](const SeenRow& r) { return of(r) == least; }, true, least});
      continue;
    }
    all.push_back(
        {fmt::format("{} {} or more", q.words, least), [=](const SeenRow& r) { return of(r) >= least; }, true, least});
    all.push_back(
        {fmt::format("{} {} or less", q.words, most), [=](const SeenRow& r) { return of(r) <= most; }, true, most});
  }
  return all;
}

}  // namespace

std::vector<Literal> separate(const std::vector<SeenRow>& with, const std::vector<SeenRow>& without) {
  std::vector<Literal> chosen;
  if (with.empty()) return chosen;
  const std::vector<Literal> possible = candidates(with);
  std::vector<SeenRow> left = without;
  const double all = weight_of(without);
  while (chosen.size() < 3 && weight_of(left) > 0.01 * all) {
    const Literal* best = nullptr;
    double least = weight_of(left);
    const double before = least;
    for (const Literal& literal : possible) {
      // A quantity must separate clearly better than a circumstance: it can always be made to fit a little.
      const double remaining = weight_where(left, literal.holds) + (literal.counted ? 0.05 * before : 0);
      if (remaining < least * (1 - 1e-9)) {
        least = remaining;
        best = &literal;
      }
    }
    if (best == nullptr || least > 0.9 * before) break;
    chosen.push_back(*best);
    std::erase_if(left, [&](const SeenRow& r) { return !best->holds(r); });
  }
  return chosen;
}

}  // namespace rope::diagnosis
