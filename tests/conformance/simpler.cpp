// What shrinking tries. One row a simplification; RapidCheck walks them to a local minimum.
#include <algorithm>

#include "tests/conformance/case_list.hpp"

namespace rope {
namespace {

void shrink_dims(const Case& c, std::vector<Case>& out) {
  for (int dim : {2, 4, 8, 16, 32, 64}) {
    if (dim >= c.spec.head_dim || !c.spec.axes.sections.empty()) continue;
    Case smaller = c;
    // Keeps the share of the head that rotates.
    const int rotary = std::max(2, c.spec.rotary_dim * dim / c.spec.head_dim / 2 * 2);
    smaller.spec.head_dim = dim;
    smaller.spec.rotary_dim = c.spec.rotary_dim == c.spec.head_dim ? dim : std::min(rotary, dim);
    if (std::holds_alternative<scaling::LongRope>(c.spec.scaling)) {
      auto& rule = std::get<scaling::LongRope>(smaller.spec.scaling);
      rule.short_factor.resize(static_cast<std::size_t>(smaller.spec.rotary_dim / 2));
      rule.long_factor.resize(static_cast<std::size_t>(smaller.spec.rotary_dim / 2));
    }
    out.push_back(smaller);
  }
}

// n/2, n/4, .. 1: what to take from n, so that a limit within n is found in a few steps whatever it is.
template <class Integer>
std::vector<Integer> ever_less(Integer n) {
  std::vector<Integer> all;
  for (Integer less = n / 2; less > 0; less /= 2) all.push_back(less);
  return all;
}

}  // namespace

std::vector<Case> simpler(const Case& c) {
  std::vector<Case> out;
  if (!c.golden.empty()) return out;  // its arrays are what they are
  const auto propose = [&](auto&& change) {
    Case smaller = c;
    change(smaller);
    if (to_text(smaller) != to_text(c)) out.push_back(std::move(smaller));
  };
  propose([](Case& s) { s.spec.axes = {}; });
  propose([](Case& s) { s.spec.scaling = scaling::None{}; });
  propose([](Case& s) { s.spec.attention_factor.reset(); });
  propose([](Case& s) { s.position_dtype = DType::i64; });
  propose([](Case& s) { s.spec.base = 10000; });
  propose([](Case& s) { s.spec.rotary_dim = s.spec.axes.sections.empty() ? s.spec.head_dim : s.spec.rotary_dim; });
  propose([](Case& s) { s.layout = Layout::contiguous; });
  propose([](Case& s) { s.output = OutputLayout::as_input; });
  propose([](Case& s) { s.in_place = false; });
  propose([](Case& s) { s.key_heads = 0; });
  propose([](Case& s) { s.batch = std::min(s.batch, 1); });
  propose([](Case& s) { s.seq = std::min(s.seq, 1); });
  propose([](Case& s) { s.heads = std::min(s.heads, 1); });
  propose([](Case& s) { s.key_heads = std::min(s.key_heads, 1); });
  for (int Case::*extent : {&Case::seq, &Case::batch, &Case::heads, &Case::key_heads}) {
    for (int less : ever_less(c.*extent)) propose([&](Case& s) { s.*extent -= less; });
  }
  propose([](Case& s) { s.spare_rows = 0; });
  propose([](Case& s) { s.unequal_halves = false; });
  propose([](Case& s) { s.full_tables = s.unequal_halves; });
  propose([](Case& s) { s.dtype = s.out_dtype = DType::f32; });
  propose([](Case& s) { s.given = DType::f32; });
  propose([](Case& s) { s.pattern = PositionPattern::consecutive; });
  propose([](Case& s) { s.form = s.pattern == PositionPattern::consecutive ? PositionForm::offset : s.form; });
  propose([](Case& s) { s.form = s.form == PositionForm::per_batch ? PositionForm::shared : s.form; });
  propose([](Case& s) { s.start = 0; });
  for (std::int64_t less : ever_less(c.start)) propose([&](Case& s) { s.start -= less; });
  propose([](Case& s) { s.input = s.input == InputKind::spread ? InputKind::unit : s.input; });
  shrink_dims(c, out);
  std::erase_if(out, [](const Case& s) { return s.seq < 1 || s.batch < 1 || s.heads < 1; });
  return out;
}

}  // namespace rope
