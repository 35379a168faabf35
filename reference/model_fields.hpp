// The fields of a model's config.json that nobody read, though their names tell of rope. So a field that changes the
// rotation is never passed over in silence.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace rope {

class ObjectReader;

// "rope_theta", "rotary_pct", "alpha"; not "europe" or "lora_alpha". tests/models/model_types.py has the same words.
bool tells_of_rope(std::string_view field);

// What is said about them: lines to print, and reasons to refuse the file unless the user accepts guesses.
struct UnreadFields {
  std::vector<std::string> lines;
  std::vector<std::string> doubts;
};

// Fields beside the rope's dictionary. Throws InputError for one that changes the frequencies in a way that no row
// describes.
void note_unread(const ObjectReader& file, const nlohmann::ordered_json& row, const std::string& model_type,
                 UnreadFields& found);

// Fields within the dictionary, which has the rule `kind`.
void note_unread_keys(const ObjectReader& dictionary, const nlohmann::ordered_json& row, const std::string& kind,
                      UnreadFields& found);

}  // namespace rope
