#include "impls/contract.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "reference/input_error.hpp"
#include "tests/unit/places.hpp"

extern "C" {
std::size_t c_size_of_call(void);
std::size_t c_size_of_kernel(void);
}

namespace rope {
namespace {

TEST_CASE("the contract has one layout in C and C++") {
  CHECK(c_size_of_call() == sizeof(rope_call));
  CHECK(c_size_of_kernel() == sizeof(rope_kernel));
}

// The values of rope_scaling_kind, by name in lower case.
std::map<std::string, std::size_t> enumerators() {
  std::ifstream stream(source_folder() / "impls/include/rope_kernel.h");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::regex enumerator(R"(ROPE_SCALING_([A-Z0-9_]+) = (\d+))");
  std::map<std::string, std::size_t> found;
  for (std::sregex_iterator at(text.begin(), text.end(), enumerator), end; at != end; ++at) {
    std::string name = (*at)[1];
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    found[name] = std::stoul((*at)[2]);
  }
  return found;
}

TEST_CASE("rope_scaling_kind has the rules in their order") {
  std::map<std::string, std::size_t> rules;
  for (std::size_t i = 0; i < scaling_kind_count; ++i) rules[std::string(scaling_kinds[i])] = i;
  CHECK(enumerators() == rules);
}

TEST_CASE("every scaling rule survives the conversion to C and back") {
  const scaling::Setting setting{8, 8, 10000, 9999};
  std::set<std::size_t> seen;
  for (const auto& [rule, base] : example_rules(setting, 4096)) {
    INFO(rule_words(rule, base));
    seen.insert(rule.index());
    const rope_scaling c = to_c(rule);
    CHECK(c.kind == static_cast<std::int32_t>(rule.index()));
    const Scaling back = to_scaling(c, 8);
    CHECK(back.index() == rule.index());
    CHECK(frequencies<double>(back, setting) == frequencies<double>(rule, setting));
  }
  CHECK(seen.size() == scaling_kind_count - 1);
  CHECK(to_scaling(to_c(scaling::None{}), 8) == Scaling(scaling::None{}));
}

TEST_CASE("every parameter that shapes theta has a field in the contract") {
  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 4096;
  yarn.beta_fast = 30;
  yarn.beta_slow = 2;
  yarn.truncate = false;
  yarn.clamp = scaling::Yarn::Clamp::pairs;
  CHECK(to_scaling(to_c(yarn), 8) == Scaling(yarn));
  const rope_scaling c = to_c(yarn);
  CHECK(std::tuple(c.factor, c.original_max_position, c.beta_fast, c.beta_slow) == std::tuple(4.0, 4096.0, 30.0, 2.0));
  CHECK(std::tuple(c.yarn_truncate, c.yarn_clamp_pairs) == std::tuple(0, 1));
}

TEST_CASE("unknown kinds and modes are refused") {
  rope_scaling c{};
  for (const int kind : {-1, static_cast<int>(scaling_kind_count)}) {
    c.kind = kind;
    CHECK_THROWS_AS(to_scaling(c, 8), InputError);
  }
  c.kind = ROPE_SCALING_YARN;
  c.yarn_truncate = 2;
  CHECK_THROWS_AS(to_scaling(c, 8), InputError);
}

TEST_CASE("positions are read by strides, and counted from the offset if there are none") {
  rope_call call{};
  const std::int32_t narrow[] = {0, 10, 1, 11, 2, 12};
  call.positions = {narrow, ROPE_I32, 2, 1, 0, 2, 0};
  CHECK(position_of(call, 1, 5, 2) == 12);
  const std::int64_t wide[] = {std::int64_t{1} << 40, -3};
  call.positions = {wide, ROPE_I64, 1, 0, 1, 1, 0};
  CHECK(position_of(call, 0, 0, 0) == std::int64_t{1} << 40);
  CHECK(position_of(call, 0, 1, 0) == -3);
  call.positions = {nullptr, 0, 0, 0, 0, 0, 100};
  CHECK(position_of(call, 2, 4, 7) == 107);
}

TEST_CASE("positions are counted from the start of each sequence") {
  rope_call call{};
  call.positions.offset = 50;
  const std::int32_t borders[] = {0, 0, 2, 5, 5};  // the first sequence is empty, and the last
  call.cu_seqlens = borders;
  call.sequences = 4;
  const std::int64_t counted[] = {50, 51, 50, 51, 52};
  for (std::int64_t s = 0; s < 5; ++s) CHECK(position_of(call, 0, 0, s) == counted[s]);

  const std::int64_t starts[] = {1000, 7, std::int64_t{1} << 40, 3000};
  call.positions.offset = 0;
  call.seqlen_offsets = starts;
  call.seqlen_offsets_dtype = ROPE_I64;
  CHECK(position_of(call, 0, 0, 1) == 8);
  CHECK(position_of(call, 2, 0, 4) == (std::int64_t{1} << 40) + 2);

  const std::int32_t narrow[] = {3, 900};
  call.cu_seqlens = nullptr;
  call.seqlen_offsets = narrow;
  call.seqlen_offsets_dtype = ROPE_I32;
  call.sequences = 2;
  CHECK(position_of(call, 0, 1, 6) == 906);
  CHECK_FALSE(batches_share_positions(call));
}

}  // namespace
}  // namespace rope
