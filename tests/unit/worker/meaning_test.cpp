// A kernel in a worker gets exactly what bind() would give a kernel in this process.
#include <catch2/catch.hpp>
#include <limits>

#include "tests/unit/worker/small_call.hpp"
#include "tools/judge/case/fault.hpp"

namespace rope {
namespace {

// Like kernel `echo` of misbehaving.c: 1 for each address.
rope_call without_addresses(rope_call call) {
  const auto mark = [](auto*& pointer) {
    if (pointer != nullptr) pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(std::uintptr_t{1});
  };
  for (rope_tensor* tensor : {&call.q, &call.k, &call.q_out, &call.k_out}) mark(tensor->data);
  mark(call.positions.data);
  mark(call.axis);
  mark(call.seqlen_offsets);
  mark(call.cu_seqlens);
  mark(call.table.cos);
  mark(call.table.sin);
  mark(call.theta);
  mark(call.scaling.short_factor);
  mark(call.scaling.long_factor);
  return call;
}

void check_meaning(WorkerSubject& echo, Call& call) {
  const rope_call bound = bind(call);
  const rope_call wanted = without_addresses(bound);
  std::vector<double> factors;
  for (const auto& [name, values] : lists_of(call.scaling)) {
    factors.insert(factors.end(), values->begin(), values->end());
  }
  const Reply reply = echo.apply(call);
  REQUIRE(reply.kind == ReplyKind::done);
  const std::byte* out = call.q_result().data();
  CHECK(std::memcmp(out, &wanted, sizeof wanted) == 0);
  if (!factors.empty()) {
    CHECK(std::memcmp(out + sizeof wanted, factors.data(), factors.size() * sizeof(double)) == 0);
  }
}

TEST_CASE("every field of rope_call arrives") {
  const auto echo = open_library(misbehaving, "echo");
  Call call = small_call();
  check_meaning(*echo, call);
  check_meaning(*echo, call);  // the same plan again

  call.k = Tensor::contiguous(DType::f32, {1, 8, 1, 64});
  call.k_out = call.k;
  call.positions = Tensor::contiguous(DType::i32, {3, 1, 8});
  call.positions->strides = {8, 0, 1};
  call.axes = 3;
  call.position_offset = std::int64_t{1} << 40;
  call.sequence_length = (std::int64_t{1} << 40) + 8;
  call.axis = Tensor::contiguous(DType::i32, {32});
  call.pairing = Pairing::interleaved;
  call.direction = Direction::backward;
  call.attention_factor = 1.0 / 3.0;
  call.base = 500000.1;
  check_meaning(*echo, call);

  call.in_place = true;
  check_meaning(*echo, call);
  call.in_place = false;

  call.positions.reset();
  call.seqlen_offsets = Tensor::contiguous(DType::i64, {1});
  check_meaning(*echo, call);
  call.seqlen_offsets = Tensor::contiguous(DType::i32, {3});
  call.cu_seqlens = Tensor::contiguous(DType::i32, {4});
  check_meaning(*echo, call);
  call.seqlen_offsets.reset();
  check_meaning(*echo, call);

  call.cos.reset();
  call.sin.reset();
  call.theta = Tensor::contiguous(DType::f64, {32});
  call.source = AngleSource::frequencies;
  check_meaning(*echo, call);

  call.theta.reset();
  call.source = AngleSource::computed;
  for (const auto& [rule, base] : example_rules({64, 64, call.base, 0}, 4096)) {
    call.scaling = rule;
    check_meaning(*echo, call);
  }
}

TEST_CASE("doubles arrive bit for bit, even those that JSON cannot write") {
  const auto echo = open_library(misbehaving, "echo");
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 1.0, 0.1, -1e-300, 5e-324, 1e16, 9007199254740993.0, 1.7976931348623157e308,
                             Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    Call call = small_call();
    call.attention_factor = value;
    call.base = value;
    check_meaning(*echo, call);
  }
}

TEST_CASE("invalid values arrive unchanged") {
  const auto echo = open_library(misbehaving, "echo");
  Call call = small_call();
  call.rotary_dim = -3;
  call.pairing = static_cast<Pairing>(9);
  call.direction = static_cast<Direction>(-1);
  call.sequence_length = std::numeric_limits<std::int64_t>::min();
  check_meaning(*echo, call);
}

rope_call seen_by(WorkerSubject& echo, Call call) {
  CHECK(echo.apply(call).kind == ReplyKind::done);
  rope_call seen{};
  std::memcpy(&seen, call.q_out->data(), sizeof seen);
  return seen;
}

TEST_CASE("a null pointer arrives as one, with the shape that it has") {
  const auto echo = open_library(misbehaving, "echo");
  const Call whole = small_call();
  Call without_q = whole;
  row_of(Fault::no_input).change(without_q);
  Call without_cos = whole;
  row_of(Fault::no_cos).change(without_cos);
  check_meaning(*echo, without_q);
  check_meaning(*echo, without_cos);
  const rope_call seen = seen_by(*echo, without_q);
  CHECK(seen.q.data == nullptr);
  CHECK(seen.q.shape[1] == 8);
  CHECK(seen.q_out.data != nullptr);
  CHECK(seen_by(*echo, without_cos).table.cos == nullptr);
  CHECK(seen_by(*echo, without_cos).table.sin != nullptr);
  CHECK(seen_by(*echo, whole).q.data != nullptr);
}

TEST_CASE("an empty tensor and a null pointer of the same shape are two plans") {
  const auto echo = open_library(misbehaving, "echo");
  Call empty = small_call();
  empty.q = Tensor::contiguous(DType::f32, {1, 0, 2, 64});
  Call null = empty;
  row_of(Fault::no_input).change(null);
  CHECK(seen_by(*echo, empty).q.data != nullptr);
  CHECK(seen_by(*echo, null).q.data == nullptr);
  CHECK(seen_by(*echo, empty).q.data != nullptr);
}

TEST_CASE("a claimed alignment is kept, whatever the sizes and wherever the tensor lies") {
  const auto subject = open_library(misbehaving, "alignment");
  for (const Placement placement : {Placement::at_end, Placement::at_start}) {
    for (std::int64_t tokens = 1; tokens < 40; tokens += 3) {
      Call call = small_call();
      call.q = Tensor::contiguous(DType::f32, {1, tokens, 1, 6});
      call.q_out = Tensor::contiguous(DType::f32, {1, tokens, 1, 6});
      call.q.origin = 1;
      call.q.bytes.resize(call.q.bytes.size() + 4);
      CHECK(subject->apply(call, placement).kind == ReplyKind::done);
      CHECK(element(*call.q_out, 0) == 0.0F);
    }
  }
}

TEST_CASE("padding and the bytes before the first element travel too") {
  const auto subject = open_library(misbehaving, "right");
  Call call = small_call();
  call.q_out->origin = 3;
  call.q_out->bytes.resize(call.q_out->bytes.size() + 24, std::byte{0x5a});
  std::fill_n(call.q_out->bytes.begin(), 12, std::byte{0x5a});
  const Reply reply = subject->apply(call);
  CHECK(reply.detail == "");
  CHECK(is_right(call));
  CHECK(std::all_of(call.q_out->bytes.begin(), call.q_out->bytes.begin() + 12,
                    [](std::byte b) { return b == std::byte{0x5a}; }));
  CHECK(std::all_of(call.q_out->bytes.end() - 12, call.q_out->bytes.end(),
                    [](std::byte b) { return b == std::byte{0x5a}; }));
}

TEST_CASE("a process that large calls made large gives way to a new one, if its memory is asked for") {
  const auto subject = open_library(misbehaving, "right");
  const auto lives = [&] { return !subject->code_files().empty(); };
  Call small = small_call();
  subject->apply(small);
  subject->give_back_memory();
  CHECK(lives());
  Call large = small_call();
  large.cos = large.sin = Tensor::contiguous(DType::f32, {1 << 18, 32});  // twice 32 MB
  subject->apply(large);
  CHECK(lives());
  subject->give_back_memory();
  subject->give_back_memory();  // there is none left
  CHECK_FALSE(lives());
  small = small_call();
  CHECK(subject->apply(small).detail == "");
  CHECK(is_right(small));
  CHECK(subject->deaths() == 0);
  subject->give_back_memory();
  CHECK(lives());
}

TEST_CASE("empty tensors have an address and no element") {
  const auto subject = open_library(misbehaving, "right");
  Call call = small_call();
  call.q = Tensor::contiguous(DType::f32, {1, 0, 2, 64});
  call.q_out = Tensor::contiguous(DType::f32, {1, 0, 2, 64});
  for (const Placement placement : {Placement::at_end, Placement::at_start}) {
    const Reply reply = subject->apply(call, placement);
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.detail == "");
  }
}

}  // namespace
}  // namespace rope
