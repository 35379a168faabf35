// CallMemory: the two memories that a worker shares, and the way of a call's tensors into them and back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/worker/client/call_layout.hpp"
#include "tools/worker/client/lent_memory.hpp"
#include "tools/worker/client/shared_memory.hpp"

namespace rope::worker {

class CallMemory {
 public:
  // `in_parts`: the worker maps only parts that a call names, so some may be lent. Throws SubjectError.
  explicit CallMemory(bool in_parts);

  const SharedMemory& inputs() const { return inputs_; }
  const SharedMemory& outputs() const { return outputs_; }
  LentMemory& lent() { return lent_; }
  std::size_t bytes() const { return inputs_.size() + outputs_.size() + lent_.bytes(); }

  // `known`: the last call lay alike, so what is between its tensors is there already. Throws SubjectError.
  void put(const CallLayout& layout, bool known);
  // Outputs of the judged call, into its tensors. A large one leaves the memory meanwhile.
  void take_back(const CallLayout& layout);
  // Those that put() took and take_back() did not bring back are as they were before the call.
  void restore_outputs();

  std::span<std::byte> pages(const TensorMapping& placed);

 private:
  void take_back(const TensorMapping& placed);

  SharedMemory inputs_;
  LentMemory lent_;  // of inputs_
  SharedMemory outputs_;
  std::vector<Tensor*> forgotten_;  // of the call
};

}  // namespace rope::worker
