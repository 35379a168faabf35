#include "tools/judge/call/row_placement.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/build_call.hpp"

namespace rope {
namespace {

constexpr int head_dim = 64;

Tensor far_tensor(Layout layout, DType dtype) {
  Case c;
  c.layout = layout;
  c.batch = c.seq = c.heads = 3;
  c.spec.head_dim = c.spec.rotary_dim = head_dim;
  c.dtype = c.out_dtype = dtype;
  Oracles oracles;
  return build_call(c, oracles).q;
}

TEST_CASE("the third row is more than 2^32 elements away, and nothing is mapped between the rows", "[placed_rows]") {
  for (Layout layout : {Layout::distant_batches, Layout::distant_tokens, Layout::distant_heads}) {
    for (DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      const Tensor tensor = far_tensor(layout, dtype);
      const std::size_t dimension = distant_dimension(layout).value();
      CHECK(2 * tensor.placed_strides[dimension] > std::int64_t{1} << 32);
      const std::vector<PageRun> islands = islands_of(tensor);
      REQUIRE(islands.size() == 3);
      CHECK(islands[0].offset == 0);
      CHECK(packed_bytes(islands) < 200'000);
      // An index that was cut to 32 bits must not hit a row, nor must one that lost its sign.
      for (std::int64_t i : {1, 2}) {
        const std::int64_t element = i * tensor.placed_strides[dimension];
        for (const std::int64_t cut :
             {std::int64_t{static_cast<std::int32_t>(element)}, std::int64_t{static_cast<std::uint32_t>(element)}}) {
          if (cut == element) continue;
          const std::int64_t byte = cut * static_cast<std::int64_t>(size_of(dtype));
          for (const PageRun& island : islands) {
            const auto from = static_cast<std::int64_t>(island.offset);
            CHECK((byte < from || byte >= from + static_cast<std::int64_t>(island.length)));
          }
        }
      }
    }
  }
}

TEST_CASE("distant rows hold the values of tables, each on its own pages", "[placed_rows]") {
  Case c;
  c.layout = Layout::distant_rows;
  c.seq = 3;
  c.spec.head_dim = c.spec.rotary_dim = head_dim;
  Oracles oracles;
  const Call call = build_call(c, oracles);
  CHECK(call.q.placed_strides.empty());
  CHECK(call.q_out->placed_strides.empty());
  for (const Tensor* table : {&*call.cos, &*call.sin}) {
    CHECK(table->placed_strides[0] * 2 > std::int64_t{1} << 32);
    REQUIRE(islands_of(*table).size() == 3);
    Tensor copy = *table;
    const PlacedRows memory({&copy});
    const auto* row_2 = static_cast<const float*>(memory.first_element(copy)) + 2 * table->placed_strides[0];
    CHECK(std::memcmp(row_2, table->bytes.data() + 2 * table->strides[0] * 4, head_dim / 2 * sizeof(float)) == 0);
    std::fill(copy.bytes.begin(), copy.bytes.end(), std::byte{0});
    memory.read_back();
    CHECK(copy.bytes == table->bytes);
  }
}

TEST_CASE("rows come back from far memory unchanged, through the kernel's own strides", "[placed_rows]") {
  Tensor tensor = far_tensor(Layout::distant_tokens, DType::f32);
  const Tensor before = tensor;
  const PlacedRows memory({&tensor});
  auto* first = static_cast<float*>(memory.first_element(tensor));
  float* last = first + 2 * tensor.placed_strides[0] + 2 * tensor.placed_strides[1] + 2 * tensor.placed_strides[2];
  constexpr std::size_t row = head_dim * sizeof(float);
  CHECK(std::memcmp(last, before.bytes.data() + before.bytes.size() - row, row) == 0);
  last[head_dim - 1] = 42;
  memory.read_back();
  CHECK(load(DType::f32, tensor.bytes.data() + tensor.bytes.size() - sizeof(float)) == 42);
  tensor.bytes.resize(tensor.bytes.size() - sizeof(float));
  CHECK(std::equal(tensor.bytes.begin(), tensor.bytes.end(), before.bytes.begin()));
}

TEST_CASE("packed: k lies behind the heads of q in each token, and a v behind it", "[placed_rows]") {
  Case c;
  c.layout = Layout::packed;
  c.batch = c.seq = 2;
  c.heads = 3;
  c.key_heads = 1;
  c.spec.head_dim = c.spec.rotary_dim = 4;
  Oracles oracles;
  Call call = build_call(c, oracles);
  CHECK(call.k->behind_q == 12);
  CHECK(call.k_out->behind_q == 12);
  CHECK(call.q.kernel_strides() == std::vector<std::int64_t>{40, 20, 4, 1});
  CHECK(call.k->kernel_strides() == call.q.kernel_strides());
  const Call before = call;
  const PlacedRows memory({&call.q, &*call.k});
  auto* first = static_cast<float*>(memory.first_element(call.q));
  CHECK(memory.first_element(*call.k) == first + 12);
  CHECK(first[20 + 12] == load(DType::f32, before.k->bytes.data() + 4 * sizeof(float)));
  first[60 + 12 + 3] = 42;
  memory.read_back();
  CHECK(call.q.bytes == before.q.bytes);
  CHECK(load(DType::f32, call.k->bytes.data() + 15 * sizeof(float)) == 42);
}

}  // namespace
}  // namespace rope
