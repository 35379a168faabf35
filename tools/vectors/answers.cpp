#include "tools/vectors/answers.hpp"

#include <fmt/format.h>

#include <cstring>

#include "golden/manifest.hpp"
#include "reference/input_error.hpp"
#include "tools/judge/call/tensor_walk.hpp"

namespace rope::vectors {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

NpyArray read_response(const fs::path& folder, const Array& asked) {
  const fs::path path = folder / asked.file;
  NpyArray array = read_npy(path);
  const NpyType storage = storage_of(asked.dtype);
  if (array.type != storage) {
    throw InputError(fmt::format("{}: its dtype is \"{}\"; manifest.json asks for \"{}\", {}{}", path.string(),
                                 descr(array.type), descr(storage), rope::name(asked.dtype),
                                 asked.dtype == DType::bf16 ? " as its bits" : ""));
  }
  if (array.shape != asked.shape) {
    throw InputError(fmt::format("{}: its shape is {}; manifest.json asks for {}", path.string(),
                                 shape_text(array.shape), shape_text(asked.shape)));
  }
  return array;
}

void put(const NpyArray& array, Tensor& tensor) {
  Tensor response = Tensor::contiguous(tensor.dtype, tensor.shape);
  response.bytes = array.bytes;
  for_each_row(tensor, [&](const RowIndex& row, const std::byte*) { copy_row(tensor, row, response, row); });
}

[[noreturn]] void refuse(const Vectors& vectors, const Case& c, std::string_view what) {
  throw InputError(
      fmt::format("{}: this build of ropecheck does not make the calls of the case {} as the one that exported them "
                  "({}): {}; judge with that one, or export again",
                  vectors.folder.string(), to_text(c), vectors.version, what));
}

}  // namespace

Answers::Answers(const Vectors& vectors, std::string name) : vectors_(vectors), name_(std::move(name)) {
  for (const CaseRecord& record : vectors.cases) cases_.emplace(to_text(record.c), &record);
}

void Answers::begin(const Case& c) {
  const auto found = cases_.find(to_text(c));
  if (found == cases_.end()) {
    throw InputError(
        fmt::format("{}: the case {} is not among those that were exported", vectors_.folder.string(), to_text(c)));
  }
  current_ = found->second;
  next_ = 0;
}

Reply Answers::apply(Call& call) {
  if (current_ == nullptr) throw std::logic_error("Answers::begin was not called");
  if (next_ == current_->calls.size()) refuse(vectors_, current_->c, "it makes one more");
  const CallRecord& record = current_->calls[next_++];
  if (describe(call).record.digest != record.digest) {
    refuse(vectors_, current_->c, fmt::format("call {} has other arrays or attributes", record.id));
  }
  for (const Array& output : record.outputs) {
    const fs::path file = vectors_.folder / output.file;
    if (!is_there(file)) {
      return {ReplyKind::missing, ROPE_FAILED, fmt::format("response {} is missing", file.string()), 0};
    }
    try {
      put(read_response(vectors_.folder, output), output.name == "k_out" ? *call.k_out : *call.q_out);
    } catch (const InputError& error) {
      return {ReplyKind::malformed, ROPE_FAILED, error.what(), 0};
    }
  }
  return {};
}

Responses look_at_responses(const Vectors& vectors) {
  Responses responses;
  for (const CaseRecord& record : vectors.cases) {
    for (const CallRecord& call : record.calls) {
      for (const Array& output : call.outputs) {
        ++responses.asked_for;
        const fs::path file = vectors.folder / output.file;
        if (!is_there(file)) {
          responses.missing.push_back(file.string());
          continue;
        }
        try {
          read_response(vectors.folder, output);
        } catch (const InputError& error) {
          responses.malformed.emplace_back(error.what());
        }
      }
    }
  }
  return responses;
}

}  // namespace rope::vectors
