#include "tools/report/tried_words.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/report/sample_report.hpp"

namespace rope {
namespace {

using Strings = std::vector<std::string>;

Tried tried_of(DType dtype, AngleSource source) {
  return {dtype, source, 1027, 9, 4096, 1 << 20, {2, 64, 128}, {1, 512}, {1, 32}};
}

TEST_CASE("tried: types and sources that tried the same share a line") {
  Tried other = tried_of(DType::bf16, AngleSource::computed);
  other.every_to = 0;
  other.head_dims = {64};
  other.tokens = {3, 3};
  CHECK(tried_lines({tried_of(DType::f32, AngleSource::tables), other, tried_of(DType::f16, AngleSource::tables)}) ==
        Strings{"f32, tables; f16, tables: positions every one to 1027, then 9 to 4096 (claimed: 1048576); "
                "head_dims 2 to 128 (3); tokens 1 to 512; heads 1 to 32",
                "bf16, computed: positions 0, then 9 to 4096 (claimed: 1048576); head_dim 64; tokens 3; heads 1 to "
                "32"});
}

TEST_CASE("tried: position 0 is named only if it was tried, and no end if there is nothing beyond") {
  Tried late = tried_of(DType::f32, AngleSource::tables), all = late;
  late.every_to = -1;
  CHECK_THAT(tried_lines({late})[0], Catch::Contains(": positions 9 to 4096 (claimed"));
  all.beyond = 0;
  CHECK_THAT(tried_lines({all})[0], Catch::Contains(": positions every one to 1027 (claimed"));
}

TEST_CASE("tried: of many types, a source's line says what each of them tried at least") {
  std::vector<Tried> all;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    all.push_back(tried_of(dtype, AngleSource::tables));
    all.back().beyond = 9 + static_cast<int>(dtype);
  }
  CHECK(few_tried_lines(all).size() == 4);
  all[1].every_to = 12;
  all[2].head_dims = {1, 2, 128};
  all[3].tokens = {2, 300};
  all[0].largest = 4000;
  all.push_back(tried_of(DType::f32, AngleSource::computed));
  CHECK(few_tried_lines(all) ==
        Strings{"tables, at least in each of f64, f32, f16, bf16: positions every one to 12, then 9 to 4000 (claimed: "
                "1048576); head_dims 2 to 128 (2); tokens 2 to 300; heads 1 to 32",
                "f32, computed: positions every one to 1027, then 9 to 4096 (claimed: 1048576); head_dims 2 to 128 "
                "(3); tokens 1 to 512; heads 1 to 32"});
}

TEST_CASE("tried: it is the same after its JSON is read") {
  std::vector<Tried> all{tried_of(DType::f32, AngleSource::tables), tried_of(DType::bf16, AngleSource::frequencies),
                         tried_of(DType::f16, AngleSource::computed)};
  all[1].every_to = -1;
  CHECK(tried_from_json(tried_json(all)) == all);
}

TEST_CASE("tried: a requirement says how far it went, if a case gave results") {
  RequirementResult result = judged("ANG-02", Verdict::pass, 9, 0);
  CHECK(reached_words(result).empty());
  result.largest_position = 65538;
  CHECK(reached_words(result) == "to position 65538");
}

}  // namespace
}  // namespace rope
