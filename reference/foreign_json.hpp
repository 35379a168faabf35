// The strict reader of JSON that others wrote. Nothing else in ropecheck parses such JSON
// (tests/structure/one_place.py). Include it only in sources: it pulls in the JSON library.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "reference/input_error.hpp"

namespace rope {

// Whoever walks through a value keeps its nesting on the stack. Deep enough, that ends the process without a word.
inline constexpr std::size_t deepest_json = 64;
inline constexpr std::size_t longest_json = std::size_t{64} << 20;  // bytes

class NotJson : public InputError {
 public:
  using InputError::InputError;
};

// Throws NotJson, or InputError for JSON that is too deep or too long, or has a key twice in one object: "my.json: byte
// 64: nested 65 deep; allowed are 64 levels". `where` names the source in messages.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view where);

// The same for what has no name, such as a worker's line.
nlohmann::json parse_json_line(std::string_view text);

// Whether it is JSON, of any depth: false where the others throw NotJson, which takes much longer.
bool is_json(std::string_view text);

}  // namespace rope
