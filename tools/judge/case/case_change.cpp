#include "tools/judge/case/case_change.hpp"

#include <variant>

namespace rope::case_change {

// A share of the head, all of it, and heads of other sizes.
CaseChange other_dims() {
  return {[](const Case& c, std::vector<Case>& out) {
    if (!c.spec.axes.sections.empty()) return;
    for (const int dim : {c.spec.rotary_dim * 2, c.spec.rotary_dim}) {
      RopeSpec& spec = out.emplace_back(c).spec;
      spec.head_dim = dim;
      keep_in_head(spec);
    }
    if (!std::holds_alternative<scaling::None>(c.spec.scaling)) return;
    for (int dim : {2, 8, 20, 32, 48, 64, 128}) {
      RopeSpec& spec = out.emplace_back(c).spec;
      spec.head_dim = spec.rotary_dim = dim;
      spec.rotary_offset = 0;
    }
  }};
}

// These lengths tell apart: rests of blocks of one size, rests of another size, and what lies past a limit.
CaseChange other_shares_of_seq() {
  return {[](const Case& c, std::vector<Case>& out) {
    if (c.seq <= 9) return;
    for (const int seq : {c.seq * 2, c.seq + c.seq / 3, c.seq - c.seq * 2 / 5}) out.emplace_back(c).seq = seq;
  }};
}

CaseChange fewer_calls_before() {
  return {[](const Case& c, std::vector<Case>& out) {
    for (std::size_t i = 0; i < c.before.size(); ++i) {
      std::vector<EarlierCall>& left = out.emplace_back(c).before;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }};
}

CaseChange smaller_calls_before() {
  return {[](const Case& c, std::vector<Case>& out) {
    for (std::size_t i = 0; i < c.before.size(); ++i) {
      for (int less = c.before[i].seq / 2; less > 0; less /= 2) out.emplace_back(c).before[i].seq -= less;
      for (std::int64_t less = c.before[i].start; less > 0; less /= 2) {
        out.emplace_back(c).before[i].start -= less;
      }
    }
  }};
}

CaseChange other_dtypes() {
  return {[](const Case& c, std::vector<Case>& out) {
    for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
      Case& other = out.emplace_back(c);
      other.dtype = other.out_dtype = dtype;
    }
  }};
}

CaseChange other_sources() {
  return {[](const Case& c, std::vector<Case>& out) {
    for (AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
      Case& s = out.emplace_back(c);
      s.source = source;
      if (source != AngleSource::tables) s.full_tables = s.unequal_halves = false, s.spare_rows = 0;
      if (source == AngleSource::tables) s.start = std::min<std::int64_t>(s.start, 200);
    }
  }};
}

}  // namespace rope::case_change
