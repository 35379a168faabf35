// The report model: what a template is filled with, made from a JSON report and nothing else. So a stored report and a
// new one give the same page.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tools/report/finding_json.hpp"

namespace rope::html {

// How much of a report a page has room for.
enum class Detail { all, without_data, without_pictures, verdicts };

// Where a subject stands in its page.
struct Placing {
  std::string anchor;
  int level = 1;  // of its heading
  Detail detail = Detail::all;
};

// A number of a report: JSON has no infinity and no NaN, so these are words.
double number(const Json& value);

// The value of a key, or an empty string.
std::string word(const Json& object, std::string_view key);

Json fact(std::string_view name, const std::string& value);

// A case cut behind its commas, where a line may break.
Json parts_of_case(const std::string& text);

// A colour and a mark, because a colour says nothing to some readers.
struct Tone {
  const char* colour;  // a class of style.css
  const char* mark;
};
inline constexpr Tone good{"good", "✓"}, bad{"bad", "✗"}, warn{"warn", "!"}, neutral{"none", "–"};

void set_tone(Json& model, const Tone& tone);

// The parts of a page. Each throws Json::exception for a report that lacks a field.
Json subject_model(const Json& subject, const Placing& placing);
Json requirement_model(const Json& requirement, Detail detail);
Json failure_facts(const Json& failure, Json& model, Detail detail);
Json identified_model(const Json& subject, const Json& plan, const Placing& placing);
Json golden_model(const Json& subject, const Placing& placing);

// Groups of requirements with the same verdict, those that need a look first.
Json grouped(const Json& requirements, Detail detail);

}  // namespace rope::html
