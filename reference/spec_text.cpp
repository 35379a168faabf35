// RopeSpec as text: JSON both ways, and the command line's flags. A rule's own fields() lists its parameters, so this
// file names no rule.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reference/axis_orders.hpp"
#include "reference/did_you_mean.hpp"
#include "reference/foreign_json.hpp"
#include "reference/input_error.hpp"
#include "reference/rope_spec.hpp"
#include "reference/spec_json.hpp"

namespace rope {
namespace {

// The words of an enumeration; a rule's own words are in the rule's file.
using PairingWords = std::array<std::pair<std::string_view, Pairing>, 2>;
constexpr PairingWords words(Pairing) {
  return {{{"half_split", Pairing::half_split}, {"interleaved", Pairing::interleaved}}};
}
std::vector<std::pair<std::string_view, AxisLayout::Order>> words(AxisLayout::Order) {
  std::vector<std::pair<std::string_view, AxisLayout::Order>> found;
  for (const AxisOrder& each : axis_orders()) found.emplace_back(each.word, each.order);
  return found;
}

template <class Enum>
Enum parse_word(const std::string& text, const std::string& path) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : words(Enum{})) {
    if (word == text) return value;
    known.push_back(word);
  }
  throw InputError(fmt::format("{}: \"{}\" is not known; use {}", path, text, fmt::join(known, " or ")));
}

template <class Enum>
std::string_view word_of(Enum value) {
  for (const auto& [word, candidate] : words(value)) {
    if (candidate == value) return word;
  }
  return "?";
}

template <class Enum>
void read_words(ObjectReader& reader, const std::string& key, Enum& value) {
  if (const Json* field = reader.find(key)) {
    const std::string path = reader.path() + "." + key;
    value = parse_word<Enum>(ObjectReader::convert<std::string>(*field, path), path);
  }
}

template <class Rule>
bool is_called(const Rule& rule, std::string_view text) {
  return rule.kind == text ||
         std::find(std::begin(rule.aliases), std::end(rule.aliases), text) != std::end(rule.aliases);
}

Scaling rule_called(const std::string& text, const std::string& path) {
  std::optional<Scaling> found;
  for_each_rule([&](auto rule) {
    if (!found && is_called(rule, text)) found = rule;
  });
  if (found) return *std::move(found);
  const std::vector<std::string_view> known(scaling_kinds.begin(), scaling_kinds.end());
  throw InputError(fmt::format("{}: scaling kind \"{}\" is not known; {}use one of {}", path, text,
                               did_you_mean(text, known), fmt::join(known, ", ")));
}

}  // namespace

Scaling read_scaling(const Json& object, const std::string& path, Unknown unknown, std::string_view kind_key) {
  ObjectReader reader(object, path);
  std::string kind = "none";
  reader.read("kind", kind);
  Scaling scaling = rule_called(kind, fmt::format("{}.{}", path, kind_key));
  std::visit(
      [&](auto& rule) {
        rule.fields(rule,
                    [&]<class Field>(const std::string& key, Field& value, scaling::Presence presence, scaling::Range) {
                      if (presence == scaling::Presence::required && reader.find(key) == nullptr) {
                        throw InputError(fmt::format("{}.{}: missing; scaling kind \"{}\" needs it", path, key, kind));
                      }
                      if constexpr (std::is_enum_v<Field>) {
                        read_words(reader, key, value);
                      } else {
                        reader.read(key, value);
                      }
                    });
      },
      scaling);
  if (unknown == Unknown::refused) reader.finish();
  return scaling;
}

namespace {

Json write_scaling(const Scaling& scaling) {
  return std::visit(
      [](const auto& rule) {
        Json object{{"kind", rule.kind}};
        rule.fields(rule,
                    [&]<class Field>(const std::string& key, const Field& value, scaling::Presence, scaling::Range) {
                      if constexpr (std::is_enum_v<Field>) {
                        object[key] = word_of(value);
                      } else {
                        object[key] = value;
                      }
                    });
        return object;
      },
      scaling);
}

// One word of the command line as JSON: a number, a truth value, a list a:b:c, or else a string.
Json value_from_flag(const std::string& text) {
  if (text.find(':') != std::string::npos) {
    Json list = Json::array();
    std::size_t from = 0;
    while (from <= text.size()) {
      const std::size_t to = std::min(text.find(':', from), text.size());
      list.push_back(value_from_flag(text.substr(from, to - from)));
      from = to + 1;
    }
    return list;
  }
  // All but a number or a boolean is a word, which needs no quotes on the command line. An exception for each is slow.
  if (text.find_first_of("[{\"") != std::string::npos || text == "null" || !is_json(text)) return text;
  return parse_json(text, "--scaling");
}

// A list of one value has no ':' and looks like a number; the field's type decides.
void make_lists(Json& object) {
  const auto kind = object.find("kind");
  if (kind != object.end() && !kind->is_string()) return;  // read_scaling refuses it
  const Scaling scaling = rule_called(kind == object.end() ? "none" : kind->get<std::string>(), "--scaling.kind");
  std::visit(
      [&](const auto& rule) {
        rule.fields(rule, [&]<class Field>(const std::string& key, const Field&, scaling::Presence, scaling::Range) {
          if constexpr (std::is_class_v<Field>) {
            const auto found = object.find(key);
            if (found != object.end() && !found->is_array()) *found = Json::array({*found});
          }
        });
      },
      scaling);
}

std::string value_to_flag(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> parts;
  for (const Json& item : value) parts.push_back(item.dump());
  return fmt::format("{}", fmt::join(parts, ":"));
}

}  // namespace

