// Strict reading of one JSON object: every field is asked for by name, has the right kind, and no other field remains.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/input_error.hpp"

namespace rope::json_fields {

using Json = nlohmann::ordered_json;

[[noreturn]] inline void fail(const std::string& path, const std::string& message) {
  throw InputError(fmt::format("{}: {}", path, message));
}

// Not fmt::join: with g++ 12 at -O3 it draws a false warning about the bounds of fmt's own buffer.
template <class Texts>
std::string listed(const Texts& texts) {
  std::string list;
  for (const auto& text : texts) list.append(list.empty() ? "" : ", ").append(text);
  return list;
}

// One JSON object. Every field must be asked for. `path` names the object in messages.
class Fields {
 public:
  Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) fail(path_, fmt::format("expected an object, found {}", object.type_name()));
  }

  const std::string& path() const { return path_; }
  std::string path(const char* key) const { return path_ + "." + key; }

  const Json* find(const char* key) {
    asked_.insert(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  const Json& require(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) fail(path_, fmt::format("the field \"{}\" is missing", key));
    return *value;
  }

  std::string text(const char* key) {
    const Json& value = require(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail(path(key), fmt::format("expected a text that is not empty, found {}", value.dump()));
    }
    return value.get<std::string>();
  }
  std::int64_t whole(const char* key, std::int64_t smallest = 0,
                     std::int64_t largest = std::numeric_limits<std::int64_t>::max()) {
    return whole(require(key), path(key), smallest, largest);
  }
  double negative(const char* key) {
    const Json& value = require(key);
    if (!value.is_number() || !(value.get<double>() < 0)) {
      fail(path(key), fmt::format("expected a number below 0, found {}", value.dump()));
    }
    return value.get<double>();
  }
  double positive(const char* key) {
    const Json& value = require(key);
    if (!value.is_number() || !(value.get<double>() > 0)) {
      fail(path(key), fmt::format("expected a number above 0, found {}", value.dump()));
    }
    return value.get<double>();
  }
  bool truth(const char* key) {
    const Json& value = require(key);
    if (!value.is_boolean()) fail(path(key), fmt::format("expected true or false, found {}", value.dump()));
    return value.get<bool>();
  }
  const Json& list(const char* key, std::size_t at_least) {
    const Json& value = require(key);
    if (!value.is_array() || value.size() < at_least) {
      fail(path(key), fmt::format("expected a list of at least {} entries", at_least));
    }
    return value;
  }

  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (!asked_.contains(key)) fail(path_, fmt::format("unknown field \"{}\"; known are {}", key, listed(asked_)));
    }
  }

  static std::int64_t whole(const Json& value, const std::string& path, std::int64_t smallest, std::int64_t largest) {
    const bool fits =
        value.is_number_integer() &&
        (!value.is_number_unsigned() || value.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest)) &&
        value.get<std::int64_t>() >= smallest && value.get<std::int64_t>() <= largest;
    if (!fits)
      fail(path, fmt::format("expected a whole number from {} to {}, found {}", smallest, largest, value.dump()));
    return value.get<std::int64_t>();
  }

 private:
  const Json& object_;
  std::string path_;
  std::set<std::string> asked_;
};

template <class Value>
using Choices = std::initializer_list<std::pair<std::string_view, Value>>;

template <class Value>
Value choose(Fields& fields, const char* key, Choices<Value> choices) {
  const std::string text = fields.text(key);
  std::vector<std::string_view> known;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    known.push_back(word);
  }
  fail(fields.path(key), fmt::format("\"{}\" is not known; use one of {}", text, listed(known)));
}

}  // namespace rope::json_fields
