#include "tools/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reference/input_error.hpp"
#include "tools/report/html/render.hpp"
#include "tools/report/words.hpp"

namespace rope {
namespace {

using html::number;
using html::word;
using Kind = Change::Kind;

constexpr const char* missing = "missing";  // A has it, B does not
constexpr const char* not_in_a = "not in A";
constexpr double worth_a_line = 1.1;  // an error that moved by less is noise of the last bit

// How bad a verdict is. Expected failures count as failures: a list of them says nothing about the kernel. None: it says
// nothing, because nothing was asked.
std::optional<int> badness(const std::string& verdict) {
  if (verdict == "pass" || verdict == "unexpected_pass") return 0;
  if (verdict == "note") return 1;
  if (verdict == "fail" || verdict == "expected_failure") return 2;
  return std::nullopt;
}

std::string shown(std::string verdict) {
  std::ranges::replace(verdict, '_', ' ');
  return verdict;
}

Kind kind_of(const std::string& before, const std::string& after) {
  const std::optional<int> a = badness(before), b = badness(after);
  if (a && (after == "not_judged" || after == missing)) return Kind::worse;
  // A kernel that claims less may hide what it does wrong.
  if (a && (after == "not_claimed" || after == "no_case")) return *a == 0 ? Kind::worse : Kind::other;
  if (!a || !b) return b == 2 ? Kind::worse : Kind::other;
  return *b > *a ? Kind::worse : *b < *a ? Kind::better : Kind::other;
}

const Json* find(const Json& list, const char* key, const std::string& value) {
  const auto found = std::ranges::find_if(list, [&](const Json& one) { return word(one, key) == value; });
  return found == list.end() ? nullptr : &*found;
}

// Each entry of a list that the other list has not.
template <class Visit>
void for_each_only_in(const Json& list, const Json& other, const char* key, Visit&& visit) {
  for (const Json& one : list) {
    if (find(other, key, word(one, key)) == nullptr) visit(one, word(one, key));
  }
}

void compare_requirements(const Json& a, const Json& b, SubjectComparison& result) {
  for (const Json& after : b.at("requirements")) {
    const std::string id = word(after, "id");
    const Json* before = find(a.at("requirements"), "id", id);
    if (before == nullptr) continue;
    const std::string was = word(*before, "verdict"), is = word(after, "verdict");
    if (was != is) result.changes.push_back({kind_of(was, is), id, shown(was), shown(is), word(after, "sentence")});
    if (!before->contains("worst") || !after.contains("worst")) continue;
    const double from = number((*before)["worst"].at("use")), to = number(after["worst"].at("use"));
    const bool moved = !(std::max(from, to) <= worth_a_line * std::min(from, to));
    if (from != to && moved) result.moved.push_back({id, from, to});
  }
  const Json &of_a = a.at("requirements"), &of_b = b.at("requirements");
  for_each_only_in(of_a, of_b, "id", [&](const Json& before, const std::string& id) {
    const std::string was = word(before, "verdict");
    result.changes.push_back({kind_of(was, missing), id, shown(was), missing, word(before, "sentence")});
  });
  // Another selection, or a newer ropecheck. What passes says nothing of a change.
  for_each_only_in(of_b, of_a, "id", [&](const Json& after, const std::string& id) {
    const std::string is = word(after, "verdict");
    if (badness(is).value_or(0) == 0) return;
    result.changes.push_back({Kind::other, id, not_in_a, shown(is), word(after, "sentence")});
  });
}

void compare_grades(const Json& a, const Json& b, SubjectComparison& result) {
  for (const Json& after : b.at("grades")) {
    const std::string dtype = word(after, "dtype");
    const Json* before = find(a.at("grades"), "dtype", dtype);
    if (before == nullptr) continue;
    const std::string was = word(*before, "grade"), is = word(after, "grade");
    if (was == is) continue;
    const bool worse = is.empty() || (!was.empty() && is > was);  // "A1" is better than "A2" and "B1"
    result.changes.push_back({worse ? Kind::worse : Kind::better, "grade in " + dtype, was.empty() ? "none" : was,
                              is.empty() ? "none" : is, ""});
  }
  for_each_only_in(a.at("grades"), b.at("grades"), "dtype", [&](const Json& before, const std::string& dtype) {
    const std::string was = word(before, "grade");
    result.changes.push_back({was.empty() ? Kind::other : Kind::worse, "grade in " + dtype, was.empty() ? "none" : was,
                              missing, ""});
  });
  for_each_only_in(b.at("grades"), a.at("grades"), "dtype", [&](const Json& after, const std::string& dtype) {
    const std::string is = word(after, "grade");
    result.changes.push_back({Kind::other, "grade in " + dtype, not_in_a, is.empty() ? "none" : is, ""});
  });
}

void compare_horizons(const Json& a, const Json& b, SubjectComparison& result) {
  const auto position = [](const Json& h) { return h.at("position").is_null() ? -1 : h["position"].get<std::int64_t>(); };
  const auto words = [&](const Json& h) { return position(h) < 0 ? "none" : std::to_string(position(h)); };
  for (const Json& after : b.at("horizons")) {
    const std::string dtype = word(after, "dtype");
    const Json* before = find(a.at("horizons"), "dtype", dtype);
    if (before == nullptr || position(*before) == position(after)) continue;
    const Kind kind = position(after) < position(*before) ? Kind::worse : Kind::better;
    result.changes.push_back({kind, "horizon in " + dtype, words(*before), words(after), ""});
  }
  for_each_only_in(a.at("horizons"), b.at("horizons"), "dtype", [&](const Json& before, const std::string& dtype) {
    const Kind kind = position(before) < 0 ? Kind::other : Kind::worse;
    result.changes.push_back({kind, "horizon in " + dtype, words(before), missing, ""});
  });
  for_each_only_in(b.at("horizons"), a.at("horizons"), "dtype", [&](const Json& after, const std::string& dtype) {
    result.changes.push_back({Kind::other, "horizon in " + dtype, not_in_a, words(after), ""});
  });
}

bool contains(const Json& list, const Json& value) { return std::ranges::find(list, value) != list.end(); }

// What one kernel was asked, because it claimed it, and what the other does not claim.
void compare_claims(const Json& a, const Json& b, SubjectComparison& result) {
  const Json of_a = a.value("claims", Json::array()), of_b = b.value("claims", Json::array());
  const auto add = [&](const Json& with, const Json& without, const std::string& name, const Change& change) {
    for (const Json& claim : with.at("asked")) {
      if (!contains(without.at("not_claimed"), claim)) continue;
      result.changes.push_back(change);
      result.changes.back().what = fmt::format("{}: {}", name, claim.get<std::string>());
    }
  };
  for (const Json& before : of_a) {
    const std::string kind = word(before, "kind");
    const Json* after = find(of_b, "kind", kind);
    if (after == nullptr) continue;
    add(before, *after, kind, {Kind::worse, "", "claimed", "not claimed", ""});
    add(*after, before, kind, {Kind::other, "", "not claimed", "claimed", ""});
  }
}

std::string cause(const Json& subject) {
  if (!subject.contains("diagnosis") || subject["diagnosis"].at("candidates").empty()) return "none";
  const Json& diagnosis = subject["diagnosis"];
  const Json& first = diagnosis["candidates"][0];
  const std::string condition = word(first, "condition");
  return fmt::format("{}{}{}{}", diagnosis.at("certain") ? "" : "most likely ", word(first, "sentence"),
                     condition.empty() ? "" : "; ", condition);
}

// Why a run has no verdict on all that it was to ask.
std::string cut_short(const Json& subject, const char* name) {
  if (subject.at("interrupted")) return fmt::format("{} was interrupted, so not every case was asked", name);
  if (!subject.contains("budget")) return "";
  const auto cases = subject["budget"].at("left_out").get<std::int64_t>();
  return cases > 0 ? fmt::format("{}'s budget left no time for {}", name, counted(cases, "case")) : "";
}

std::string caution_for(const Json& a, const Json& b) {
  std::string text;
  const auto add = [&](const std::string& words) {
    if (!words.empty()) text += (text.empty() ? "" : "; ") + words;
  };
  add(cut_short(a, "A"));
  add(cut_short(b, "B"));
  for (const char* field : {"level", "seed", "only", "require", "spec"}) {
    const Json from = a.value(field, Json()), to = b.value(field, Json());
    if (from != to) {
      add(fmt::format("{} differs: {} in A, {} in B; so other cases were asked", field, from.dump(), to.dump()));
      break;
    }
  }
  return text;
}

SubjectComparison compare(const Json& a, const Json& b) {
  SubjectComparison result{word(b, "subject"), {}, {}, caution_for(a, b)};
  if (word(a, "subject") != result.name) result.name = fmt::format("{} → {}", word(a, "subject"), result.name);
  compare_requirements(a, b, result);
  compare_grades(a, b, result);
  compare_horizons(a, b, result);
  compare_claims(a, b, result);
  if (cause(a) != cause(b)) result.changes.push_back({Kind::other, "diagnosis", cause(a), cause(b), ""});
  std::ranges::stable_sort(result.changes, {}, &Change::kind);
  const auto size = [](const MovedError& m) {
    const double factor = std::fabs(std::log(m.after / m.before));
    return std::isnan(factor) ? -INFINITY : -factor;
  };
  std::ranges::stable_sort(result.moved, {}, size);
  return result;
}

std::string named(const std::string& name, const Json& report) {
  const std::string started = word(report, "started");
  return fmt::format("{}: ropecheck {}{}{}", name, word(report, "version"), started.empty() ? "" : ", ", started);
}

Json report_of_verify(std::string_view text, const std::string& name) {
  Json report = html::read_report(text, name);
  for (const Json& subject : report.at("subjects")) {
    if (!subject.contains("requirements")) {
      throw InputError(fmt::format("{} has no verdicts on requirements; expected what verify --json writes", name));
    }
  }
  return report;
}

constexpr const char* word_of(Kind kind) {
  return kind == Kind::worse ? "worse" : kind == Kind::better ? "better" : "other";
}

}  // namespace

std::size_t Comparison::count(Change::Kind kind) const {
  std::size_t number = 0;
  for (const SubjectComparison& subject : subjects) {
    number += static_cast<std::size_t>(std::ranges::count(subject.changes, kind, &Change::kind));
  }
  return number;
}

bool Comparison::is_worse() const { return count(Kind::worse) > 0; }

Comparison compared(std::string_view before, const std::string& before_name, std::string_view after,
                    const std::string& after_name) try {
  const Json a = report_of_verify(before, before_name), b = report_of_verify(after, after_name);
  Comparison result{named(before_name, a), named(after_name, b), {}};
  const Json &of_a = a.at("subjects"), &of_b = b.at("subjects");
  const bool by_place = of_a.size() == 1 && of_b.size() == 1;
  for (const Json& subject : of_b) {
    const Json* same = by_place ? &of_a[0] : find(of_a, "subject", word(subject, "subject"));
    if (same != nullptr) {
      result.subjects.push_back(compare(*same, subject));
    } else {
      result.subjects.push_back({word(subject, "subject"), {{Kind::other, "subject", "not judged", "new", ""}}, {}, ""});
    }
  }
  for (const Json& subject : of_a) {
    if (by_place || find(of_b, "subject", word(subject, "subject")) != nullptr) continue;
    result.subjects.push_back({word(subject, "subject"), {{Kind::worse, "subject", "judged", "missing", ""}}, {}, ""});
  }
  return result;
} catch (const Json::exception& error) {
  throw InputError(fmt::format("{} or {} is not a complete report: {}", before_name, after_name, error.what()));
}

std::string verdict_words(const Comparison& comparison) {
  const std::size_t worse = comparison.count(Kind::worse), better = comparison.count(Kind::better);
  if (worse + better == 0) return "nothing got worse or better";
  return fmt::format("{} got worse, {} got better", worse == 0 ? "nothing" : std::to_string(worse),
                     better == 0 ? "nothing" : std::to_string(better));
}

std::string change_words(const SubjectComparison& subject) {
  std::string text = subject.changes.empty() ? "no verdict changed" : "";
  for (const Kind kind : {Kind::worse, Kind::better, Kind::other}) {
    const auto number = std::ranges::count(subject.changes, kind, &Change::kind);
    if (number > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, word_of(kind));
  }
  text += fmt::format("; {} moved by more than a tenth", counted(std::ssize(subject.moved), "worst error"));
  return subject.caution.empty() ? text : fmt::format("{}. {}", text, subject.caution);
}

std::string comparison_text(const Comparison& comparison) {
  constexpr std::size_t most_moved = 10;
  std::string text = fmt::format("A  {}\nB  {}\n", comparison.before, comparison.after);
  for (const SubjectComparison& subject : comparison.subjects) {
    text += fmt::format("{}: {}\n", subject.name, change_words(subject));
    for (const Change& change : subject.changes) {
      text += fmt::format("  {:<7} {:<16} {} → {}\n", word_of(change.kind), change.what, change.before, change.after);
    }
    for (std::size_t i = 0; i < std::min(subject.moved.size(), most_moved); ++i) {
      const MovedError& m = subject.moved[i];
      text += fmt::format("  moved   {:<16} {:.3g} → {:.3g} of the bound\n", m.what, m.before, m.after);
    }
    if (subject.moved.size() > most_moved) {
      text += fmt::format("  moved   and {} more\n", subject.moved.size() - most_moved);
    }
  }
  return text + fmt::format("{}\n", verdict_words(comparison));
}

}  // namespace rope
