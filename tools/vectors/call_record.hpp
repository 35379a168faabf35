// A call as files: what a program gets, and what it must write (docs/kernel-as-files.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "golden/npy.hpp"
#include "tools/judge/call/call.hpp"

namespace rope::vectors {

// One .npy file.
struct Array {
  std::string name;  // q, k, positions, cos, sin, theta, axis; q_out, k_out
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::string file;    // relative to the folder
  std::string sha256;  // of the file; empty if the program is to write it
};

struct CallRecord {
  std::string id;
  std::string attrs;  // a JSON object, as in tools/worker/protocol/PROTOCOL.md
  std::vector<Array> inputs;
  std::vector<Array> outputs;
  std::vector<Array> expected;  // q_out, q_bound, ..; if they were requested
  std::string digest;           // of attrs, inputs and what the outputs must be
};

// The bytes of an array's file.
struct Content {
  std::string file;
  std::vector<std::byte> bytes;
};

struct DescribedCall {
  CallRecord record;
  std::vector<Content> contents;  // of the inputs in their order, then of the expected arrays
};

// The files hold the tensors in C order, whatever their strides. The record has no id yet.
DescribedCall describe(Call& call);

// Sets its id, and the files of its outputs.
void name_call(CallRecord& record, std::string id);

// An array's file is named after its content, so that equal arrays are stored once.
Array stored(std::string name, DType dtype, const NpyArray& array, std::vector<Content>& contents);

// A tensor's elements in C order.
NpyArray packed(const Tensor& tensor);

}  // namespace rope::vectors
