// The strict JSON reader on arbitrary bytes, and what reads its values: a spec, a model's configuration, claims. Either
// there is a value of at most the allowed depth, or an InputError says what is wrong. What was read is written and read
// again as the same value.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "reference/foreign_json.hpp"
#include "reference/model_config.hpp"
#include "reference/rope_spec.hpp"
#include "tools/worker/protocol/claims_text.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "json_fuzz: %s\n", what);
  std::abort();
}

std::size_t depth(const nlohmann::json& value) {
  std::size_t deepest = 0;
  for (const nlohmann::json& child : value) {
    if (value.is_structured()) deepest = std::max(deepest, depth(child));
  }
  return deepest + (value.is_structured() ? 1 : 0);
}

template <class Read>
void refused_or_read(const Read& read) {
  try {
    read();
  } catch (const rope::InputError&) {
    // It says what is wrong.
  }
}

void read_claims(const nlohmann::json& value) {
  try {
    std::vector<std::int32_t> head_dims;
    rope::worker::claims_from_json(value, head_dims);
  } catch (const nlohmann::json::exception&) {
    // A member of another type, or one that is missing.
  } catch (const std::invalid_argument&) {
    // A claim that cannot be.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  refused_or_read([&] { rope::spec_from_json(text, "input"); });
  refused_or_read([&] { rope::model_config_from_json(text, "input"); });
  refused_or_read([&] {
    const nlohmann::json value = rope::parse_json_line(text);
    expect(depth(value) <= rope::deepest_json, "a value is nested deeper than is allowed");
    expect(rope::parse_json_line(value.dump()) == value, "a value that was written reads otherwise");
    expect(nlohmann::json(rope::parse_json(text, "input")) == value, "two readers read different values");
    read_claims(value);
  });
  return 0;
}
