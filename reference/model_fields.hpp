// The fields of a model's config.json that nobody read, though their names tell of rope. So a field that changes the
// rotation is never passed over in silence.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rope {

class ObjectReader;

// Tokens, from 1 to 2^53: the rules compute with it in f64. Throws InputError.
std::optional<std::int64_t> length_in(ObjectReader& file, const std::string& field);

// "rope_theta", "rotary_pct", "alpha"; not "europe" or "lora_alpha". tests/models/model_types.py has the same words.
bool tells_of_rope(std::string_view field);

// What is said about a file: lines to print, and reasons to refuse it unless the user accepts guesses.
struct UnreadFields {
  std::vector<std::string> lines;
  std::vector<std::string> doubts;

  // All of them, the doubts as guesses. Throws InputError, which begins with `what`, if there are doubts and guesses
  // are not accepted.
  std::vector<std::string> settled(bool accepts_guesses, const std::string& what) const;
};

// Fields beside the rope's dictionary. Throws InputError for one that changes the frequencies in a way that no row
// describes.
void note_unread(const ObjectReader& file, const nlohmann::ordered_json& row, const std::string& model_type,
                 UnreadFields& found);

// Fields within the dictionary, which has the rule `kind`.
void note_unread_keys(const ObjectReader& dictionary, const nlohmann::ordered_json& row, const std::string& kind,
                      UnreadFields& found);

}  // namespace rope
