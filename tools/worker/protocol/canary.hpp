// The pattern for bytes that a kernel must not use: the gap between a tensor and the next inaccessible page. The caller
// chooses what an output holds before the call, and that travels unchanged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace rope::worker {

// The 16-bit word 0x7ff9 repeated: a NaN as f16, bf16, f32 and f64, 2147057657 as i32. A kernel that reads it visibly
// spoils its own output. Arithmetic never makes it by accident, because hardware's own NaN has other bits.
inline constexpr std::uint16_t canary_word = 0x7ff9;

// The pattern's byte at an offset in the shared memory; little endian.
inline std::byte canary_byte(std::size_t offset) {
  return static_cast<std::byte>(offset % 2 == 0 ? canary_word & 0xff : canary_word >> 8);
}

// `offset` is the first byte's offset in the shared memory, so that fill and check agree on odd starts.
inline void fill_canary(std::span<std::byte> bytes, std::size_t offset) {
  constexpr std::size_t period = sizeof canary_word;
  for (std::size_t i = 0; i < std::min(period, bytes.size()); ++i) bytes[i] = canary_byte(offset + i);
  for (std::size_t filled = period; filled < bytes.size(); filled *= 2) {
    std::memcpy(bytes.data() + filled, bytes.data(), std::min(filled, bytes.size() - filled));
  }
}

// Whether all bytes are the pattern. In a call's margins, a search byte by byte would need a millisecond.
inline bool is_intact(std::span<const std::byte> bytes, std::size_t offset) {
  constexpr std::size_t period = sizeof canary_word;
  for (std::size_t i = 0; i < std::min(period, bytes.size()); ++i) {
    if (bytes[i] != canary_byte(offset + i)) return false;
  }
  return bytes.size() <= period || std::memcmp(bytes.data(), bytes.data() + period, bytes.size() - period) == 0;
}

// Index of the first byte that is no longer the pattern; nullopt if all are.
inline std::optional<std::size_t> first_damage(std::span<const std::byte> bytes, std::size_t offset) {
  if (is_intact(bytes, offset)) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != canary_byte(offset + i)) return i;
  }
  return std::nullopt;
}

// The same, from the end.
inline std::optional<std::size_t> last_damage(std::span<const std::byte> bytes, std::size_t offset) {
  if (is_intact(bytes, offset)) return std::nullopt;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    if (bytes[i] != canary_byte(offset + i)) return i;
  }
  return std::nullopt;
}

}  // namespace rope::worker
