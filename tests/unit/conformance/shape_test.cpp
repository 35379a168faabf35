#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

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
  CHECK(cases.size() < many_rows({4}, Level::full).size() * 3 / 4);
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
  CHECK(many_rows({128}, Level::quick).size() <= 8);
  CHECK(many_rows({128}, Level::exhaustive).size() >= many_rows({4}, Level::exhaustive).size());
}

TEST_CASE("SHP-01: at level quick the widest heads are asked in the smallest type, without k", "[shape]") {
  const std::vector<Case> wide = many_rows({1024}, Level::quick);
  CHECK(wide.size() == 2);
  for (const Case& c : wide) {
    CHECK(size_of(c.dtype) == 2);
    CHECK(c.key_heads == 0);
  }
  for (const Case& c : many_rows({256}, Level::quick)) {
    CHECK(c.dtype == DType::f32);
    CHECK((c.key_heads > 0 || c.seq < 65536));
  }
  const std::vector<Case> full = many_rows({1024}, Level::full);
  CHECK(std::ranges::any_of(full, [](const Case& c) { return c.key_heads > 0 && c.dtype == DType::f64; }));
}

TEST_CASE("SHP-01: at level full each type has the plain calls, each way some of them, the first way all calls",
          "[shape]") {
  std::set<DType> tokens, heads, batches, gradients;
  std::map<std::pair<DType, Pairing>, int> plain;
  std::size_t strided_of_first = 0;
  for (const Case& c : many_rows({4}, Level::full)) {
    if (c.seq > 65536) (c.direction == Direction::backward ? gradients : tokens).insert(c.dtype);
    if (c.heads > 65536) heads.insert(c.dtype);
    if (c.batch > 65536) batches.insert(c.dtype);
    const bool is_plain = c.layout == Layout::contiguous && c.form == PositionForm::offset && c.key_heads == 0;
    plain[{c.dtype, c.spec.pairing}] += is_plain ? 1 : 0;
    const bool is_first = c.dtype == DType::f32 && c.spec.pairing == Pairing::half_split;
    strided_of_first += is_first && c.layout == Layout::strided;
  }
  for (const auto& types : {tokens, heads, batches, gradients}) CHECK(types.size() == 4);
  CHECK(plain.size() == 8);
  for (const auto& [way, calls] : plain) CHECK(calls > 0);
  CHECK(strided_of_first >= 3);
}

TEST_CASE("SHP-01: more than 2^24 pairs are asked in the smallest type", "[shape]") {
  const std::vector<Case> cases = many_rows({4, 128}, Level::full);
  const auto found = std::ranges::find_if(cases, [](const Case& c) {
    return std::int64_t{1} * c.batch * c.seq * c.heads * c.spec.rotary_dim / 2 > (std::int64_t{65535} << 8);
  });
  REQUIRE(found != cases.end());
  CHECK(size_of(found->dtype) == 2);
}

TEST_CASE("SHP-08: sizes next to a block's are asked in every type and source, in place or not, for one or two batches",
          "[shape]") {
  using Way = std::tuple<int, DType, AngleSource, bool, bool>;
  const auto asked = [](Claims claims, Level level) {
    Selection selection;
    selection.level = level;
    CaseList list("SHP-08", claims, selection, nullptr);
    requirement_called("SHP-08").cases(list);
    std::set<Way> ways;
    for (const Case& c : list.take()) {
      if (c.heads == 1 && c.batch <= 2) ways.emplace(c.seq, c.dtype, c.source, c.in_place, c.batch > 1);
    }
    return ways;
  };
  const std::set<Way> full = asked(test::all_claims(), Level::full);
  for (const int size : {31, 32, 33, 1023, 2049, 4096, 4097}) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
        for (const int way : {0, 1, 2, 3}) CHECK(full.contains(Way{size, dtype, source, way % 2 == 1, way > 1}));
      }
    }
  }
  // Interpreted kernels and large heads meet every size in one way.
  Claims slow = test::all_claims(), large = slow;
  slow.compiled = false;
  large.head_dims = {128};
  for (const Claims& claims : {slow, large}) {
    const std::set<Way> few = asked(claims, Level::full);
    CHECK(few.size() < full.size() / 6);
    CHECK(std::ranges::count_if(few, [](const Way& w) { return std::get<0>(w) == 2049; }) == 4);
  }
  CHECK(asked(test::all_claims(), Level::quick).size() == 4 * 17);
}

}  // namespace
}  // namespace rope
