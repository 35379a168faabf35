// TensorMemory: where the large inputs of a call lie, if not on the heap. A subject in another process maps that memory,
// so these inputs exist once.
#pragma once

#include <cstddef>
#include <memory>

namespace rope {

// Tensors of so many bytes are not copied where it can be helped: a call at level full has some of 67 MB.
inline constexpr std::size_t large_tensor = std::size_t{4} << 20;

class TensorMemory {
 public:
  TensorMemory() = default;
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;
  virtual ~TensorMemory() = default;

  // Memory for a tensor of `bytes` bytes, `element` bytes for each element. Null means that there is no room; the
  // caller uses the heap then. The last copy may be dropped by any thread, also after this object is gone.
  virtual std::shared_ptr<std::byte[]> room(std::size_t bytes, std::size_t element) = 0;
};

}  // namespace rope
