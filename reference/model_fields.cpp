#include "reference/model_fields.hpp"

#include <algorithm>
#include <set>

#include "reference/spec_json.hpp"

namespace rope {
namespace {

bool is_nothing(const Json& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty());
}

// As the person's file has it, and short.
std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 37) + "..";
}

// Each once. A file may have thousands of fields that nobody knows.
std::vector<std::string> first_ones(const std::vector<std::string>& sentences) {
  constexpr std::size_t most = 20;
  std::set<std::string_view> seen;
  std::vector<std::string> few;
  for (const std::string& sentence : sentences) {
    if (seen.insert(sentence).second && few.size() < most) few.push_back(sentence);
  }
  if (seen.size() > most) few.push_back(fmt::format("and {} more", seen.size() - most));
  return few;
}

// A parameter of some rule, though not of the one at hand.
bool is_parameter(const std::string& key) {
  bool found = key == "attention_factor" || key == "partial_rotary_factor";
  for_each_rule([&](auto rule) {
    rule.fields(rule, [&](std::string_view name, auto&&...) { found = found || name == key; });
  });
  return found;
}

// Whether it describes another part of the model, with a rope of its own.
bool is_another_part(const std::string& field) {
  return field == "quantization_config" || field.find("vision") != std::string::npos ||
         field.find("audio") != std::string::npos || field.find("video") != std::string::npos;
}

// "use_alibi": false, "rotary": true, or rope_interleaved as the type pairs anyway: the same as without the field.
bool says_nothing(const Json& row, std::string_view field, const Json& value) {
  if (!value.is_boolean()) return false;
  const bool is_set = value.get<bool>();
  if (field.find("alibi") != std::string_view::npos) return !is_set;
  if (field == "rope_interleave" || field == "rope_interleaved" || field == "rotary_interleaved") {
    const auto pairing = row.find("pairing");
    return pairing != row.end() && pairing->is_string() && is_set == (*pairing == "interleaved");
  }
  if (field == "use_mrope" && !row.contains("sections")) return !is_set;
  constexpr std::string_view plain[] = {"rope", "rotary", "use_rope", "use_rotary", "use_rotary_embeddings"};
  return is_set && std::ranges::find(plain, field) != std::end(plain);
}

// Such as rope_theta of DBRX's attn_config.
void note_inside(const Json& object, const std::string& path, UnreadFields& found) {
  for (const auto& [field, value] : object.items()) {
    if (is_nothing(value) || !tells_of_rope(field)) continue;
    found.doubts.push_back(fmt::format("{}.{}: {} is not understood", path, field, shown(value)));
  }
}

bool changes_numbers(const Json& row, const std::string& field) {
  const auto ropes = row.find("ropes");
  return ropes != row.end() && std::any_of(ropes->begin(), ropes->end(), [&](const Json& rope) {
           const auto other = rope.find("other");
           return other != rope.end() && std::find(other->begin(), other->end(), field) != other->end();
         });
}

}  // namespace

std::vector<std::string> UnreadFields::settled(bool accepts_guesses, const std::string& what) const {
  std::vector<std::string> all = first_ones(lines);
  const std::vector<std::string> guesses = first_ones(doubts);
  if (!guesses.empty() && !accepts_guesses) {
    throw InputError(fmt::format("{}: to read it, ropecheck has to guess: {}; give the spec by --spec, or accept the "
                                 "{} by --guess",
                                 what, fmt::join(guesses, "; "), guesses.size() == 1 ? "guess" : "guesses"));
  }
  for (const std::string& sentence : guesses) all.push_back(fmt::format("a guess: {}", sentence));
  return all;
}

std::optional<std::int64_t> length_in(ObjectReader& file, const std::string& field) {
  const auto length = file.optional<std::int64_t>(field);
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if (length && (*length < 1 || *length > most)) {
    throw InputError(fmt::format("{}.{}: {}; it must be from 1 to 2^53", file.path(), field, *length));
  }
  return length;
}

bool tells_of_rope(std::string_view field) {
  constexpr std::string_view words[] = {"rope",   "mrope", "rotary", "rot",  "theta", "thetas",
                                        "mscale", "yarn",  "ntk",    "freq", "freqs", "alibi"};
  if (field == "alpha" || field == "base" || field == "position_scale") return true;
  // max_position_embeddings begins otherwise.
  if (field.starts_with("pos_emb") || field.starts_with("position_embedding")) return true;
  while (!field.empty()) {
    const std::size_t end = std::min(field.find('_'), field.size());
    if (std::ranges::find(words, field.substr(0, end)) != std::end(words)) return true;
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return false;
}

void note_unread(const ObjectReader& file, const Json& row, const std::string& model_type, UnreadFields& found) {
  static const Json none = Json::object();
  const Json& values = row.contains("values") ? row["values"] : none;
  const Json& idle = row.contains("no_effect") ? row["no_effect"] : none;
  for (const auto& [field, value] : file.unread()) {
    if (is_nothing(*value)) continue;
    const std::string place = fmt::format("{}.{}", file.path(), field);
    if (changes_numbers(row, field)) {
      if (values.contains(field) && values[field] == *value) continue;
      throw InputError(fmt::format("{}: {} changes the frequencies of {} in a way that ropecheck does not know; give "
                                   "the spec by --spec",
                                   place, shown(*value), model_type));
    }
    if (value->is_object() && !is_another_part(field)) note_inside(*value, place, found);
    if (!tells_of_rope(field)) continue;
    if (!idle.contains(field)) {
      if (says_nothing(row, field, *value)) continue;
      found.doubts.push_back(fmt::format("{}: {} is not understood", place, shown(*value)));
    } else if (idle[field] != *value && value->is_number()) {
      found.lines.push_back(fmt::format("{}: {} is passed over: it does not change the frequencies of {}", place,
                                        shown(*value), model_type));
    } else if (idle[field] != *value) {
      found.doubts.push_back(
          fmt::format("{}: {} is not understood; {} has {}", place, shown(*value), model_type, shown(idle[field])));
    }
  }
}

void note_unread_keys(const ObjectReader& dictionary, const Json& row, const std::string& kind, UnreadFields& found) {
  const auto keys = row.find("keys");
  for (const auto& [key, value] : dictionary.unread()) {
    if (is_nothing(*value)) continue;
    const std::string place = fmt::format("{}.{}", dictionary.path(), key);
    const bool is_known = keys != row.end() && keys->contains(key);
    const bool counts =
        is_known && std::find((*keys)[key].begin(), (*keys)[key].end(), Json(kind)) != (*keys)[key].end();
    if (!counts && (is_known || is_parameter(key) || value->is_boolean())) {
      found.lines.push_back(fmt::format("{}: {} is passed over: it does not change the frequencies of rule {}", place,
                                        shown(*value), kind));
    } else {
      found.doubts.push_back(fmt::format("{}: {} is not understood", place, shown(*value)));
    }
  }
}

}  // namespace rope
