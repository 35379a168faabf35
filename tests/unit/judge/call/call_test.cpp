#include "tools/judge/call/call.hpp"

#include <catch2/catch.hpp>
#include <utility>

namespace rope {
namespace {

Call with_table_of(std::int64_t rows) {
  Call call;
  call.q = Tensor::contiguous(DType::f32, {1, 1, 1, 2});
  call.q_out = Tensor::contiguous(DType::f32, {1, 1, 1, 2});
  call.cos = Tensor::contiguous(DType::f32, {rows, 1});
  call.sin = Tensor::contiguous(DType::f32, {rows, 1});
  return call;
}

TEST_CASE("a kernel in this process gets copies of small inputs, and large ones themselves", "[call]") {
  for (const bool is_large : {false, true}) {
    INFO(is_large);
    Call call = with_table_of(is_large ? 1 << 20 : 1 << 10);
    const Call kept = call;
    const rope_call bound = bind(call);
    CHECK((bound.table.cos == kept.cos->data()) == is_large);
    CHECK((bound.table.sin == kept.sin->data()) == is_large);
    CHECK(bound.q.data != std::as_const(kept.q).data());
    CHECK(bound.table.cos == std::as_const(*call.cos).data());
  }
}

TEST_CASE("what a kernel may write is never shared", "[call]") {
  Call call = with_table_of(1);
  call.in_place = true;
  call.q_out.reset();
  call.q = Tensor::contiguous(DType::f32, {1, 1 << 11, 1 << 9, 2});
  const Call kept = call;
  const rope_call bound = bind(call);
  CHECK(bound.q.data != std::as_const(kept.q).data());
  CHECK(bound.q_out.data == bound.q.data);
  call = kept;
  call.in_place = false;
  call.q_out = call.q;
  const rope_call apart = bind(call);
  CHECK(apart.q.data == std::as_const(kept.q).data());
  CHECK(apart.q_out.data != apart.q.data);
}

}  // namespace
}  // namespace rope
