// How the fields of a case are written, read and copied: numbers as they are, truth as 0 or 1, enumerators by their
// words.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reference/input_error.hpp"
#include "tools/judge/case/case_words.hpp"

namespace rope {

struct FieldText {
  std::string_view name;
  std::function<std::string(const Case&)> print;
  std::function<void(Case&, const std::string&)> read;  // throws InputError
  std::vector<std::string_view> words;                  // all that it can hold; empty if there is no short list
  std::function<void(Case&, const Case& from)> copy;
};

namespace field_text {

template <class Number>
Number parse_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format("\"{}\" is not a number", text));
  }
  return value;
}

template <class Value>
std::vector<std::string_view> words() {
  std::vector<std::string_view> all;
  if constexpr (std::is_same_v<Value, bool>) all = {"0", "1"};
  if constexpr (std::is_enum_v<Value>) {
    for (const Word<Value>& known : words_of<Value>()) all.push_back(known.word);
  }
  return all;
}

template <class Value>
std::string print(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) return value ? "1" : "0";
  if constexpr (std::is_enum_v<Value>) {
    for (const Word<Value>& known : words_of<Value>()) {
      if (known.value == value) return std::string(known.word);
    }
    return "?";
  } else {
    return fmt::format("{}", value);
  }
}
std::string print(const Scaling& rule);  // as --scaling has it, with '+' for ',' because ',' separates fields; "none"
std::string print(const std::vector<int>& sections);
std::string print(const std::optional<double>& number);
std::string print(const std::vector<EarlierCall>& calls);  // "bf16:300:0+f32:3:5000": dtype, tokens, first position

template <class Value>
void read(Value& value, const std::string& text) {
  if constexpr (std::is_same_v<Value, bool>) {
    value = parse_number<int>(text) != 0;
  } else if constexpr (std::is_enum_v<Value>) {
    for (const Word<Value>& known : words_of<Value>()) {
      if (known.word == text) return void(value = known.value);
    }
    throw InputError(fmt::format("\"{}\" is not one of {}", text, fmt::join(words<Value>(), ", ")));
  } else {
    value = parse_number<Value>(text);
  }
}
void read(std::string& value, const std::string& text);
void read(Scaling& rule, const std::string& text);
void read(std::vector<int>& sections, const std::string& text);
void read(std::optional<double>& number, const std::string& text);
void read(std::vector<EarlierCall>& calls, const std::string& text);

}  // namespace field_text

// The text of one field of a case. `access`: a pointer to a member, or a function.
template <class Access>
FieldText text_of(std::string_view name, Access access) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Access, Case&>>;
  return {name, [=](const Case& c) { return field_text::print(std::invoke(access, c)); },
          [=](Case& c, const std::string& text) { field_text::read(std::invoke(access, c), text); },
          field_text::words<Value>(),
          [=](Case& c, const Case& from) { std::invoke(access, c) = std::invoke(access, from); }};
}

}  // namespace rope
