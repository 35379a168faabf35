#include "tests/conformance/far_tensor.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/conformance/build_call.hpp"
#include "tests/unit/conformance/any_case.hpp"

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

TEST_CASE("the third row is more than 2^32 elements away, and nothing is mapped between the rows", "[far_tensor]") {
  for (Layout layout : {Layout::distant_batches, Layout::distant_tokens, Layout::distant_heads}) {
    for (DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      const Tensor tensor = far_tensor(layout, dtype);
      const auto dimension = static_cast<std::size_t>(layout) - static_cast<std::size_t>(Layout::distant_batches);
      CHECK(2 * tensor.far_strides[dimension] > std::int64_t{1} << 32);
      const std::vector<Island> islands = islands_of(tensor);
      REQUIRE(islands.size() == 3);
      CHECK(islands[0].offset == 0);
      CHECK(packed_bytes(islands) < 200'000);
      // An index that was cut to 32 bits must not come out where a row is, nor one that lost its sign.
      for (std::int64_t i : {1, 2}) {
        const std::int64_t element = i * tensor.far_strides[dimension];
        for (const std::int64_t cut :
             {std::int64_t{static_cast<std::int32_t>(element)}, std::int64_t{static_cast<std::uint32_t>(element)}}) {
          if (cut == element) continue;
          const std::int64_t byte = cut * static_cast<std::int64_t>(size_of(dtype));
          for (const Island& island : islands) {
            const auto from = static_cast<std::int64_t>(island.offset);
            CHECK((byte < from || byte >= from + static_cast<std::int64_t>(island.length)));
          }
        }
      }
    }
  }
}

TEST_CASE("distant rows are those of tables, each on pages of its own", "[far_tensor]") {
  Case c;
  c.layout = Layout::distant_rows;
  c.seq = 3;
  c.spec.head_dim = c.spec.rotary_dim = head_dim;
  Oracles oracles;
  const Call call = build_call(c, oracles);
  CHECK(call.q.far_strides.empty());
  CHECK(call.q_out->far_strides.empty());
  for (const Tensor* table : {&*call.cos, &*call.sin}) {
    CHECK(table->far_strides[0] * 2 > std::int64_t{1} << 32);
    REQUIRE(islands_of(*table).size() == 3);
    Tensor copy = *table;
    FarMemory memory(copy);
    const auto* row_2 = static_cast<const float*>(memory.first_element()) + 2 * table->far_strides[0];
    CHECK(std::memcmp(row_2, table->bytes.data() + 2 * table->strides[0] * 4, head_dim / 2 * sizeof(float)) == 0);
    std::fill(copy.bytes.begin(), copy.bytes.end(), std::byte{0});
    memory.read_into(copy);
    CHECK(copy.bytes == table->bytes);
  }
}

TEST_CASE("rows come back from far memory as they went, through the kernel's own strides", "[far_tensor]") {
  Tensor tensor = far_tensor(Layout::distant_tokens, DType::f32);
  const Tensor before = tensor;
  FarMemory memory(tensor);
  auto* first = static_cast<float*>(memory.first_element());
  float* last = first + 2 * tensor.far_strides[0] + 2 * tensor.far_strides[1] + 2 * tensor.far_strides[2];
  constexpr std::size_t row = head_dim * sizeof(float);
  CHECK(std::memcmp(last, before.bytes.data() + before.bytes.size() - row, row) == 0);
  last[head_dim - 1] = 42;
  memory.read_into(tensor);
  CHECK(load(DType::f32, tensor.bytes.data() + tensor.bytes.size() - sizeof(float)) == 42);
  tensor.bytes.resize(tensor.bytes.size() - sizeof(float));
  CHECK(std::equal(tensor.bytes.begin(), tensor.bytes.end(), before.bytes.begin()));
}

}  // namespace
}  // namespace rope
