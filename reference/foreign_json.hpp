// JSON that others wrote: how deep it may be nested, and how long it may be. A parser keeps the nesting on a stack, and
// so does each walk through its result: deep enough, it ends the process without a word.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rope {

inline constexpr std::size_t deepest_json = 64;
inline constexpr std::size_t longest_json = std::size_t{64} << 20;  // bytes

// Why a text must not be given to a parser: "byte 64: nested more than 64 deep". Empty: it
// may be. Whether it is JSON is the parser's affair.
std::string unreadable_json(std::string_view text);

}  // namespace rope
