#include "impls/call_check.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "tests/unit/impls/test_call.hpp"

namespace rope {
namespace {

using test::TestCall;

struct BadArgument {
  const char* what;
  rope_status expected;
  std::function<void(rope_call&)> spoil;
};

constexpr rope_status invalid = ROPE_INVALID_ARGUMENT;

const std::vector<BadArgument>& bad_arguments() {
  static const std::vector<BadArgument> list = {
      {"struct too small", invalid, [](rope_call& c) { c.struct_size = sizeof c - 1; }},
      {"another ABI", ROPE_UNSUPPORTED, [](rope_call& c) { c.abi = 2; }},
      {"another device", ROPE_UNSUPPORTED, [](rope_call& c) { c.device = ROPE_CUDA; }},
      {"unknown device", invalid, [](rope_call& c) { c.device = 9; }},
      {"null q", invalid, [](rope_call& c) { c.q.data = nullptr; }},
      {"null q_out", invalid, [](rope_call& c) { c.q_out.data = nullptr; }},
      {"k without k_out", invalid, [](rope_call& c) { c.k = c.q; }},
      {"misaligned q", invalid, [](rope_call& c) { c.q.data = static_cast<char*>(c.q.data) + 1; }},
      {"unknown dtype", invalid, [](rope_call& c) { c.q.dtype = 17; }},
      {"integer dtype", invalid, [](rope_call& c) { c.q.dtype = ROPE_I32; }},
      {"dtypes that are not claimed", ROPE_UNSUPPORTED, [](rope_call& c) { c.q_out.dtype = ROPE_F16; }},
      {"negative shape", invalid, [](rope_call& c) { c.q.shape[1] = c.q_out.shape[1] = -1; }},
      {"shapes differ", invalid, [](rope_call& c) { c.q_out.shape[2] = 1; }},
      {"batch of k differs", invalid,
       [](rope_call& c) {
         c.k = c.k_out = c.q_out;
         c.k.shape[0] = c.k_out.shape[0] = 1;
       }},
      {"dtype of k differs", invalid,
       [](rope_call& c) {
         c.k = c.k_out = c.q_out;
         c.k.dtype = c.k_out.dtype = ROPE_F64;
       }},
      {"output broadcast", invalid, [](rope_call& c) { c.q_out.strides[0] = 0; }},
      {"in place with other strides", invalid,
       [](rope_call& c) {
         c.q_out.data = c.q.data;
         std::swap(c.q_out.strides[1], c.q_out.strides[2]);
       }},
      {"odd rotary_dim", invalid, [](rope_call& c) { c.rotary_dim = 7; }},
      {"rotary_offset without room", invalid, [](rope_call& c) { c.rotary_offset = 2; }},
      {"negative rotary_offset", invalid, [](rope_call& c) { c.rotary_offset = -2; }},
      {"odd rotary_offset", invalid, [](rope_call& c) { c.rotary_dim = 4, c.rotary_offset = 1; }},
      {"rotary_dim 0", invalid, [](rope_call& c) { c.rotary_dim = 0; }},
      {"negative rotary_dim", invalid, [](rope_call& c) { c.rotary_dim = -2; }},
      {"rotary_dim beyond head_dim", invalid, [](rope_call& c) { c.rotary_dim = 10; }},
      {"unknown pairing", invalid, [](rope_call& c) { c.pairing = 2; }},
      {"unknown direction", invalid, [](rope_call& c) { c.direction = -1; }},
      {"unknown source", invalid, [](rope_call& c) { c.angle_source = 3; }},
      {"attention factor NaN", invalid, [](rope_call& c) { c.attention_factor = std::nan(""); }},
      {"offset overflows", invalid,
       [](rope_call& c) { c.positions.offset = std::numeric_limits<std::int64_t>::max() - 1; }},
      {"positions of floats", invalid,
       [](rope_call& c) {
         c.positions.data = c.q.data;
         c.positions.dtype = ROPE_F32;
       }},
      {"four axes", invalid,
       [](rope_call& c) {
         c.positions.data = c.q.data;
         c.positions.dtype = ROPE_I32;
         c.positions.axes = 4;
       }},
      {"axis beyond the axes", invalid,
       [](rope_call& c) {
         static const std::int32_t axis[] = {0, 0, 1, 0};
         c.axis = axis;
         c.positions.data = c.q.data;
         c.positions.dtype = ROPE_I32;
       }},
      {"negative axis", invalid,
       [](rope_call& c) {
         static const std::int32_t axis[] = {0, -1, 0, 0};
         c.axis = axis;
       }},
  };
  return list;
}

const std::vector<BadArgument>& bad_sources() {
  static const std::vector<BadArgument> list = {
      {"null cos", invalid, [](rope_call& c) { c.table.cos = nullptr; }},
      {"null sin", invalid, [](rope_call& c) { c.table.sin = nullptr; }},
      {"unknown table dtype", invalid, [](rope_call& c) { c.table.dtype = -1; }},
      {"table width", invalid, [](rope_call& c) { c.table.width = 5; }},
      {"negative rows", invalid, [](rope_call& c) { c.table.rows = -1; }},
      {"position beyond the table", invalid, [](rope_call& c) { c.positions.offset = 2; }},
      {"negative position into a table", invalid, [](rope_call& c) { c.positions.offset = -1; }},
      {"listed position beyond the table", invalid,
       [](rope_call& c) {
         static const std::int64_t positions[] = {0, 1, 4};
         c.positions = {positions, ROPE_I64, 1, 0, 0, 1, 0};
       }},
      {"null theta", invalid, [](rope_call& c) { c.angle_source = ROPE_FREQUENCIES; }},
      {"theta in f16", invalid,
       [](rope_call& c) {
         c.angle_source = ROPE_FREQUENCIES;
         c.theta = c.q.data;
         c.theta_dtype = ROPE_F16;
       }},
      {"base 0", invalid,
       [](rope_call& c) {
         c.angle_source = ROPE_COMPUTED;
         c.base = 0;
       }},
      {"unknown scaling", invalid,
       [](rope_call& c) {
         c.angle_source = ROPE_COMPUTED;
         c.scaling.kind = 99;
       }},
      {"scaling without factor", invalid,
       [](rope_call& c) {
         c.angle_source = ROPE_COMPUTED;
         c.scaling.kind = ROPE_SCALING_LINEAR;
       }},
      {"longrope without lists", invalid,
       [](rope_call& c) {
         c.angle_source = ROPE_COMPUTED;
         c.scaling.kind = ROPE_SCALING_LONGROPE;
         c.scaling.factor = 2;
         c.scaling.original_max_position = 16;
       }},
  };
  return list;
}

TEST_CASE("bad arguments come back as a status, and nothing is written") {
  for (const rope_kernel* kernel : builtin_kernels()) {
    const std::int32_t pairing = (kernel->claims.pairings & ROPE_BIT(ROPE_HALF_SPLIT)) != 0 ? 0 : 1;
    CHECK(kernel->apply(nullptr) == ROPE_INVALID_ARGUMENT);
    for (const bool tables : {false, true}) {
      for (const BadArgument& bad : tables ? bad_sources() : bad_arguments()) {
        INFO(kernel->name << ": " << bad.what);
        TestCall t(DType::f32, DType::f32, 2, 3, 2, 8, pairing);
        if (tables) t.give_tables(4, false);
        REQUIRE(check_call(&t.call, kernel->claims) == ROPE_OK);
        const auto before = t.out.bytes;
        bad.spoil(t.call);
        CHECK(kernel->apply(&t.call) == bad.expected);
        CHECK(t.out.bytes == before);
      }
    }
  }
}

TEST_CASE("a pairing that is not claimed is unsupported") {
  TestCall t(DType::f32, DType::f32, 1, 2, 1, 8, ROPE_INTERLEAVED);
  CHECK(half_split_kernel().apply(&t.call) == ROPE_UNSUPPORTED);
  t.call.pairing = ROPE_HALF_SPLIT;
  CHECK(interleaved_kernel().apply(&t.call) == ROPE_UNSUPPORTED);
}

TEST_CASE("unequal halves are unsupported if they are not claimed") {
  for (const std::int32_t pairing : {ROPE_HALF_SPLIT, ROPE_INTERLEAVED}) {
    TestCall t(DType::f32, DType::f32, 1, 2, 1, 8, pairing);
    t.give_tables(4, true);
    CHECK(complex_kernel().apply(&t.call) == ROPE_OK);
    t.sin[3 * 8 + 1] = 5;  // in a row that the call does not read
    CHECK(complex_kernel().apply(&t.call) == ROPE_OK);
    t.sin[1 * 8 + 1] = 5;
    CHECK(complex_kernel().apply(&t.call) == ROPE_UNSUPPORTED);
  }
}

TEST_CASE("a call without what every call has is unsupported") {
  static const std::int64_t positions[] = {0, 1, 2};
  const struct {
    const char* what;
    void (*claim)(rope_capabilities&);
    void (*give)(rope_call&);
  } rows[] = {
      {"positions", [](rope_capabilities& k) { k.required_features = ROPE_BIT(ROPE_FEATURE_POSITIONS); },
       [](rope_call& c) {
         c.positions = {positions, ROPE_I64, 1, 0, 0, 1, 0};
       }},
      {"in place", [](rope_capabilities& k) { k.required_features = ROPE_BIT(ROPE_FEATURE_IN_PLACE); },
       [](rope_call& c) { c.q_out = c.q; }},
      {"k", [](rope_capabilities& k) { k.required_features = ROPE_BIT(ROPE_FEATURE_KEY); },
       [](rope_call& c) {
         c.k = c.q;
         c.k_out = c.q_out;
       }},
      {"yarn without clamped pairs", [](rope_capabilities& k) { k.yarn_clamp_pairs = ROPE_BIT(0); },
       [](rope_call& c) { c.scaling.yarn_clamp_pairs = 0; }},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    rope_capabilities claims = half_split_kernel().claims;
    TestCall t(DType::f32, DType::f32, 1, 3, 1, 8, ROPE_HALF_SPLIT);
    t.call.angle_source = ROPE_COMPUTED;
    t.call.scaling.kind = ROPE_SCALING_YARN;
    t.call.scaling.factor = 2;
    t.call.scaling.original_max_position = 16;
    t.call.scaling.beta_fast = 32;
    t.call.scaling.beta_slow = 1;
    t.call.scaling.yarn_clamp_pairs = 1;
    REQUIRE(check_call(&t.call, claims) == ROPE_OK);
    row.claim(claims);
    CHECK(check_call(&t.call, claims) == ROPE_UNSUPPORTED);
    row.give(t.call);
    CHECK(check_call(&t.call, claims) == ROPE_OK);
  }
  rope_capabilities claims = half_split_kernel().claims;
  claims.axis_counts = ROPE_BIT(3);
  TestCall t(DType::f32, DType::f32, 1, 3, 1, 8, ROPE_HALF_SPLIT);
  CHECK(check_call(&t.call, claims) == ROPE_OK);  // the number of axes is not read
  t.call.positions = {positions, ROPE_I64, 1, 0, 0, 1, 0};
  CHECK(check_call(&t.call, claims) == ROPE_UNSUPPORTED);
  t.call.positions.axes = 3;
  CHECK(check_call(&t.call, claims) == ROPE_OK);
}

TEST_CASE("empty tensors are accepted, whatever their pointers") {
  for (const rope_kernel* kernel : builtin_kernels()) {
    const std::int32_t pairing = (kernel->claims.pairings & ROPE_BIT(ROPE_HALF_SPLIT)) != 0 ? 0 : 1;
    for (int dimension = 0; dimension < 3; ++dimension) {
      TestCall t(DType::f16, DType::f16, 2, 3, 2, 8, pairing);
      t.call.q.shape[dimension] = t.call.q_out.shape[dimension] = 0;
      t.call.q.data = t.call.q_out.data = nullptr;
      CHECK(kernel->apply(&t.call) == ROPE_OK);
    }
  }
}

}  // namespace
}  // namespace rope
