// Tensors whose rows lie gigabytes apart, in the process of a shared library.
#include <catch2/catch.hpp>

#include "tests/conformance/build_call.hpp"
#include "tests/conformance/far_tensor.hpp"
#include "tests/unit/conformance/any_case.hpp"
#include "tests/unit/worker/small_call.hpp"

namespace rope {
namespace {

using Catch::Contains;

const std::filesystem::path mutants = std::filesystem::path(ROPECHECK_BINARY_DIR) / "mutants.so";

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

// The same call with its rows where they are stored.
Call close_by(Call call) {
  for (Tensor* tensor : {&call.q, &*call.k, &*call.q_out, &*call.k_out}) tensor->far_strides.clear();
  return call;
}

TEST_CASE("far rows: a library is handed them, and its results come back as those of close ones") {
  const auto right = open_library(mutants, "none");
  REQUIRE(right->claims().far_tensors);
  for (const Layout layout : {Layout::distant_batches, Layout::distant_tokens, Layout::distant_heads}) {
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      CAPTURE(static_cast<int>(layout), name(dtype));
      Call close = close_by(far_call(layout, dtype));
      REQUIRE(right->apply(close).status == ROPE_OK);
      for (int again = 0; again < 2; ++again) {  // the second time the worker has the plan
        Call far = far_call(layout, dtype);
        REQUIRE_FALSE(far.q.far_strides.empty());
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

TEST_CASE("far rows: what is written between them, on their pages, is told") {
  const auto subject = open_library(misbehaving, "write_past_end");
  Call call = small_call();
  call.q_out->far_strides = {std::int64_t{1} << 30, 128, 64, 1};
  call.q_out->shape = {1, 2, 2, 64};  // a quarter of a page, and the kernel writes behind its last element
  call.q_out->bytes.resize(256 * sizeof(float));
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK(reply.detail == "wrote between the rows of q_out, on the pages that they lie on");
}

TEST_CASE("far rows: a tensor that no address space holds is refused by name, and the next call is served") {
  const auto right = open_library(mutants, "none");
  Call call = far_call(Layout::distant_tokens, DType::f32);
  Tensor& far = *call.q_out;
  far.far_strides[1] = std::int64_t{1} << 40;
  const std::string bytes = std::to_string(islands_of(far).back().offset + islands_of(far).back().length);
  const Reply reply = right->apply(call);
  CHECK(reply.kind == ReplyKind::crashed);
  CHECK_THAT(reply.detail, Contains("its worker gave up: tensor q_out: its rows span " + bytes +
                                    " bytes, and this worker has address space for "));
  Call next = far_call(Layout::distant_tokens, DType::f32);
  CHECK(right->apply(next).status == ROPE_OK);
}

}  // namespace
}  // namespace rope
