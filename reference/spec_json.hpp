// The common part of reading specs and model configurations. Include it only in sources: it pulls in the JSON library.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/foreign_json.hpp"
#include "reference/input_error.hpp"
#include "reference/scaling/rules.hpp"

namespace rope {

using Json = nlohmann::ordered_json;

enum class Unknown { refused, passed_over };  // fields that the rule does not have

// {"kind": "yarn", "factor": 4, ..}. Aliases of a kind are understood: "default" for "none" and so on.
// `kind_key` is what the person's file calls the kind, for messages.
Scaling read_scaling(const Json& object, const std::string& path, Unknown unknown = Unknown::refused,
                     std::string_view kind_key = "kind");

// Hands out the fields of one JSON object and remembers which. So a misspelt field is reported, not ignored.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object())
      throw InputError(fmt::format("{}: expected an object, found {}", path_, object.type_name()));
  }

  const Json* find(const std::string& key) {
    seen_.push_back(key);
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  template <class T>
  void read(const std::string& key, T& value) {
    if (const Json* field = find(key)) value = convert<T>(*field, path_ + "." + key);
  }

  template <class T>
  std::optional<T> optional(const std::string& key) {
    const Json* field = find(key);
    return field == nullptr ? std::nullopt : std::optional(convert<T>(*field, path_ + "." + key));
  }

  bool is_null(const std::string& key) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_null();
  }

  bool is_unread(const std::string& key) const { return std::find(seen_.begin(), seen_.end(), key) == seen_.end(); }

  // The fields that nobody asked for.
  std::vector<std::pair<std::string, const Json*>> unread() const {
    std::vector<std::pair<std::string, const Json*>> fields;
    for (const auto& [key, value] : object_.items()) {
      if (is_unread(key)) fields.emplace_back(key, &value);
    }
    return fields;
  }

  void finish() const {
    for (const auto& [key, value] : unread()) {
      throw InputError(fmt::format("{}: unknown field \"{}\"; known are {}", path_, key, fmt::join(seen_, ", ")));
    }
  }

  const std::string& path() const { return path_; }

  template <class T>
  static T convert(const Json& field, const std::string& path) {
    const auto wrong = [&](std::string_view expected) {
      // A flag may hold bytes that are not UTF-8.
      const std::string found = field.dump(-1, ' ', false, Json::error_handler_t::replace);
      return InputError(fmt::format("{}: expected {}, found {}", path, expected, found));
    };
    if constexpr (std::is_same_v<T, bool>) {
      if (!field.is_boolean()) throw wrong("true or false");
    } else if constexpr (std::is_integral_v<T>) {
      if (!field.is_number_integer() || field.get<std::int64_t>() != field.get<T>()) throw wrong("a whole number");
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!field.is_number()) throw wrong("a number");
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!field.is_string()) throw wrong("a string");
    } else {
      if (!field.is_array()) throw wrong("an array");
      T values;
      for (std::size_t i = 0; i < field.size(); ++i) {
        values.push_back(convert<typename T::value_type>(field[i], fmt::format("{}[{}]", path, i)));
      }
      return values;
    }
    if constexpr (!std::is_class_v<T> || std::is_same_v<T, std::string>) return field.get<T>();
  }

 private:
  const Json& object_;
  std::string path_;
  std::vector<std::string> seen_;
};

}  // namespace rope
