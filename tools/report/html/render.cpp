#include "tools/report/html/render.hpp"

#include <kainjow/mustache.hpp>

#include <span>

#include "golden/sha256.hpp"
#include "reference/foreign_json.hpp"
#include "reference/input_error.hpp"
#include "tools/report/html/templates.hpp"
#include "tools/report/words.hpp"

namespace rope::html {
namespace {

namespace mustache = kainjow::mustache;

constexpr int schema = 1;
constexpr const char* partials[] = {"overview",    "subject", "requirement", "pairs",      "thetas", "rows",
                                    "heat_legend", "heatmap", "horizon",     "identified", "golden", "compared",
                                    "certified",   "histogram", "bias"};

std::string shown(std::string text) {
  for (std::size_t tab = text.find('\t'); tab != text.npos; tab = text.find('\t', tab)) text.replace(tab, 1, "    ");
  return printable(text);
}

mustache::data data_of(const Json& model) {
  switch (model.type()) {
    case Json::value_t::object: {
      mustache::data object;
      for (const auto& [key, value] : model.items()) object.set(key, data_of(value));
      return object;
    }
    case Json::value_t::array: {
      mustache::data list(mustache::data::type::list);
      for (const Json& value : model) list.push_back(data_of(value));
      return list;
    }
    case Json::value_t::string: return shown(model.get<std::string>());
    case Json::value_t::boolean: return mustache::data(model.get<bool>());
    case Json::value_t::null: return mustache::data(false);
    default: return model.dump();
  }
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j) three = three << 8 | (i + j < bytes.size() ? bytes[i + j] : 0U);
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j > bytes.size() ? '=' : digits[three >> (18 - 6 * j) & 63];
    }
  }
  return text;
}

// A browser runs this script and no other, whatever a report holds.
std::string hash_source(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  const std::string hex = sha256(std::as_bytes(std::span(text)));
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return fmt::format("'sha256-{}'", base64(bytes));
}

// JSON in a script element: no character of it can end the element.
std::string embedded(const Json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    switch (c) {
      case '<': text += "\\u003c"; break;
      case '>': text += "\\u003e"; break;
      case '&': text += "\\u0026"; break;
      default: text += c;
    }
  }
  return text;
}

}  // namespace

Json read_report(std::string_view json, const std::string& named) {
  Json report;
  try {
    report = parse_json(json, named);
  } catch (const NotJson&) {
    // Nor is it a report: said below.
  }
  if (!report.is_object() || report.value("tool", "") != "ropecheck") {
    throw InputError(fmt::format("{} is not a report of ropecheck; expected what --json writes", named));
  }
  const auto found = report.find("schema");
  if (found == report.end() || *found != schema) {
    throw InputError(fmt::format("{} has schema version {}, this ropecheck reads {}; use the ropecheck that wrote it ({})",
                                 named, found == report.end() ? "none" : found->dump(), schema,
                                 report.value("version", "version not known")));
  }
  return report;
}

std::string rendered(Json model, const Json& data) {
  const std::string_view style = part_called("style.css"), script = part_called("copy.js");
  model["policy"] = fmt::format("default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
                                hash_source(style), hash_source(script));
  mustache::data page = data_of(model);
  // These three are markup, so they keep every byte.
  page.set("style", std::string(style));
  page.set("script", std::string(script));
  if (data.is_null()) {
    page.set("data", mustache::data(false));
  } else {
    page.set("data", embedded(data));
  }
  for (const char* name : partials) {
    page.set(std::string("part-") + name, mustache::data(mustache::partial(
                       [name] { return std::string(part_called(std::string(name) + ".mustache")); })));
  }
  mustache::mustache whole{std::string(part_called("page.mustache"))};
  std::string text = whole.render(page);
  if (!whole.is_valid()) throw std::logic_error("page.mustache: " + whole.error_message());
  return text;
}

}  // namespace rope::html
