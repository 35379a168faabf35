// Writes the two pages that repeat parts of the scaling rules, and the orders of axes: ropecheck/scalings.py for
// Python, and the rules in reference/rope_spec.schema.json. `scaling_pages ROOT` writes both. `scaling_pages ROOT
// --check COMMAND` fails if one is stale, and says that COMMAND renews it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "impls/scaling_fields.hpp"
#include "reference/axis_orders.hpp"
#include "reference/foreign_json.hpp"
#include "reference/scaling/rules.hpp"

namespace {

using Json = nlohmann::ordered_json;
using rope::scaling::Presence;
using rope::scaling::Range;

// The contract's name of a rule's field; empty if the contract does not have it.
std::string_view contract_name(std::string_view of_rule) {
  std::string_view name;
  const auto look_in = [&](const auto& fields) {
    for (const auto& field : fields) {
      if (field.of_rule == of_rule) name = field.name;
    }
  };
  look_in(rope::scaling_numbers);
  look_in(rope::scaling_modes);
  look_in(rope::scaling_lists);
  return name;
}

std::string python_page() {
  std::string text =
      "\"\"\"The scaling rules in the order of rope_scaling_kind, and the contract's names of their parameters.\n\n"
      "Written from reference/scaling/rules.hpp by tools/python/scaling_pages.cpp.\n\"\"\"\n\nPARAMETERS = {\n";
  rope::for_each_rule([&](const auto& rule) {
    std::string names;
    rule.fields(rule, [&](std::string_view key, const auto&, Presence, Range) {
      if (const auto name = contract_name(key); !name.empty()) {
        names += fmt::format("{}\"{}\",", names.empty() ? "" : " ", name);
      }
    });
    const bool several = std::ranges::count(names, ',') > 1;
    if (several) names.pop_back();
    const std::string line = fmt::format("    \"{}\": ({}),\n", rule.kind, names);
    if (line.size() <= 120) {
      text += line;
      return;
    }
    text += fmt::format("    \"{}\": (\n", rule.kind);
    for (std::size_t from = 0; from < names.size();) {
      const std::size_t to = std::min(names.find(", ", from), names.size());
      text += fmt::format("        {},\n", names.substr(from, to - from));
      from = to + 2;
    }
    text += "    ),\n";
  });
  return text +
         fmt::format("}}\n\n# Of the axes of positions, in the order of rope_axis_order.\nAXIS_ORDERS = (\"{}\")\n",
                     fmt::join(rope::axis_order_words, "\", \""));
}

Json number_schema(Range range) {
  if (range.low == 0 && range.low_is_refused && std::isinf(range.high)) return {{"$ref", "#/$defs/positive"}};
  Json schema{{"type", "number"}};
  const auto limit = [](double value) {
    return value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  if (std::isfinite(range.low)) schema[range.low_is_refused ? "exclusiveMinimum" : "minimum"] = limit(range.low);
  if (std::isfinite(range.high)) schema["maximum"] = limit(range.high);
  return schema;
}

template <class Field>
Json field_schema(const Field& value, Range range) {
  if constexpr (std::is_same_v<Field, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_enum_v<Field>) {
    Json all = Json::array();
    for (const auto& [word, meaning] : words(value)) all.push_back(word);
    return {{"enum", all}};
  } else if constexpr (std::is_class_v<Field>) {
    return {{"$ref", "#/$defs/factors"}};
  } else {
    return number_schema(range);
  }
}

template <class Rule>
Json kind_schema(const Rule& rule) {
  Json names = Json::array({rule.kind});
  for (const std::string_view alias : rule.aliases) {
    if (alias != rule.kind) names.push_back(alias);
  }
  if (names.size() == 1) return {{"const", rule.kind}};
  return {{"enum", names}};
}

template <class Rule>
Json rule_schema(const Rule& rule) {
  Json required = Json::array({"kind"});
  Json properties{{"kind", kind_schema(rule)}};
  rule.fields(rule, [&](const std::string& key, const auto& value, Presence presence, Range range) {
    if (presence == Presence::required) required.push_back(key);
    properties[key] = field_schema(value, range);
  });
  Json schema{{"type", "object"}, {"additionalProperties", false}};
  // An object without a kind is the rule none.
  if (rule.kind != rope::scaling::None::kind) schema["required"] = required;
  schema["properties"] = properties;
  return schema;
}

// The schema with new rules. Its texts for other fields, and the definitions that rules share, stay.
std::string schema_page(const std::string& present) {
  Json page = rope::parse_json(present, "the page");
  Json& definitions = page["$defs"];
  for (const Json& entry : page["properties"]["scaling"]["oneOf"]) {
    definitions.erase(entry["$ref"].get<std::string>().substr(std::string_view("#/$defs/").size()));
  }
  Json choices = Json::array();
  rope::for_each_rule([&](const auto& rule) {
    const std::string kind(rule.kind);
    choices.push_back({{"$ref", "#/$defs/" + kind}});
    definitions[kind] = rule_schema(rule);
  });
  page["properties"]["scaling"]["oneOf"] = choices;
  page["properties"]["axes"]["properties"]["order"]["enum"] = rope::axis_order_words;
  return page.dump(2) + "\n";
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && !(argc == 4 && std::string_view(argv[2]) == "--check")) {
    fmt::print(stderr, "usage: scaling_pages ROOT [--check COMMAND]\n");
    return 2;
  }
  const std::filesystem::path root = argv[1];
  const std::filesystem::path schema = root / "reference/rope_spec.schema.json";
  int status = 0;
  const std::pair<std::filesystem::path, std::string> pages[] = {
      {root / "tools/python/ropecheck/scalings.py", python_page()}, {schema, schema_page(content_of(schema))}};
  for (const auto& [path, text] : pages) {
    if (content_of(path) == text) continue;
    if (argc == 4) {
      fmt::print(stderr, "{} is stale; renew it: {}\n", path.string(), argv[3]);
      status = 1;
    } else if (!(std::ofstream(path, std::ios::binary) << text).flush()) {
      fmt::print(stderr, "{} cannot be written\n", path.string());
      status = 1;
    }
  }
  return status;
}
