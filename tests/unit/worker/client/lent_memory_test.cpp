// Large inputs lie in the memory that a worker maps; large outputs leave it as they are taken back.
#include "tools/worker/client/lent_memory.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "tests/unit/worker/small_call.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/case/poison.hpp"
#include "tools/worker/client/call_layout.hpp"
#include "tools/worker/client/call_memory.hpp"
#include "tools/worker/protocol/canary.hpp"

namespace rope::worker {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t large = large_tensor + 12;

std::optional<SharedMemory> inputs_of_a_worker() {
  return std::optional<SharedMemory>(std::in_place, "test", SharedMemory::Use::read_only_in_parts);
}

// small_call() with tables so large that they are lent, of the same first rows.
Call with_large_tables(TensorMemory* memory) {
  Call call = small_call();
  for (std::optional<Tensor>* table : {&call.cos, &call.sin}) {
    Tensor longer = Tensor::without_bytes(DType::f32, {(1 << 15) + 1, 32});
    const auto size = static_cast<std::size_t>(longer.count()) * sizeof(float);
    std::memset(longer.renew(size, memory), 0, size);
    std::memcpy(longer.bytes.data(), std::as_const(**table).bytes.data(), (*table)->bytes.size());
    *table = std::move(longer);
  }
  return call;
}

// [1, 4096, 4, 64] in f32, 4 MB, with poison in its output.
Call with_large_output(std::uint64_t bits) {
  Call call = with_large_tables(nullptr);
  call.q = Tensor::contiguous(DType::f32, {1, 4096, 4, 64});
  call.q_out = Tensor::contiguous(DType::f32, {1, 4096, 4, 64});
  call.q_out->poison = bits;
  for (std::int64_t i = 0; i < call.q_out->count(); ++i) {
    std::memcpy(&element(*call.q_out, i), &bits, sizeof(float));
  }
  return call;
}

}  // namespace

TEST_CASE("Memory of a worker that may read all of it stays as small as its calls allow, and nothing is lent") {
  const SharedMemory inputs("test", SharedMemory::Use::read_only);
  struct stat status {};
  REQUIRE(fstat(inputs.open_read_only().get(), &status) == 0);
  CHECK(status.st_size == 1 << 16);
  CHECK(LentMemory(inputs).room(large, 4) == nullptr);
}

TEST_CASE("What is lent ends with a page, and what was given back is lent again") {
  const auto inputs = inputs_of_a_worker();
  LentMemory memory(*inputs);
  std::shared_ptr<std::byte[]> one = memory.room(large, 4);
  const std::shared_ptr<std::byte[]> two = memory.room(large, 4);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(reinterpret_cast<std::uintptr_t>(one.get() + large) % page == 0);
  CHECK(is_intact({one.get() - (page - 12), page - 12}, 0));
  CHECK(two.get() >= one.get() + large);
  const std::size_t most = memory.bytes();
  std::byte* const first = one.get();
  one.reset();
  const std::shared_ptr<std::byte[]> longer = memory.room(large + page, 4);
  CHECK(longer.get() > two.get());
  one = memory.room(large, 4);
  CHECK(one.get() == first);
  CHECK(memory.bytes() > most);
  CHECK(memory.room(SharedMemory::fixed_size, 4) == nullptr);
}

TEST_CASE("What is lent is aligned as the kernel claims") {
  const auto inputs = inputs_of_a_worker();
  LentMemory memory(*inputs);
  memory.align_to(64);
  const std::shared_ptr<std::byte[]> lent = memory.room(large, 4);
  CHECK(reinterpret_cast<std::uintptr_t>(lent.get()) % 64 == 0);
  CHECK((reinterpret_cast<std::uintptr_t>(lent.get()) + large + 63) / page ==
        (reinterpret_cast<std::uintptr_t>(lent.get()) + large) / page + 1);
}

TEST_CASE("What was lent is found where it lies, whole and its beginning, and nothing else is") {
  const auto inputs = inputs_of_a_worker(), others = inputs_of_a_worker();
  LentMemory memory(*inputs), other(*others);
  memory.room(large, 4);
  std::shared_ptr<std::byte[]> lent = memory.room(large, 4), foreign = other.room(large, 4);
  const auto whole = memory.pages_of(lent.get(), large), begin = memory.pages_of(lent.get(), page);
  REQUIRE(whole);
  REQUIRE(begin);
  CHECK(whole->offset == SharedMemory::fixed_offset);
  CHECK(whole->extent.start == page - 12);
  CHECK(whole->extent.map_length == page - 12 + large);
  CHECK(begin->offset == whole->offset);
  CHECK(begin->extent.start == whole->extent.start);
  CHECK(begin->extent.map_length == 2 * page);
  CHECK_FALSE(memory.pages_of(foreign.get(), large));
  CHECK_FALSE(memory.pages_of(nullptr, large));
  const std::byte* const gone = lent.get();
  lent.reset();
  CHECK_FALSE(memory.pages_of(gone, large));
}

