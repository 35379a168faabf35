// One element beside any tensor of a call, read or written: the report names tensor and element. Also: which placement
// shows it.
#include <catch2/catch.hpp>

#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"

namespace rope {
namespace {

using Catch::StartsWith;

const std::filesystem::path library = build_folder() / "out_of_bounds.so";

// All nine tensors, each of whole pages, so that either end may lie against an inaccessible page.
Call call_with_all() {
  Call call = small_call();
  const std::vector<std::int64_t> shape{1, 1024, 1, 64};
  for (std::optional<Tensor>* tensor : {&call.k, &call.q_out, &call.k_out}) {
    *tensor = Tensor::contiguous(DType::f32, shape);
  }
  call.q = Tensor::contiguous(DType::f32, shape);
  call.positions = Tensor::contiguous(DType::i32, {1, 1, 1024});
  call.cos = Tensor::contiguous(DType::f32, {32, 32});
  call.sin = Tensor::contiguous(DType::f32, {32, 32});
  call.theta = Tensor::contiguous(DType::f64, {32});
  call.axis = Tensor::contiguous(DType::i32, {32});
  call.sequence_length = 1024;
  return call;
}

struct Tensors {
  const char* name;
  std::int64_t elements;
  std::int64_t rows;  // of a table; 0: none
  bool is_output;
};

const Tensors tensors[] = {
    {"q", 65536, 0, false},    {"k", 65536, 0, false},   {"q_out", 65536, 0, true},
    {"k_out", 65536, 0, true}, {"cos", 1024, 32, false}, {"sin", 1024, 32, false},
    {"theta", 32, 0, false},   {"axis", 32, 0, false},   {"positions", 1024, 0, false},
};

std::string sentence(const Tensors& tensor, bool write, bool past) {
  const std::string verb = write ? "wrote" : "read";
  const std::string name = tensor.name;
  if (tensor.rows > 0) {
    return verb + " " + name + (past ? " at row 32, beyond its 32 rows" : " at row -1, before its first row");
  }
  const std::string total = std::to_string(tensor.elements);
  return verb + " 1 element " + (past ? "past the end of " : "before the start of ") + name + " (element " +
         (past ? total : "-1") + " of " + total + ")";
}

TEST_CASE("out of bounds: one element beside any tensor is reported by tensor and element") {
  const Tensors& tensor = GENERATE(from_range(std::begin(tensors), std::end(tensors)));
  const bool write = GENERATE(false, true);
  const bool past = GENERATE(false, true);
  const std::string kernel = std::string(write ? "write" : "read") + (past ? "_past_" : "_before_") + tensor.name;
  INFO(kernel);
  const auto subject = open_library(library, kernel);
  const Placement against = past ? Placement::at_end : Placement::at_start;
  for (int i = 0; i < 2; ++i) {
    Call call = call_with_all();
    const Reply reply = subject->apply(call, against);
    CHECK(reply.kind == ReplyKind::misbehaved);
    CHECK_THAT(reply.detail, StartsWith(sentence(tensor, write, past) + ", in out_of_bounds.so+0x"));
  }

  // At the other end of its pages: there only a write into the same page is seen.
  Call call = call_with_all();
  const Reply reply = subject->apply(call, past ? Placement::at_start : Placement::at_end);
  const bool fills_pages = tensor.elements * 4 % 4096 == 0;
  if (write || fills_pages) {
    CHECK(reply.kind == ReplyKind::misbehaved);
    CHECK_THAT(reply.detail, StartsWith(sentence(tensor, write, past)));
  } else {
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.status == ROPE_OK);
  }
}

TEST_CASE("out of bounds: a tensor that a call does not have is not touched") {
  Call call = small_call();
  const Reply reply = open_library(library, "write_past_k_out")->apply(call);
  CHECK(reply.kind == ReplyKind::done);
  CHECK(reply.status == ROPE_OK);
  CHECK(is_right(call));
}

}  // namespace
}  // namespace rope
