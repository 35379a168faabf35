#include <catch2/catch.hpp>
#include <map>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

std::vector<Case> many_rows(std::vector<std::int32_t> head_dims, Level level) {
  Claims claims = test::all_claims();
  claims.head_dims = std::move(head_dims);
  Selection selection;
  selection.level = level;
  CaseList list("SHP-01", claims, selection, nullptr);
  requirement_called("SHP-01").cases(list);
  return list.take();
}

TEST_CASE("SHP-01: if only large heads are claimed there are few cases, and each dtype has both of the usual ones",
          "[shape]") {
  const std::vector<Case> cases = many_rows({128}, Level::full);
  CHECK(cases.size() < many_rows({4}, Level::full).size() / 3);
  std::map<DType, int> tokens, heads;
  bool batches = false, gradient = false, per_batch = false;
  for (const Case& c : cases) {
    tokens[c.dtype] += c.seq > 65536;
    heads[c.dtype] += c.heads > 65536;
    batches = batches || c.batch > 65536;
    per_batch = per_batch || c.form == PositionForm::per_batch;
    gradient = gradient || c.direction == Direction::backward;
  }
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    INFO(name(dtype));
    CHECK(tokens[dtype] > 0);
    CHECK(heads[dtype] > 0);
  }
  CHECK((batches && gradient && per_batch));
  CHECK(many_rows({128}, Level::quick).size() <= 3);
  CHECK(many_rows({128}, Level::exhaustive).size() == many_rows({4}, Level::exhaustive).size());
}

}  // namespace
}  // namespace rope
