#include "tools/report/html/model.hpp"

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

void set_tone(Json& model, const Tone& tone) {
  model["tone"] = tone.colour;
  model["mark"] = tone.mark;
}

}  // namespace rope::html
