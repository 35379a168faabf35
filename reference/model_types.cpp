#include "reference/model_types.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reference/foreign_json.hpp"

namespace rope {
namespace {

constexpr std::string_view embedded =
#include "model_types.inc"
    ;

// Parsed when first asked for, which few commands do.
const nlohmann::ordered_json& table() {
  static const nlohmann::ordered_json parsed = parse_json(embedded, "the table of model types");
  return parsed;
}

}  // namespace

std::string_view transformers_version() { return table()["transformers"].get_ref<const std::string&>(); }

bool is_rule_of_transformers(std::string_view name) {
  const nlohmann::ordered_json& rules = table()["rules"];
  return std::find(rules.begin(), rules.end(), name) != rules.end();
}

const nlohmann::ordered_json* model_type_row(std::string_view model_type) {
  const nlohmann::ordered_json& types = table()["types"];
  const auto found = types.find(std::string(model_type));
  return found == types.end() ? nullptr : &*found;
}

std::vector<std::string_view> model_types_with_rope() {
  std::vector<std::string_view> names;
  for (const auto& [type, row] : table()["types"].items()) names.push_back(type);
  return names;
}

std::string reason_without_rope(std::string_view model_type) {
  for (const auto& [reason, types] : table()["refused"].items()) {
    for (const auto& type : types) {
      if (type == model_type) return reason;
    }
  }
  return "";
}

std::string model_type_of_architecture(std::string_view architecture) {
  for (const auto& [type, row] : table()["types"].items()) {
    const auto names = row.find("architectures");
    if (names == row.end()) continue;
    for (const auto& name : *names) {
      if (name == architecture) return type;
    }
  }
  return "";
}

}  // namespace rope
