#include <algorithm>
#include <cmath>

#include "tools/report/html/model.hpp"
#include "tools/report/html/pictures.hpp"
#include "tools/report/words.hpp"

namespace rope::html {
namespace {

constexpr double bound_at = 40, bar_end = 100;  // of the bar in requirement.mustache
constexpr double most_decades = 18;             // beyond the bound

// Within the bound a bar is linear. Beyond it each power of ten is a step, so that it shows how far.
double bar_width(double use) {
  if (use <= 1) return bound_at * use;
  if (!std::isfinite(use)) return bar_end;
  return bound_at + (bar_end - bound_at) * std::min(1.0, std::log10(use) / most_decades);
}

struct Group {
  std::string_view verdict;
  const char* title;
  Tone tone;
  bool open;
};

// In the order of the page.
constexpr Group groups[] = {
    {"fail", "Failed", bad, true},
    {"unexpected_pass", "Passed, although listed as an expected failure", bad, true},
    {"expected_failure", "Failed, as expected", warn, true},
    {"note", "Notes: a SHOULD that does not hold", warn, false},
    {"pass", "Passed", good, false},
    {"not_judged", "Not judged", neutral, false},
    {"no_case", "Without a case", neutral, false},
    {"not_claimed", "Not claimed", neutral, false},
};

const Group& group_of(const std::string& verdict) {
  const auto found = std::ranges::find(groups, verdict, &Group::verdict);
  return found == std::end(groups) ? groups[std::size(groups) - 1] : *found;
}

std::string share_words(double use) {
  if (use == 0) return "exact";
  if (!std::isfinite(use)) return "unbounded";
  return use < 1000 ? fmt::format("{:.3g}", use) : fmt::format("{:.1e}", use);
}

// As many digits as tell two values of the type apart.
std::string decimal(double value, const std::string& dtype) {
  return dtype == "f64" ? fmt::format("{:.17g}", value) : fmt::format("{:.9g}", value);
}

Json number_row(const char* name, const std::string& value, const std::string& bits) {
  return {{"name", name}, {"decimal", value}, {"bits", bits}};
}

Json numbers_of(const Json& element) {
  if (word(element, "what") == "mean") {
    return {number_row("mean error", fmt::format("{:.3g} ulp", number(element.at("actual"))), ""),
            number_row("bound", fmt::format("{:g} ulp", number(element.at("bound"))), "")};
  }
  const std::string dtype = word(element, "dtype");
  const double error = number(element.at("error")), bound = number(element.at("bound"));
  return {number_row("expected", decimal(number(element.at("expected")), dtype), word(element, "expected_bits")),
          number_row("actual", decimal(number(element.at("actual")), dtype), word(element, "actual_bits")),
          number_row("error", fmt::format("{:.3g}", error), ""),
          number_row("bound", fmt::format("{:.3g}", bound), "")};
}

Json snippet(const char* label, const std::string& text) { return {{"label", label}, {"parts", {{{"text", text}}}}, {"wraps", false}}; }

Json case_snippet(const char* label, const std::string& text) {
  return {{"label", label}, {"parts", parts_of_case(text)}, {"wraps", true}};
}

std::string cases_words(const Json& r) {
  const auto cases = r.at("cases").get<std::int64_t>(), failed = r.at("failed").get<std::int64_t>();
  const auto left_out = r.value("left_out", std::int64_t{0});
  std::string text = failed > 0 ? fmt::format("{} of {} failed", failed, counted(cases, "case")) : counted(cases, "case");
  if (left_out > 0) text += fmt::format(", {} left out", left_out);
  return text;
}

}  // namespace

Json failure_facts(const Json& failure, Json& model, Detail detail) {
  Json facts = Json::array();
  model["message"] = word(failure, "message");
  if (failure.contains("element")) {
    facts.push_back(fact("where", word(failure["element"], "place")));
    model["numbers"] = true;
    model["number_rows"] = numbers_of(failure["element"]);
  }
  if (failure.value("needs_earlier_calls", false)) {
    facts.push_back(fact("note", "in a new process the case holds: it fails only after earlier calls"));
  }
  model["snippets"] = Json::array();
  if (failure.contains("case")) model["snippets"].push_back(case_snippet("minimal case", word(failure, "case")));
  model["snippets"].push_back(case_snippet("replay command", word(failure, "replay")));
  if (failure.contains("numpy") && detail < Detail::without_pictures) {
    model["snippets"].push_back(snippet("numpy snippet", word(failure, "numpy")));
  }
  return facts;
}

Json requirement_model(const Json& r, Detail detail) {
  const Group& group = group_of(word(r, "verdict"));
  Json model{{"id", r.at("id")}, {"sentence", r.at("sentence")}, {"message", false}, {"numbers", false},
             {"snippets", false}, {"bar", false}, {"share", ""}, {"over", false}};
  set_tone(model, group.tone);
  Json facts{fact("force", word(r, "force")), fact("cases", cases_words(r))};
  if (r.contains("worst")) {
    const double use = number(r["worst"].at("use"));
    model["share"] = share_words(use);
    model["bar"] = fmt::format("{:.1f}", bar_width(use));
    model["over"] = !(use <= 1);
    facts.push_back(fact("worst case", word(r["worst"], "case")));
    facts.push_back(fact("worst at", fmt::format("{}, {} of the bound", word(r["worst"].at("element"), "place"),
                                                 share_words(use))));
  }
  if (r.contains("lacks")) facts.push_back(fact(r.at("verdict") == "no_case" ? "why" : "needs", word(r, "lacks")));
  if (r.contains("largest_position")) {
    facts.push_back(fact("to position", std::to_string(r["largest_position"].get<std::int64_t>())));
  }
  if (r.contains("reason")) facts.push_back(fact("listed", word(r, "reason")));
  if (r.contains("undecided")) facts.push_back(fact("undecided", word(r, "undecided")));
  if (r.contains("failure")) {
    for (Json& one : failure_facts(r["failure"], model, detail)) facts.push_back(std::move(one));
  }
  model["facts"] = std::move(facts);
  const bool fails = r.contains("failure") && r["failure"].contains("element");
  if (fails || r.contains("worst")) {
    const Json& element = (fails ? r["failure"] : r["worst"]).at("element");
    if (word(element, "what") == "mean") model["bias"] = bias_picture(element);
  }
  return model;
}

Json grouped(const Json& requirements, Detail detail) {
  Json result = Json::array();
  for (const Group& group : groups) {
    Json members = Json::array();
    for (const Json& r : requirements) {
      if (&group_of(word(r, "verdict")) == &group) members.push_back(requirement_model(r, detail));
    }
    if (members.empty()) continue;
    result.push_back({{"title", fmt::format("{} ({})", group.title, members.size())},
                      {"open", group.open},
                      {"requirements", std::move(members)}});
  }
  return result;
}

}  // namespace rope::html
