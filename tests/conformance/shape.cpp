// SHP: shapes at which launches and blocks run out.
#include "tests/conformance/requirement.hpp"

namespace rope {
namespace {

Finding accuracy(const Case& c, Examiner& examiner) { return examiner.accuracy(c); }

// One past what the second and third dimension of a CUDA grid hold, as tokens, batches and heads.
constexpr int many = 65537;

void many_rows_cases(CaseList& list) {
  list.for_each_way(4, [&](Case c) {
    const bool plain = c.out_dtype == c.dtype && !c.full_tables && c.given == DType::f32;
    const bool wanted = c.dtype == DType::f32 || (list.level() != Level::quick && c.dtype == DType::bf16);
    if (!plain || !wanted || c.source == AngleSource::frequencies) return;
    if (list.level() == Level::quick && c.source == AngleSource::computed) return;
    c.batch = c.seq = c.heads = 1;
    Case tokens = c;
    tokens.seq = many;
    if (list.claims().capabilities.max_position < many) {  // then the same positions again and again
      tokens.form = PositionForm::shared;
      tokens.pattern = PositionPattern::scattered;
      tokens.start = list.claims().capabilities.max_position;
    }
    list.add(tokens);
    Case batches = c;
    batches.batch = many;
    list.add(batches);
    Case heads = c;
    heads.heads = many;
    list.add(heads);
  });
}

std::vector<int> wide_head_dims(Level level) {
  switch (level) {
    case Level::quick: return {1280};
    case Level::full: return {1026, 2048};
    case Level::exhaustive: return {1026, 1280, 2048, 4096};
  }
  return {};
}

void wide_head_cases(CaseList& list) {
  for (int dim : wide_head_dims(list.level())) {
    list.for_each_way(dim, [&](Case c) {
      if (c.spec.head_dim != dim) return;  // not claimed
      if (c.source == AngleSource::tables && c.given != DType::f32) return;
      if (list.level() == Level::quick && (c.dtype != DType::f32 || c.full_tables)) return;
      c.batch = 1;
      c.seq = 2;
      c.start = list.claims().has(ROPE_FEATURE_OFFSET) ? 11 : 0;
      list.add(c);
    });
  }
}

constexpr Requirement requirements[] = {
    {"SHP-01", "More than 65,535 tokens, batches or heads MUST each be rotated.", "LIM-01",
     "element offsets beyond 2^31", many_rows_cases, accuracy},
    {"SHP-02", "Heads of more than 1024 features MUST be rotated where they are claimed.", "LIM-03",
     "head_dims above 4096; above 2048 but at level exhaustive", wide_head_cases, accuracy},
};

}  // namespace

std::span<const Requirement> shape_requirements() { return requirements; }

}  // namespace rope
