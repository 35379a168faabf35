// Tensors whose rows lie gigabytes apart, and q and k in one memory, in the process of a shared library.
#include <catch2/catch.hpp>

#include "tests/unit/judge/case/any_case.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"
#include "tools/judge/call/row_placement.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/worker/client/call_layout.hpp"

namespace rope {
namespace {

using Catch::Contains;

const std::filesystem::path mutants = build_folder() / "mutants.so";

Call far_call(Layout layout, DType dtype) {
  Case c;
  c.layout = layout;
  c.batch = c.seq = c.heads = c.key_heads = 3;
  c.start = 5;
  c.spec.head_dim = c.spec.rotary_dim = 32;
  c.dtype = c.out_dtype = dtype;
  c.source = AngleSource::computed;
  Oracles oracles;
  return build_call(c, oracles);
}

// The same call with its rows as they are stored.
Call close_by(Call call) {
  for (Tensor* tensor : {&call.q, &*call.k, &*call.q_out, &*call.k_out}) tensor->placed_strides.clear();
  return call;
}

TEST_CASE("far rows: a library gets them, and its results equal those from close rows") {
  const auto right = open_library(mutants, "none");
  REQUIRE(right->claims().far_tensors);
  for (const Layout layout : {Layout::distant_batches, Layout::distant_tokens, Layout::distant_heads}) {
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      CAPTURE(static_cast<int>(layout), name(dtype));
      Call close = close_by(far_call(layout, dtype));
      REQUIRE(right->apply(close).status == ROPE_OK);
      for (int again = 0; again < 2; ++again) {  // the second time the worker has the plan
        Call far = far_call(layout, dtype);
        REQUIRE_FALSE(far.q.placed_strides.empty());
        const Call before = far;
        const Reply reply = right->apply(far);
        CHECK(reply.kind == ReplyKind::done);
        CHECK(reply.status == ROPE_OK);
        CHECK(reply.detail.empty());
        CHECK(far.q.bytes == before.q.bytes);
        CHECK(far.q_out->bytes != before.q_out->bytes);
        CHECK(far.q_out->bytes == close.q_out->bytes);
        CHECK(far.k_out->bytes == close.k_out->bytes);
      }
    }
  }
}

TEST_CASE("far rows: an index of 32 bits is seen") {
  const auto wrong = open_library(mutants, "MEM-09");
  Call call = far_call(Layout::distant_tokens, DType::f32);
  const Reply reply = wrong->apply(call);
  CHECK(reply.kind != ReplyKind::done);
  CHECK_THAT(reply.detail, Contains(" q"));
  Call close = close_by(far_call(Layout::distant_tokens, DType::f32));
  CHECK(wrong->apply(close).status == ROPE_OK);
}

TEST_CASE("far rows: a write between them, on their pages, is reported") {
  const auto subject = open_library(misbehaving, "write_past_end");
  Call call = small_call();
  call.q_out->placed_strides = {std::int64_t{1} << 30, 128, 64, 1};
  call.q_out->shape = {1, 2, 2, 64};  // a quarter of a page, and the kernel writes behind its last element
  call.q_out->bytes.resize(256 * sizeof(float));
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK(reply.detail == "wrote between the rows of q_out, on the pages that they lie on");
}

TEST_CASE("far rows: a tensor too large for any address space is refused by name, and the next call is served") {
  const auto right = open_library(mutants, "none");
  Call call = far_call(Layout::distant_tokens, DType::f32);
  Tensor& far = *call.q_out;
  far.placed_strides[1] = std::int64_t{1} << 40;
  const std::string bytes = std::to_string(islands_of(far).back().offset + islands_of(far).back().length);
  const Reply reply = right->apply(call);
  CHECK(reply.kind == ReplyKind::crashed);
  CHECK_THAT(reply.detail, Contains("its worker gave up: tensor q_out: its rows span " + bytes +
                                    " bytes, and this worker has address space for "));
  Call next = far_call(Layout::distant_tokens, DType::f32);
  CHECK(right->apply(next).status == ROPE_OK);
}

Call packed_call(bool in_place) {
  Case c;
  c.layout = Layout::packed;
  c.batch = c.seq = c.heads = 3;
  c.key_heads = 2;
  c.start = 5;
  c.spec.head_dim = c.spec.rotary_dim = 32;
  c.source = AngleSource::computed;
  c.in_place = in_place;
  Oracles oracles;
  return build_call(c, oracles);
}

Call apart(Call call) {
  const auto pull_apart = [](Tensor& q, Tensor& k) {
    q.placed_strides.clear();
    k.placed_strides.clear();
    k.behind_q = 0;
  };
  pull_apart(call.q, *call.k);
  if (!call.in_place) pull_apart(*call.q_out, *call.k_out);
  return call;
}

TEST_CASE("packed: a library gets q and k in one memory, and its results equal those from separate tensors") {
  const auto right = open_library(mutants, "none");
  REQUIRE(right->claims().packed_tensors);
  for (const bool in_place : {false, true}) {
    Call separate = apart(packed_call(in_place));
    REQUIRE(right->apply(separate).status == ROPE_OK);
    for (int again = 0; again < 2; ++again) {  // the second time the worker has the plan
      Call packed = packed_call(in_place);
      REQUIRE(packed.k->behind_q > 0);
      const Reply reply = right->apply(packed);
      CHECK(reply.kind == ReplyKind::done);
      CHECK(reply.status == ROPE_OK);
      CHECK(reply.detail.empty());
      CHECK(packed.q_result().bytes == separate.q_result().bytes);
      CHECK(packed.k_result().bytes == separate.k_result().bytes);
    }
  }
}

TEST_CASE("packed: a kernel that takes k for more heads of q is seen") {
  const auto wrong = open_library(mutants, "PIPE-PACKED-TWICE");
  Call separate = apart(packed_call(true));
  REQUIRE(wrong->apply(separate).status == ROPE_OK);
  Call packed = packed_call(true);
  REQUIRE(wrong->apply(packed).status == ROPE_OK);
  CHECK(packed.q.bytes == separate.q.bytes);
  CHECK(packed.k->bytes != separate.k->bytes);
}

TEST_CASE("packed: a worker that maps no page apart gets whole pages of v, as on a device") {
  Case c;
  c.layout = Layout::packed;
  c.seq = 2;
  c.heads = c.key_heads = 16;
  c.spec.head_dim = c.spec.rotary_dim = 128;  // a row of v has two pages
  c.source = AngleSource::computed;
  Oracles oracles;
  Call call = build_call(c, oracles);
  for (const bool far : {true, false}) {
    const worker::CallLayout layout = worker::lay_out(call, {1, Placement::at_end, far});
    const worker::TensorMapping& q = layout.tensors.at(0);
    const worker::TensorMapping& k = layout.tensors.at(1);
    CHECK(q.is_far() == far);
    CHECK(k.map_offset == q.map_offset);
    const std::size_t row = 16 * 128 * sizeof(float);
    CHECK(q.map_length == (far ? 4 : 5) * row);  // q, k, v, q, k
  }
}

TEST_CASE("packed: a write to the v behind k is reported") {
  const auto subject = open_library(misbehaving, "write_past_end");
  Call call = small_call();
  Tensor& q = *call.q_out;
  q.shape = {1, 2, 2, 64};
  q.bytes.resize(256 * sizeof(float));
  call.k_out = q;
  q.placed_strides = call.k_out->placed_strides = {2 * 384, 384, 64, 1};
  call.k_out->behind_q = 128;
  call.k = call.k_out;
  call.k->placed_strides.clear();
  call.k->behind_q = 0;
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK(reply.detail == "wrote between the rows of q_out, on the pages that they lie on");
}

}  // namespace
}  // namespace rope
