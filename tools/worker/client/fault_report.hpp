// What happened to a worker, in words: which tensor, which element, read or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tools/judge/run/subject.hpp"
#include "tools/worker/client/call_layout.hpp"
#include "tools/worker/protocol/address_space.hpp"

namespace rope::worker {

// How a worker ended, or what it did that ends it.
struct WorkerEnd {
  ReplyKind kind = ReplyKind::crashed;
  std::string sentence;  // without a subject: "wrote 1 element past the end of q_out (..)"
  std::optional<OutsideAccess> access = std::nullopt;  // if the sentence names a tensor of the call and an element
  bool lacks_instruction = false;                      // the machine does
};

// `fault` is the object of the worker's fault line. An access that a page of ours stopped is `misbehaved`: without the
// page it might have gone unnoticed. All else is `crashed`. Throws std::exception if the object is malformed.
WorkerEnd describe_fault(const nlohmann::json& fault, const CallLayout& layout, const AddressSpace& space);

// The end of a process that reported nothing. `disconnected`: its connection ended first.
WorkerEnd describe_end(int wait_status, bool disconnected);

// A byte that the kernel changed between the tensor and its inaccessible page, counted from the start of its pages.
WorkerEnd describe_stray_write(const TensorMapping& placed, std::size_t byte);

}  // namespace rope::worker
