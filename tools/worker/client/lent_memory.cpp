#include "tools/worker/client/lent_memory.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "tools/worker/client/call_layout.hpp"
#include "tools/worker/protocol/canary.hpp"

namespace rope::worker {

class LentMemory::Regions {
 public:
  explicit Regions(std::shared_ptr<std::byte[]> part) : part_(std::move(part)) {}

  // The first gap that is long enough. Nullopt: none.
  std::optional<std::size_t> take(std::size_t length) {
    if (!part_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    std::size_t begin = 0;
    for (const auto& [offset, taken] : lengths_) {
      if (offset - begin >= length) break;
      begin = offset + taken;
    }
    if (length > SharedMemory::fixed_size - begin) return std::nullopt;
    lengths_[begin] = length;
    most_ = std::max(most_, begin + length);
    return begin;
  }

  void give_back(std::size_t offset) {
    const std::lock_guard lock(mutex_);
    lengths_.erase(offset);
  }

  // Where what holds this offset begins, if it is taken.
  std::optional<std::size_t> begin_of(std::size_t offset) const {
    const std::lock_guard lock(mutex_);
    const auto next = lengths_.upper_bound(offset);
    if (next == lengths_.begin()) return std::nullopt;
    const auto& [begin, length] = *std::prev(next);
    return offset < begin + length ? std::optional(begin) : std::nullopt;
  }

  std::size_t most() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

  std::byte* data() const { return part_.get(); }

  std::size_t alignment = 1;

 private:
  std::shared_ptr<std::byte[]> part_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::size_t> lengths_;  // by offset
  std::size_t most_ = 0;
};

LentMemory::LentMemory(const SharedMemory& inputs) : regions_(std::make_shared<Regions>(inputs.fixed_part())) {}

void LentMemory::align_to(std::size_t alignment) { regions_->alignment = alignment; }

std::shared_ptr<std::byte[]> LentMemory::room(std::size_t bytes, std::size_t element) {
  const auto [start, map_length] =
      extent_of(bytes, 0, std::max(regions_->alignment, element), Placement::at_end);
  const std::optional<std::size_t> offset = regions_->take(map_length);
  if (!offset) return nullptr;
  std::byte* const pages = regions_->data() + *offset;
  const std::size_t end = start + bytes;
  fill_canary({pages, start}, 0);
  fill_canary({pages + end, map_length - end}, end);
  return {pages + start, [regions = regions_, at = *offset](std::byte*) { regions->give_back(at); }};
}

std::optional<LentMemory::Pages> LentMemory::pages_of(const std::byte* data, std::size_t bytes) const {
  const std::byte* const first = regions_->data();
  if (first == nullptr || data < first || data >= first + SharedMemory::fixed_size) return std::nullopt;
  const auto at = static_cast<std::size_t>(data - first);
  const std::optional<std::size_t> begin = regions_->begin_of(at);
  if (!begin) return std::nullopt;
  const std::size_t start = at - *begin;
  return Pages{SharedMemory::fixed_offset + *begin, {start, whole_pages(start + bytes)}};
}

std::size_t LentMemory::bytes() const { return regions_->most(); }

}  // namespace rope::worker
