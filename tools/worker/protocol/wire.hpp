// How values of rope_kernel.h are written in the worker protocol (PROTOCOL.md). Enumerators are names, masks lists of
// names, doubles the shortest form that reads back as the same bits. Used by both sides.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rope::wire {

inline constexpr int version = 1;

// A worker's exit status if its connection was closed under it. Any other program may use the number too; the parent
// reads it only together with the end of the connection.
inline constexpr int lost_connection_status = 97;

// The type of an error: the machine has no room for the call's tensors, and the kernel was not called.
inline constexpr std::string_view no_room = "no_room";

// Indexed by enumerator.
using Names = std::span<const std::string_view>;
extern const Names dtypes;      // rope_dtype
extern const Names pairings;    // rope_pairing
extern const Names directions;  // rope_direction
extern const Names sources;     // rope_angle_source
extern const Names scalings;    // rope_scaling_kind
extern const Names features;    // rope_feature
extern const Names layouts;     // rope_layout
extern const Names axis_orders; // rope_axis_order
extern const Names devices;     // rope_device

// The name in quotes. A value without a name is written as a number, so that nonsense reaches a kernel as it is.
void append_enumerator(fmt::memory_buffer& out, Names names, std::int32_t value);
// Takes both forms. Otherwise throws std::invalid_argument that shows the value.
std::int32_t enumerator(const nlohmann::json& value, Names names);

// A whole number that the type and std::int64_t hold. The JSON library would cut it to the type's width: 2^32 + 64 would
// be 64, and for 1e30 its conversion is undefined. Otherwise throws std::invalid_argument that names `key` and the value.
std::int64_t whole(const nlohmann::json& value, std::string_view key, std::int64_t least, std::int64_t most);
template <class Whole>
Whole whole(const nlohmann::json& value, std::string_view key) {
  using Limits = std::numeric_limits<Whole>;
  using Widest = std::numeric_limits<std::int64_t>;
  constexpr bool is_wider = std::cmp_greater(Limits::max(), Widest::max());
  constexpr std::int64_t most = is_wider ? Widest::max() : static_cast<std::int64_t>(Limits::max());
  return static_cast<Whole>(whole(value, key, Limits::min(), most));
}
template <class Whole>
Whole whole_in(const nlohmann::json& object, const char* key, Whole if_absent) {
  return object.contains(key) ? whole<Whole>(object.at(key), key) : if_absent;
}

// A JSON number, or "inf", "-inf", "nan", for which JSON has no numbers.
void append_double(fmt::memory_buffer& out, double value);
double to_double(const nlohmann::json& value);

// Bits without a name are left out.
nlohmann::json names_of(std::uint32_t mask, Names names);
std::uint32_t mask_of(const nlohmann::json& list, Names names);

// "a, b, c". fmt::join does the same, but g++ 12 at -O3 then warns of a write that cannot happen.
template <class Values>
std::string listed(const Values& values, std::string_view separator = ", ") {
  fmt::memory_buffer text;
  std::string_view before;
  for (const auto& value : values) {
    fmt::format_to(std::back_inserter(text), "{}{}", before, value);
    before = separator;
  }
  return fmt::to_string(text);
}

// Text that JSON, terminals and XML can carry: bytes that are not printable ASCII, newline or tab become '?'. Keeps the
// last `limit` bytes.
std::string printable(std::string_view text, std::size_t limit);

// A name of others, as reports and terminals can show it and a person can type it: "\x1b" for a control character, and
// "\u202e" for one that would turn the text around it. Longer or empty names, and names that are not UTF-8, throw
// std::invalid_argument.
inline constexpr std::size_t longest_name = 256;  // bytes
inline constexpr std::uint32_t most_kernels = 1024;  // of a library
std::string shown_name(std::string_view name);

}  // namespace rope::wire
