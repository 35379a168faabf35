// A call as files: what a program is given, and what it has to write (docs/kernel-as-files.md).
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
  std::string sha256;  // of the file; empty where the program is to write it
};

struct CallRecord {
  std::string id;
  std::string attrs;  // a JSON object, as in tools/worker/protocol/PROTOCOL.md
  std::vector<Array> inputs;
  std::vector<Array> outputs;
  std::vector<Array> expected;  // q_out, q_bound, ..; where they were asked for
  std::string digest;           // of attrs, inputs and what the outputs are to be
};

// The bytes of the file of an array.
struct Content {
  std::string file;
  std::vector<std::byte> bytes;
};

struct DescribedCall {
  CallRecord record;
  std::vector<Content> contents;  // of the inputs in their order, then of what is expected
};

// Whatever the tensors' strides, the files hold them in C order. The record has no id yet.
DescribedCall describe(Call& call);

// Gives it the id, and its outputs their files.
void name_call(CallRecord& record, std::string id);

// The file of an array is called after its content, so that equal arrays are stored once.
Array stored(std::string name, DType dtype, const NpyArray& array, std::vector<Content>& contents);

// A tensor's elements in C order.
NpyArray packed(const Tensor& tensor);

}  // namespace rope::vectors
