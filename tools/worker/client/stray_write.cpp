#include "tools/worker/client/stray_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/judge/call/row_placement.hpp"
#include "tools/worker/protocol/canary.hpp"

namespace rope::worker {
namespace {

std::optional<std::string> stray_write_between_rows(const TensorMapping& placed, std::span<const std::byte> page,
                                                           const CallLayout& layout) {
  std::vector<std::byte> untouched(page.size());
  fill_canary(untouched, 0);
  for (const TensorMapping& other : layout.tensors) {  // whose rows are already back
    if (other.read_only || other.map_offset != placed.map_offset || other.islands.empty()) continue;
    pack(*other.tensor, placed.islands, untouched);
  }
  if (std::equal(page.begin(), page.end(), untouched.begin())) return std::nullopt;
  return fmt::format("wrote between the rows of {}, on the pages that they lie on", placed.name);
}

}  // namespace

std::optional<WorkerEnd> stray_write(const TensorMapping& placed, std::span<const std::byte> page,
                                     const CallLayout& layout) {
  if (!placed.islands.empty()) {
    const auto between = stray_write_between_rows(placed, page, layout);
    return between ? std::optional(WorkerEnd{ReplyKind::misbehaved, *between}) : std::nullopt;
  }
  const std::size_t end = placed.start + placed.tensor->bytes.size();
  const auto before = first_damage(page.first(placed.start), 0);
  const auto after = last_damage(page.subspan(end), end);
  if (!before && !after) return std::nullopt;
  const std::size_t byte = before ? *before : end + *after;
  return describe_stray_write(placed, byte);
}

}  // namespace rope::worker
