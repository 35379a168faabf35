#include "tools/judge/call/row_placement.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "tools/judge/call/tensor_walk.hpp"

namespace rope {
namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// visit(bytes from the first element of the memory to the row's place, the stored row).
template <class T, class Visitor>  // Tensor or const Tensor
void for_each_placed_row(T& tensor, Visitor&& visit) {
  const std::vector<std::int64_t>& far = tensor.kernel_strides();
  const auto visit_at = [&](std::int64_t elements, auto* data) {
    visit(static_cast<std::size_t>(tensor.behind_q + elements) * size_of(tensor.dtype), data);
  };
  if (tensor.shape.size() == 4) {
    for_each_row(tensor, [&](const RowIndex& row, auto* data) {
      visit_at(row.batch * far[0] + row.seq * far[1] + row.head * far[2], data);
    });
    return;
  }
  for (std::int64_t row = tensor.absent_rows; row < tensor.shape[0]; ++row) {  // of a table
    visit_at(row * far[0], tensor.data() + row * tensor.strides[0] * static_cast<std::int64_t>(size_of(tensor.dtype)));
  }
}

std::size_t row_bytes(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.shape.back()) * size_of(tensor.dtype);
}

std::size_t packed_at(const std::vector<PageRun>& islands, std::size_t offset) {
  const auto after = std::upper_bound(islands.begin(), islands.end(), offset,
                                      [](std::size_t value, const PageRun& island) { return value < island.offset; });
  const PageRun& island = *std::prev(after);
  return island.packed + (offset - island.offset);
}

}  // namespace

std::vector<PageRun> islands_of(std::span<const Tensor* const> tensors) {
  std::map<std::size_t, std::size_t> ends;  // of page ranges, by their beginning
  for (const Tensor* tensor : tensors) {
    for_each_placed_row(*tensor, [&](std::size_t from, const std::byte*) {
      const std::size_t begin = from / page_size() * page_size();
      std::size_t& end = ends[begin];
      end = std::max(end, (from + row_bytes(*tensor) + page_size() - 1) / page_size() * page_size());
    });
  }
  std::vector<PageRun> islands;
  std::size_t packed = 0;
  for (const auto& [begin, end] : ends) {
    const std::size_t last_end = islands.empty() ? 0 : islands.back().offset + islands.back().length;
    if (!islands.empty() && begin <= last_end) {
      const std::size_t more = end > last_end ? end - last_end : 0;
      islands.back().length += more;
      packed += more;
      continue;
    }
    islands.push_back({begin, packed, end - begin});
    packed += end - begin;
  }
  return islands;
}

std::vector<PageRun> islands_of(const Tensor& tensor) {
  const Tensor* const one[] = {&tensor};
  return islands_of(one);
}

std::size_t packed_bytes(const std::vector<PageRun>& islands) {
  return islands.empty() ? 0 : islands.back().packed + islands.back().length;
}

std::size_t span_bytes(const std::vector<PageRun>& islands) {
  return islands.empty() ? 0 : islands.back().offset + islands.back().length;
}

void pack(const Tensor& tensor, const std::vector<PageRun>& islands, std::span<std::byte> packed) {
  for_each_placed_row(tensor, [&](std::size_t offset, const std::byte* data) {
    std::memcpy(packed.data() + packed_at(islands, offset), data, row_bytes(tensor));
  });
}

void unpack(std::span<const std::byte> packed, const std::vector<PageRun>& islands, Tensor& tensor) {
  for_each_placed_row(tensor, [&](std::size_t offset, std::byte* data) {
    std::memcpy(data, packed.data() + packed_at(islands, offset), row_bytes(tensor));
  });
}

PlacedRows::PlacedRows(std::vector<Tensor*> tensors)
    : tensors_(std::move(tensors)), islands_(islands_of(std::vector<const Tensor*>(tensors_.begin(), tensors_.end()))) {
  const auto fail = [](const char* what) {
    throw NoRoom(std::string(what) + ": " + std::strerror(errno) + "; if `ulimit -v` is set, lift it");
  };
  span_ = std::max(page_size(), span_bytes(islands_));
  void* base = mmap(nullptr, span_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) fail("no address space for the rows of a tensor");
  base_ = static_cast<std::byte*>(base);
  std::vector<std::byte> packed(packed_bytes(islands_));
  for (const Tensor* tensor : tensors_) pack(*tensor, islands_, packed);
  for (const PageRun& island : islands_) {
    if (mprotect(base_ + island.offset, island.length, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, span_);
      fail("no memory for the rows of a tensor");
    }
    std::memcpy(base_ + island.offset, packed.data() + island.packed, island.length);
  }
}

PlacedRows::~PlacedRows() { munmap(base_, span_); }

void* PlacedRows::first_element(const Tensor& tensor) const {
  return base_ + static_cast<std::size_t>(tensor.behind_q) * size_of(tensor.dtype);
}

void PlacedRows::read_back() const {
  std::vector<std::byte> packed(packed_bytes(islands_));
  for (const PageRun& island : islands_) {
    std::memcpy(packed.data() + island.packed, base_ + island.offset, island.length);
  }
  for (Tensor* tensor : tensors_) unpack(packed, islands_, *tensor);
}

}  // namespace rope
