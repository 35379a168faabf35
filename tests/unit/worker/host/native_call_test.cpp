// What the suite hands over is what a kernel in a worker gets.
#include "tools/worker/host/native_call.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <span>

#include "tests/unit/worker/small_call.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/worker/client/call_handing.hpp"
#include "tools/worker/client/call_memory.hpp"
#include "tools/worker/protocol/handed_call.hpp"

namespace rope::worker {
namespace {

// Both sides in one process: `call` through the shared memories into rooms and slots of `memory`.
class Handed {
 public:
  explicit Handed(Call& call, Call* companion = nullptr)
      : inputs_(shared_.inputs().open_read_only()), outputs_(shared_.outputs().open_writable()) {
    const LayoutRules rules{1, Placement::at_end, true, false, nullptr, true};
    layout = lay_out(call, rules);
    if (companion != nullptr) lay_out_beside(layout, *companion, rules);
    shared_.put(layout, false);
    const BoundCall judged{call};
    std::optional<BoundCall> other;
    if (companion != nullptr) other.emplace(BoundCall{*companion});
    const std::string calls = handed_calls(judged, other ? &*other : nullptr, layout, memory_.space());
    message_ = handed(7, companion != nullptr, layout, calls).substr(sizeof(FrameSize));
  }

  HandedCalls taken(bool for_device = false) { return taken(message_, for_device); }
  HandedCalls taken(const std::string& message, bool for_device = false) {
    return take_over(std::as_bytes(std::span(message)), memory_, inputs_.get(), outputs_.get(), for_device);
  }
  const std::string& message() const { return message_; }

  CallLayout layout;

 private:
  CallMemory shared_{true};
  FileDescriptor inputs_, outputs_;
  GuardedMemory memory_;
  std::string message_;
};

// What lies behind `data` is what `tensor` holds: the first and the last say where it begins and how it lies.
void check_elements(const void* data, const Tensor& tensor) {
  REQUIRE(data != nullptr);
  const std::size_t size = size_of(tensor.dtype);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) last += (tensor.shape[i] - 1) * tensor.kernel_strides()[i];
  for (const std::int64_t element : {std::int64_t{0}, last}) {
    const auto* there = static_cast<const std::byte*>(data) + element * static_cast<std::int64_t>(size);
    const std::byte* here = tensor.data() + element * static_cast<std::int64_t>(size);
    CHECK(std::memcmp(there, here, size) == 0);
  }
}

}  // namespace

TEST_CASE("A kernel in a worker gets the same call as one in this process, with its tensors elsewhere") {
  Case c;
  c.key_heads = 1;
  c.seq = 3;
  c.form = PositionForm::shared;
  c.position_dtype = DType::i32;
  Oracles oracles;
  for (const bool in_place : {false, true}) {
    CAPTURE(in_place);
    c.in_place = in_place;
    Call call = build_call(c, oracles);
    Handed handed(call);
    const HandedCalls taken = handed.taken();
    CHECK(taken.id == 7);
    CHECK_FALSE(taken.companion);
    const rope_call& got = taken.judged.call;
    check_elements(got.q.data, call.q);
    check_elements(got.k.data, *call.k);
    check_elements(got.q_out.data, call.q_result());
    check_elements(got.k_out.data, call.k_result());
    check_elements(got.positions.data, *call.positions);
    check_elements(got.table.cos, *call.cos);
    check_elements(got.table.sin, *call.sin);
    CHECK((got.q.data == got.q_out.data) == in_place);
    CHECK(got.theta == nullptr);
    rope_call plain = got;
    for (rope_tensor* tensor : {&plain.q, &plain.k, &plain.q_out, &plain.k_out}) tensor->data = nullptr;
    plain.positions.data = plain.table.cos = plain.table.sin = nullptr;
    const rope_call expected = described(call);
    CHECK(std::memcmp(&plain, &expected, sizeof plain) == 0);
  }
}