TEST_CASE("What was lent stays when the worker's memory is gone") {
  auto inputs = inputs_of_a_worker();
  std::optional<LentMemory> memory(*inputs);
  const std::shared_ptr<std::byte[]> lent = memory->room(large, 4);
  std::fill_n(lent.get(), large, std::byte{7});
  memory.reset();
  inputs.reset();
  CHECK(std::all_of(lent.get(), lent.get() + large, [](std::byte b) { return b == std::byte{7}; }));
}

TEST_CASE("Lent inputs are not copied; small ones, and what other workers lent, are") {
  const auto inputs = inputs_of_a_worker(), others = inputs_of_a_worker();
  LentMemory memory(*inputs), other(*others);
  Call call = with_large_tables(&memory), foreign = with_large_tables(&other);
  const auto layout_of = [&](Call& made, Placement placement) {
    return lay_out(made, {1, placement, false, false, &memory});
  };
  for (const bool at_end : {true, false}) {
    const CallLayout layout = layout_of(call, at_end ? Placement::at_end : Placement::at_start);
    for (const TensorMapping& placed : layout.tensors) CHECK(placed.lent == (at_end && placed.tensor->shape[0] > 1));
    CHECK((layout.input_bytes < large_tensor) == at_end);
  }
  for (const TensorMapping& placed : layout_of(foreign, Placement::at_end).tensors) CHECK_FALSE(placed.lent);
  Call shifted = call;
  shifted.cos->origin = 1;
  const CallLayout layout = lay_out(shifted, {64, Placement::at_end, false, false, &memory});
  CHECK_FALSE(std::ranges::any_of(layout.tensors, [](const TensorMapping& p) { return p.name == "cos" && p.lent; }));
}

TEST_CASE("A worker computes with lent tables, also after a new process, and cannot write to them") {
  const auto subject = open_library(misbehaving, "right");
  REQUIRE(subject->tensor_memory() != nullptr);
  REQUIRE(subject->tensor_memory()->room(large, 4) != nullptr);
  Call call = with_large_tables(subject->tensor_memory());
  for (const bool renewed : {false, true}) {
    INFO(renewed);
    if (renewed) subject->renew();
    std::ranges::fill(call.q_out->bytes, std::byte{0xee});
    CHECK(subject->apply(call).detail == "");
    CHECK(is_right(call));
  }
  Call first_rows = with_large_tables(subject->tensor_memory());
  first_rows.cos->shape[0] = first_rows.sin->shape[0] = 1 << 14;
  for (std::optional<Tensor>* table : {&first_rows.cos, &first_rows.sin}) {
    (*table)->bytes = (*table)->bytes.first((*table)->bytes.size() / 2);
  }
  CHECK(subject->apply(first_rows).detail == "");
  CHECK(is_right(first_rows));
}

TEST_CASE("A read past the end of a lent table ends at the page behind it") {
  const auto subject = open_library(misbehaving, "read_past_table");
  Call call = with_large_tables(subject->tensor_memory());
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK_THAT(reply.detail, Catch::Contains("read cos at row 32769, beyond its 32769 rows"));
}

TEST_CASE("A large output takes memory in one place only: its tensor, or what the worker writes to") {
  Call call = with_large_output(poison(DType::f32, 1));
  CallMemory memory(true);
  const CallLayout layout = lay_out(call, {1, Placement::at_end, false, false, &memory.lent()});
  const auto blocks = [&] {
    struct stat status {};
    REQUIRE(fstat(memory.outputs().open_writable().get(), &status) == 0);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  };
  memory.put(layout, false);
  CHECK(blocks() >= large_tensor);
  memory.take_back(layout);
  CHECK(blocks() < large_tensor / 16);
}

TEST_CASE("A large output has its poison where the kernel wrote nothing, and where it never came back") {
  const std::uint64_t bits = poison(DType::f32, 1);
  const auto is_poison = [&](const Call& call, std::int64_t i) {
    return std::memcmp(call.q_out->data() + 4 * i, &bits, 4) == 0;
  };
  Call call = with_large_output(bits);
  const auto subject = open_library(misbehaving, "decline");
  subject->apply(call);
  CHECK(is_poison(call, 0));
  CHECK(is_poison(call, call.q_out->count() - 1));

  call = with_large_output(bits);
  CHECK(open_library(misbehaving, "null_write")->apply(call).kind == ReplyKind::crashed);
  CHECK(is_poison(call, 0));
  CHECK(is_poison(call, call.q_out->count() - 1));

  const auto right = open_library(misbehaving, "right");
  for (int i = 0; i < 2; ++i) {  // pages that were given back are filled again
    call = with_large_output(bits);
    CHECK(right->apply(call).detail == "");
    CHECK_FALSE(is_poison(call, 0));
    CHECK(element(*call.q_out, call.q_out->count() - 1) == 0);
  }
}

}  // namespace rope::worker
