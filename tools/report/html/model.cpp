#include "tools/report/html/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace rope::html {

double number(const Json& value) {
  if (value.is_null()) return std::nan("");
  return value.is_string() ? std::strtod(value.get_ref<const std::string&>().c_str(), nullptr) : value.get<double>();
}

std::string word(const Json& object, std::string_view key) {
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

Json fact(std::string_view name, const std::string& value) { return {{"name", name}, {"value", value}}; }

Json parts_of_case(const std::string& text) {
  Json parts = Json::array();
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size() - 1) + 1;
    parts.push_back({{"text", text.substr(from, to - from)}});
    from = to;
  }
  return parts;
}

void set_tone(Json& model, const Tone& tone) {
  model["tone"] = tone.colour;
  model["mark"] = tone.mark;
}

}  // namespace rope::html
