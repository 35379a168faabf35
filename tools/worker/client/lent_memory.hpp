// LentMemory: room for large inputs in the memory that a worker only reads, behind what is copied there for each call.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "tools/judge/call/tensor_memory.hpp"
#include "tools/worker/client/shared_memory.hpp"

namespace rope::worker {

// Where a tensor's bytes begin in its pages, and the length of these, in bytes.
struct Extent {
  std::size_t start;
  std::size_t map_length;
};

class LentMemory final : public TensorMemory {
 public:
  // Of the part of `inputs` that does not move. Without one there is never room.
  explicit LentMemory(const SharedMemory& inputs);

  // Bytes, as the kernel claims; of what is lent from now on.
  void align_to(std::size_t alignment);

  std::shared_ptr<std::byte[]> room(std::size_t bytes, std::size_t element) override;

  struct Pages {
    std::size_t offset;  // in the file
    Extent extent;
  };
  // Of a tensor that begins with what was lent here. The whole ends with its last page. Behind a part of it, that page
  // has some of the rest.
  std::optional<Pages> pages_of(const std::byte* data, std::size_t bytes) const;

  // As far as was ever lent. It stays taken as long as the file is open.
  std::size_t bytes() const;

 private:
  class Regions;
  std::shared_ptr<Regions> regions_;
};

}  // namespace rope::worker
