// The strict JSON reader on arbitrary bytes. Either there is a value of at most the allowed depth, or an InputError says
// what is wrong. What was read is written and read again as the same value.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "reference/foreign_json.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using rope::fuzz::expect;

std::size_t depth(const nlohmann::json& value) {
  std::size_t deepest = 0;
  for (const nlohmann::json& child : value) {
    if (value.is_structured()) deepest = std::max(deepest, depth(child));
  }
  return deepest + (value.is_structured() ? 1 : 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = rope::fuzz::text_of(data, size);
  rope::fuzz::refused_or_read([&] {
    const nlohmann::json value = rope::parse_json_line(text);
    expect(depth(value) <= rope::deepest_json, "a value is nested deeper than is allowed");
    expect(rope::parse_json_line(value.dump()) == value, "a value that was written reads otherwise");
    expect(nlohmann::json(rope::parse_json(text, "input")) == value, "two readers read different values");
  });
  return 0;
}
