// Reads one configuration by its model type's row in the table. Include it only in sources: it pulls in the JSON
// library.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/model_config.hpp"
#include "reference/model_fields.hpp"
#include "reference/spec_json.hpp"

namespace rope {

// Of a row; null if it is not there.
inline const Json& member(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

inline bool lists(const Json& row, const char* key, std::string_view word) {
  const Json& words = member(row, key);
  return std::find(words.begin(), words.end(), word) != words.end();
}

inline std::optional<double> number_in(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

// vLLM's name of the default rule with axes that are spread.
inline constexpr std::string_view openpangu = "openpangu";
// Of vision towers: each of two axes has the frequencies of half a head.
inline constexpr std::string_view axial = "axial";

class ModelReader {
 public:
  // `row` describes model_type; is_known: the row is transformers' own, not the usual one.
  ModelReader(const Json& config, const std::string& where, std::string model_type, Json row, bool is_known,
              const ModelReading& how);

  // What cannot be known. read() throws, unless guesses are accepted.
  void doubt(std::string sentence) { unread_.doubts.push_back(std::move(sentence)); }

  ModelConfig read();

 private:
  // Where the numbers of one rope come from.
  struct Source {
    std::string layers;
    const Json& row;       // how the type reads this rope
    Json mode;             // beside a dictionary, if the file has one; else the row
    Json rule;             // the rope's dictionary: of the file or, if it has none, of the class
    std::string path;      // of the dictionary
    std::string kind;      // of the rule
    std::string kind_key;  // what the file calls it
    bool is_of_file;       // the rule
    bool is_nested;        // each kind of layers has a dictionary
  };
  struct Size {
    int head_dim;
    int rotary_dim;
  };

  void assume(std::string sentence);
  void take_default(const std::string& field, const std::string& value);
  void settle_doubts();
  std::string not_known() const;
  template <class T>
  std::optional<T> first(const Json& row, const char* role);
  std::optional<double> class_value(const std::string& field) const;

  void follow_switches();
  void refuse_other_embeddings();
  void compare_head_dim();
  void place_at_end_of_head();
  void find_dictionary();
  void add(const std::string& layers, const Json& row);
  std::string rule_called(const std::string& name, const Source& source);
  void add_rope(const Source& source);
  void add_by_layer(const Source& source, const Json& thetas);
  const Json& mode_of(const Json& row) const;
  Source source_of(const std::string& layers, const Json& row) const;
  RopeSpec spec_of(Source& source);

  Size size(const Source& source);
  Size rotated_part(const Source& source, int features, std::optional<double> share);
  int head_dim(const Source& source);
  std::optional<int> head_dim_by_layer(const std::string& layers);
  std::optional<double> given_part(const Source& source);
  std::optional<double> usual_part(const Source& source) const;
  bool is_part_applied(const Source& source) const;
  double part(const Source& source);
  double base(const Source& source);
  Pairing pairing();
  void fill_lengths(Source& source);
  std::optional<double> longest(const char* reason);
  void read_rule(Source& source, RopeSpec& spec);
  void read_axes(const Source& source, ObjectReader& dictionary, RopeSpec& spec);
  void say_layers();
  void say_layers_without_rope();

  Json config_;
  ObjectReader file_;
  std::string model_type_;
  Json row_;
  bool is_known_;
  ModelReading how_;
  const Json* dictionary_ = nullptr;  // rope_scaling or rope_parameters
  std::string dictionary_path_;
  bool is_nested_ = false;
  bool is_dictionary_read_ = false;  // by any rope
  UnreadFields unread_;
  ModelConfig result_;
};

// The first of these fields that the file has. Two that differ cannot both be right.
template <class T>
std::optional<T> ModelReader::first(const Json& row, const char* role) {
  std::optional<T> found;
  std::string found_name;
  for (const Json& name : member(row, role)) {
    const auto& field = name.get_ref<const std::string&>();
    const std::optional<T> value = file_.optional<T>(field);
    if (found && value && *found != *value) {
      throw InputError(fmt::format("{}: {} is {}, {} is {}; they mean the same", file_.path(), found_name, *found,
                                   field, *value));
    }
    if (value && !found) found_name = field;
    if (!found) found = value;
  }
  return found;
}

}  // namespace rope
