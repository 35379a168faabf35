#include "impls/contract.hpp"

#include <catch2/catch.hpp>

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

TEST_CASE("every scaling rule survives the way to C and back") {
  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 4096;
  yarn.beta_fast = 30;
  yarn.beta_slow = 2;
  yarn.truncate = false;
  yarn.clamp = scaling::Yarn::Clamp::pairs;
  const std::vector<Scaling> rules = {
      scaling::None{},
      scaling::Linear{{}, 2.5},
      scaling::Ntk{{}, 3},
      scaling::Dynamic{{}, 2, 512},
      yarn,
      scaling::LongRope{32, 4096, {1, 2, 3, 4}, {5, 6, 7, 8}},
      scaling::Llama3{{}, 8, 1, 4, 8192},
      scaling::Proportional{{}, 2, 0.5},
      scaling::Pixel{{}, 10},
      scaling::Constant{},
  };
  REQUIRE(rules.size() == std::variant_size_v<Scaling>);
  for (const Scaling& rule : rules) {
    INFO(kind_of(rule));
    const rope_scaling c = to_c(rule);
    CHECK(c.kind == static_cast<std::int32_t>(rule.index()));
    const Scaling back = to_scaling(c, 8);
    CHECK(back.index() == rule.index());
    const scaling::Setting setting{8, 8, 10000, 9999};
    CHECK(frequencies<double>(back, setting) == frequencies<double>(rule, setting));
  }
}

TEST_CASE("unknown kinds and modes are refused") {
  rope_scaling c{};
  c.kind = 10;
  CHECK_THROWS_AS(to_scaling(c, 8), InputError);
  c.kind = ROPE_SCALING_YARN;
  c.yarn_truncate = 2;
  CHECK_THROWS_AS(to_scaling(c, 8), InputError);
}

TEST_CASE("positions are read by strides, and counted from the offset where there are none") {
  const std::int32_t narrow[] = {0, 10, 1, 11, 2, 12};
  rope_positions positions{narrow, ROPE_I32, 2, 1, 0, 2, 0};
  CHECK(position_of(positions, 1, 5, 2) == 12);
  const std::int64_t wide[] = {std::int64_t{1} << 40, -3};
  positions = {wide, ROPE_I64, 1, 0, 1, 1, 0};
  CHECK(position_of(positions, 0, 0, 0) == std::int64_t{1} << 40);
  CHECK(position_of(positions, 0, 1, 0) == -3);
  positions = {nullptr, 0, 0, 0, 0, 0, 100};
  CHECK(position_of(positions, 2, 4, 7) == 107);
}

}  // namespace
}  // namespace rope
