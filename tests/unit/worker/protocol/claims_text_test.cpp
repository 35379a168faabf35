#include "tools/worker/protocol/claims_text.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

namespace rope::worker {
namespace {

using nlohmann::json;

// Types in the order in which they are written.
json sample() {
  return {{"dtypes", {{"f32", {"f32"}}, {"bf16", {"f32", "bf16"}}}},
          {"tables", {"f32"}},
          {"theta", {"f64", "f32"}},
          {"positions", {"i64"}},
          {"pairings", {"half_split"}},
          {"sources", {"tables", "frequencies", "computed"}},
          {"half_tables", true},
          {"full_tables", false},
          {"scalings", {"none", "yarn"}},
          {"features", {"partial", "positions"}},
          {"alignment", 16},
          {"max_position", 4095},
          {"head_dims", {64, 128}},
          {"overwrites_inputs", true},
          {"seq_within_rows", true},
          {"least_rotary_dim", 4},
          {"theta_as_period", true},
          {"base", 500000.0},
          {"device", "cpu"}};
}

TEST_CASE("claims: they are read back as written") {
  std::vector<std::int32_t> dims;
  rope_capabilities claims = claims_from_json(sample(), dims);
  CHECK(dims == std::vector<std::int32_t>{64, 128});
  CHECK(claims.out_dtypes[ROPE_BF16] == (ROPE_BIT(ROPE_BF16) | ROPE_BIT(ROPE_F32)));
  CHECK((claims.alignment == 16 && claims.max_position == 4095));
  CHECK((claims.overwrites_inputs == 1 && claims.seq_within_rows == 1));
  CHECK((claims.least_rotary_dim == 4 && claims.theta_as_period == 1 && claims.base == 500000));
  claims.head_dims = dims.data();
  CHECK(claims_to_json(claims) == sample());
}

TEST_CASE("claims: untestable claims are refused with what they lack") {
  const struct {
    std::function<void(json&)> change;
    std::string words;
  } table[] = {
      {[](json& c) { c["dtypes"] = json::object(); }, "dtypes: none is claimed"},
      {[](json& c) { c["dtypes"] = json::array({"f32"}); }, "dtypes: expected an output's types for each input's"},
      {[](json& c) { c["dtypes"]["f32"] = {"i32"}; }, "dtypes: i32 is none of [\"f64\",\"f32\",\"f16\",\"bf16\"]"},
      {[](json& c) { c["tables"] = {"i64"}; }, "tables: i64 is none of"},
      {[](json& c) { c["theta"] = {"bf16"}; }, "theta: bf16 is none of [\"f64\",\"f32\"]"},
      {[](json& c) { c["positions"] = {"f32"}; }, "positions: f32 is none of [\"i32\",\"i64\"]"},
      {[](json& c) { c.erase("pairings"); }, "pairings: none is claimed"},
      {[](json& c) { c.erase("sources"); }, "sources: none is claimed"},
      {[](json& c) { c.erase("tables"); }, "sources has tables, but no dtype of tables is claimed"},
      {[](json& c) { c["half_tables"] = false; }, "neither half_tables nor full_tables is claimed"},
      {[](json& c) { c.erase("theta"); }, "sources has frequencies, but no dtype of theta is claimed"},
      {[](json& c) { c.erase("scalings"); }, "sources has computed, but no scaling is claimed"},
      {[](json& c) { c.erase("positions"); }, "features has positions, but no dtype of positions is claimed"},
      {[](json& c) {
         c.erase("positions");
         c["features"] = {"seqlen_offsets"};
       },
       "features has seqlen_offsets, but no dtype of positions is claimed"},
      {[](json& c) { c["alignment"] = 24; }, "alignment: 24 is not a power of two up to 4096 bytes"},
      {[](json& c) { c["alignment"] = 8192; }, "alignment: 8192 is not a power of two up to 4096 bytes"},
      {[](json& c) { c["max_position"] = -1; }, "max_position: -1 is below 0"},
      {[](json& c) {
         c["head_dims"] = {64, 65};
         c["features"] = {"positions"};
       },
       "head_dims: 65 is odd, so its last feature cannot turn, but features lacks partial"},
      {[](json& c) { c["head_dims"] = {0}; }, "head_dims: 0 is not a whole number from 2 to 65536"},
      {[](json& c) {
         c["head_dims"] = {64, 2147483646};
       },
       "head_dims: 2147483646 is not a whole number from 2 to 65536"},
      {[](json& c) { c["head_dims"] = std::vector<int>(100000, 64); },
       "head_dims: 100000 are claimed; allowed are 1024"},
      // Cut to 32 bits, each of these would be a claim that is made.
      {[](json& c) { c["head_dims"] = {4294967360}; }, "head_dims: 4294967360 is not a whole number from 2 to 65536"},
      {[](json& c) { c["head_dims"] = {64.5}; }, "head_dims: 64.5 is not a whole number"},
      {[](json& c) { c["head_dims"] = "64"; }, "head_dims: expected a list"},
      {[](json& c) { c["alignment"] = 4294967297; },
       "alignment: 4294967297 is not a whole number from 0 to 4294967295"},
      {[](json& c) { c["max_position"] = 1e300; }, "max_position: 1e+300 is not a whole number from"},
      {[](json& c) { c["least_rotary_dim"] = 4294967296; }, "least_rotary_dim: 4294967296 is not a whole number"},
      {[](json& c) { c["dtypes"]["f32"] = {4294967297}; }, "value: 4294967297 is not a whole number"},
      {[](json& c) { c["head_dims"] = {2}; }, "least_rotary_dim: 4 is above the head_dim 2"},
      {[](json& c) { c["least_rotary_dim"] = 3; }, "least_rotary_dim: 3 is not an even number, or 0"},
      {[](json& c) { c["least_rotary_dim"] = -2; }, "least_rotary_dim: -2 is not an even number, or 0"},
      {[](json& c) { c["base"] = -1; }, "base: -1 is not a number above 0"},
  };
  for (const auto& [change, words] : table) {
    json claims = sample();
    change(claims);
    std::vector<std::int32_t> dims;
    INFO(words);
    CHECK_THROWS_WITH(claims_from_json(claims, dims), Catch::Contains(words));
  }
}

TEST_CASE("claims: what every call has is read back as written, and left out if it is not claimed") {
  json claims = sample();
  claims["features"] = {"positions", "in_place", "key", "axes"};
  claims["dtypes"] = {{"f32", {"f32"}}};
  const json plain = claims;
  claims["required_features"] = {"positions", "in_place", "key"};
  claims["layouts"] = {"heads_first", "packed"};
  claims["axis_counts"] = {1, 3};
  claims["axis_orders"] = {"interleaved"};
  claims["yarn_truncate"] = {1};
  claims["yarn_clamp_pairs"] = {0};
  for (const char* key : {"own_attention_factor", "length_of_call", "compiles_each_shape"}) claims[key] = true;
  std::vector<std::int32_t> dims;
  rope_capabilities read = claims_from_json(claims, dims);
  read.head_dims = dims.data();
  CHECK(claims_to_json(read) == claims);
  CHECK((read.layouts == (ROPE_BIT(ROPE_LAYOUT_HEADS_FIRST) | ROPE_BIT(ROPE_LAYOUT_PACKED)) && read.axis_counts == 10));
  CHECK((read.yarn_truncate == 2 && read.yarn_clamp_pairs == 1 && read.compiles_each_shape == 1));
  read = claims_from_json(plain, dims);
  read.head_dims = dims.data();
  CHECK(claims_to_json(read) == plain);
  const struct {
    const char *key, *value, *words;
  } wrong[] = {
      {"required_features", R"(["axes"])",
       "required_features: axes cannot be required; positions, in_place and key can"},
      {"features", R"(["positions","in_place"])", "required_features: key is required, but features lacks it"},
      {"features", R"(["positions","in_place","key","axes","offset"])",
       "features has offset, but required_features has"},
      {"features", R"(["positions","in_place","key","axes","strided"])", "so features must not have strided"},
      {"dtypes", R"({"f32":["f32","bf16"]})", "dtypes has outputs of another type, but required_features has in_place"},
      {"features", R"(["positions","in_place","key"])", "axis_counts has more than 1, but features lacks axes"},
      {"features", R"(["positions","in_place","key","axes","rotary_offset"])", "rotary_offset, which needs partial"},
      {"axis_counts", "[4]", "axis_counts: 4 is not a whole number from 1 to 3"},
      {"yarn_truncate", "[2]", "yarn_truncate: 2 is not a whole number from 0 to 1"},
      {"yarn_truncate", "true", "yarn_truncate: expected a list"},
  };
  for (const auto& [key, value, words] : wrong) {
    INFO(words);
    json changed = claims;
    changed[key] = json::parse(value);
    CHECK_THROWS_WITH(claims_from_json(changed, dims), Catch::Contains(words));
  }
  claims["required_features"] = {"positions"};
  claims["layouts"] = {"packed"};
  CHECK_THROWS_WITH(claims_from_json(claims, dims), Catch::Contains("only packed, which needs a k"));
}

TEST_CASE("claims: unneeded fields may be left out") {
  json claims = sample();
  claims["sources"] = {"computed"};
  for (const char* key : {"tables", "theta", "half_tables", "full_tables", "alignment", "head_dims", "device"}) {
    claims.erase(key);
  }
  std::vector<std::int32_t> dims{2};
  CHECK(claims_from_json(claims, dims).alignment == 1);
  CHECK(dims.empty());
}

}  // namespace
}  // namespace rope::worker