TEST_CASE("Frequencies, axes and borders of sequences reach the kernel too") {
  Call call = small_call();
  call.theta = Tensor::contiguous(DType::f64, {32});
  call.axis = Tensor::contiguous(DType::i32, {32});
  call.seqlen_offsets = Tensor::contiguous(DType::i64, {1});
  call.cu_seqlens = Tensor::contiguous(DType::i32, {2});
  store_integer(*call.axis, 31, 2);
  store_integer(*call.seqlen_offsets, 0, 11);
  store_integer(*call.cu_seqlens, 1, 8);
  const double first = 1.5;
  std::memcpy(call.theta->data(), &first, sizeof first);
  Handed handed(call);
  const rope_call got = handed.taken().judged.call;
  check_elements(got.theta, *call.theta);
  check_elements(got.axis, *call.axis);
  check_elements(got.seqlen_offsets, *call.seqlen_offsets);
  check_elements(got.cu_seqlens, *call.cu_seqlens);
  CHECK(got.sequences == 1);
  CHECK(got.seqlen_offsets_dtype == ROPE_I64);
}

TEST_CASE("A null tensor is a null pointer, and a list of a scaling rule an address") {
  Call call = small_call();
  call.cos->null = true;
  scaling::LongRope rule{32, 4096, std::vector<double>(32, 1.5), std::vector<double>(32, 2.5)};
  call.scaling = rule;
  Handed handed(call);
  const rope_call got = handed.taken().judged.call;
  CHECK(got.table.cos == nullptr);
  REQUIRE(got.table.sin != nullptr);
  REQUIRE(got.scaling.short_factor != nullptr);
  REQUIRE(got.scaling.long_factor != nullptr);
  CHECK(got.scaling.short_factor[31] == 1.5);
  CHECK(got.scaling.long_factor[0] == 2.5);
}

TEST_CASE("Two calls at once have slots of their own") {
  Call one = small_call(), other = small_call();
  element(other.q, 0) = 77;
  Handed handed(one, &other);
  const HandedCalls taken = handed.taken();
  REQUIRE(taken.companion);
  check_elements(taken.judged.call.q.data, one.q);
  check_elements(taken.companion->call.q.data, other.q);
  CHECK(taken.judged.call.q.data != taken.companion->call.q.data);
  CHECK(taken.judged.call.q_out.data != taken.companion->call.q_out.data);
}

TEST_CASE("What goes to a device is told with the place of its elements") {
  Call call = small_call();
  Handed handed(call);
  CHECK(handed.taken().judged.pages.empty());
  const std::vector<MappedPages> pages = handed.taken(true).judged.pages;
  REQUIRE(pages.size() == 4);
  CHECK(pages[0].name == "q");
  CHECK_FALSE(pages[0].writable);
  CHECK(pages[1].name == "q_out");
  CHECK(pages[1].writable);
  for (const MappedPages& tensor : pages) {
    CHECK(tensor.last - tensor.first == 4096);  // each has 1024 elements
    CHECK(tensor.length == 4096);
    CHECK(tensor.at == tensor.first);
  }
}

TEST_CASE("A message that ends too early, or goes on, is refused") {
  Call call = small_call();
  Handed handed(call);
  const std::string& whole = handed.message();
  for (const std::size_t size : {std::size_t{0}, sizeof(HandedHead) - 1, sizeof(HandedHead) + 8, whole.size() - 1}) {
    CAPTURE(size);
    CHECK_THROWS_WITH(handed.taken(whole.substr(0, size)), "a call ends too early");
  }
  CHECK_THROWS_WITH(handed.taken(whole + '\0'), "a call goes on behind its end");
  std::string elsewhere = whole;
  const std::uint32_t slot = 99;
  std::memcpy(elsewhere.data() + sizeof(HandedHead) + sizeof(rope_call) + offsetof(HandedTensor, slot), &slot,
              sizeof slot);
  CHECK_THROWS_WITH(handed.taken(elsewhere),
                    Catch::Contains("tensor q: it is handed over for room") && Catch::Contains("of slot 99"));
}

}  // namespace rope::worker