RopeSpec spec_from_json(std::string_view text, std::string_view where) {
  const Json document = parse_json(text, where);
  RopeSpec spec;
  ObjectReader reader(document, std::string(where));
  reader.find("$schema");
  reader.read("head_dim", spec.head_dim);
  spec.rotary_dim = spec.head_dim;
  reader.read("rotary_dim", spec.rotary_dim);
  reader.read("rotary_offset", spec.rotary_offset);
  read_words(reader, "pairing", spec.pairing);
  reader.read("base", spec.base);
  if (const Json* field = reader.find("scaling")) spec.scaling = read_scaling(*field, reader.path() + ".scaling");
  if (const Json* field = reader.find("axes")) {
    ObjectReader axes(*field, reader.path() + ".axes");
    axes.read("sections", spec.axes.sections);
    read_words(axes, "order", spec.axes.order);
    axes.read("restart", spec.axes.restart);
    axes.finish();
  }
  if (const Json* field = reader.find("attention_factor")) {
    spec.attention_factor = ObjectReader::convert<double>(*field, reader.path() + ".attention_factor");
  }
  if (const Json* field = reader.find("xpos")) {
    ObjectReader xpos(*field, reader.path() + ".xpos");
    spec.xpos.emplace();
    xpos.read("gamma", spec.xpos->gamma);
    xpos.read("scale_base", spec.xpos->scale_base);
    xpos.read("center", spec.xpos->center);
    xpos.finish();
  }
  reader.finish();
  try {
    validate(spec);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
  return spec;
}

std::string to_json(const RopeSpec& spec) {
  Json document{{"head_dim", spec.head_dim}, {"rotary_dim", spec.rotary_dim}};
  if (spec.rotary_offset != 0) document["rotary_offset"] = spec.rotary_offset;
  document["pairing"] = name(spec.pairing);
  document["base"] = spec.base;
  document["scaling"] = write_scaling(spec.scaling);
  if (!spec.axes.sections.empty()) {
    document["axes"] = {
        {"sections", spec.axes.sections}, {"order", word_of(spec.axes.order)}, {"restart", spec.axes.restart}};
  }
  if (spec.attention_factor) document["attention_factor"] = *spec.attention_factor;
  if (spec.xpos) {
    document["xpos"] = {
        {"gamma", spec.xpos->gamma}, {"scale_base", spec.xpos->scale_base}, {"center", spec.xpos->center}};
  }
  return document.dump();
}

Scaling scaling_from_flag(std::string_view text) {
  const std::string flag(text);
  Json object = Json::object();
  std::size_t from = 0;
  while (from <= flag.size()) {
    const std::size_t to = std::min(flag.find(',', from), flag.size());
    const std::string part = flag.substr(from, to - from);
    const std::size_t equals = part.find('=');
    if (from == 0 && equals == std::string::npos) {
      object["kind"] = part;
    } else if (equals == std::string::npos) {
      throw InputError(fmt::format("--scaling: \"{}\" is not of the form name=value; example: yarn,factor=4", part));
    } else {
      object[part.substr(0, equals)] = value_from_flag(part.substr(equals + 1));
    }
    from = to + 1;
  }
  make_lists(object);
  return read_scaling(object, "--scaling");
}

std::string to_flags(const RopeSpec& spec) {
  std::string flags = fmt::format("--head-dim {} --rotary-dim {}", spec.head_dim, spec.rotary_dim);
  if (spec.rotary_offset != 0) flags += fmt::format(" --rotary-offset {}", spec.rotary_offset);
  flags += fmt::format(" --pairing {} --base {}", name(spec.pairing), spec.base);
  const Json rule = write_scaling(spec.scaling);
  if (rule["kind"] != scaling::None::kind) {
    flags += " --scaling " + rule["kind"].get<std::string>();
    for (const auto& [key, value] : rule.items()) {
      if (key != "kind") flags += fmt::format(",{}={}", key, value_to_flag(value));
    }
  }
  if (!spec.axes.sections.empty()) {
    flags += fmt::format(" --axes {} --axes-order {}{}", value_to_flag(Json(spec.axes.sections)),
                         word_of(spec.axes.order), spec.axes.restart ? " --axes-restart" : "");
  }
  if (spec.attention_factor) flags += fmt::format(" --attention-factor {}", *spec.attention_factor);
  return flags;
}

}  // namespace rope
