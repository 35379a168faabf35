#include "tools/report/junit.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <string>

#include "tools/judge/run/explain.hpp"
#include "tools/report/terminal.hpp"
#include "tools/report/tried_words.hpp"
#include "tools/report/words.hpp"

namespace rope {
namespace {

// Not a stream: pugixml may have been compiled with another standard library (tools/portable/packages.py).
struct StringWriter : pugi::xml_writer {
  std::string text;
  void write(const void* data, std::size_t size) override { text.append(static_cast<const char*>(data), size); }
};

// The attributes of a suite, which come before its test cases.
struct Counts {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
};

std::string seconds(double value) { return fmt::format("{:.3f}", value); }

void set(pugi::xml_node node, const char* attribute, const std::string& value) {
  node.append_attribute(attribute).set_value(printable(value).c_str());
}

void set_text(pugi::xml_node node, const std::string& value) { node.text().set(printable(value).c_str()); }

class Properties {
 public:
  explicit Properties(pugi::xml_node owner) : node_(owner.append_child("properties")) {}

  void add(const std::string& name, const std::string& value) {
    pugi::xml_node property = node_.append_child("property");
    set(property, "name", name);
    set(property, "value", value);
  }

 private:
  pugi::xml_node node_;
};

void append_counts(pugi::xml_node node, const Counts& counts, double time) {
  node.append_attribute("tests").set_value(counts.tests);
  node.append_attribute("failures").set_value(counts.failures);
  node.append_attribute("errors").set_value(counts.errors);
  node.append_attribute("skipped").set_value(counts.skipped);
  set(node, "time", seconds(time));
}

// JUnit's failure: a test found something wrong. JUnit's error: the test could not be carried out. The kernel's process
// died, hung, raised, or did what it must not, or the file for its answer does not hold one.
bool is_error(FailureKind kind) {
  return kind == FailureKind::exception || kind == FailureKind::crash || kind == FailureKind::timeout ||
         kind == FailureKind::misbehaviour || kind == FailureKind::missing || kind == FailureKind::malformed;
}

bool is_error(const RequirementResult& result) {
  return result.verdict == Verdict::fail && is_error(result.failure->finding.kind);
}

std::string details(const RequirementResult& result, const SubjectReport& report) {
  const Failure& failure = *result.failure;
  return fmt::format("{}\n{}      failed    {} of {}\n{}", result.sentence, finding_lines(failure), result.failed,
                     counted(result.cases, "case"), replay_line(failure.minimal, report.subject, report.selection.grade));
}

std::string with_reason(const std::string& text, const RequirementResult& result) {
  return result.reason.empty() ? text : text + ": " + result.reason;
}

Properties add_properties(pugi::xml_node testcase, const RequirementResult& result) {
  Properties properties(testcase);
  properties.add("requirement", result.id);
  properties.add("force", result.is_must ? "MUST" : "SHOULD");
  properties.add("verdict", std::string(name(result.verdict)));
  properties.add("cases", std::to_string(result.cases));
  properties.add("failed", std::to_string(result.failed));
  if (result.left_out > 0) properties.add("left_out", std::to_string(result.left_out));
  if (result.largest_position) properties.add("largest_position", std::to_string(*result.largest_position));
  const Finding* const worst = shown_worst(result);
  if (worst == nullptr) return properties;
  properties.add("worst_use", fmt::format("{:.6g}", worst->use));
  properties.add("worst_case", result.worst_case);
  properties.add("worst_error", fmt::format("{:.6g}", worst->element->error));
  properties.add("worst_bound", fmt::format("{:.6g}", worst->element->bound));
  return properties;
}

void add_failure(pugi::xml_node testcase, const RequirementResult& result, const SubjectReport& report) {
  const Failure& failure = *result.failure;
  pugi::xml_node node = testcase.append_child(is_error(result) ? "error" : "failure");
  set(node, "message", explain(failure));
  set(node, "type", std::string(name(failure.finding.kind)));
  set_text(node, details(result, report));
}

void add_testcase(pugi::xml_node suite, const RequirementResult& result, const SubjectReport& report) {
  pugi::xml_node testcase = suite.append_child("testcase");
  set(testcase, "classname", report.subject);
  set(testcase, "name", fmt::format("{}: {}", result.id, result.sentence));
  set(testcase, "time", seconds(result.seconds));
  Properties properties = add_properties(testcase, result);
  if (result.failure && result.failure->finding.element) {
    const Element& e = *result.failure->finding.element;
    properties.add("error", fmt::format("{:.6g}", e.error));
    properties.add("bound", fmt::format("{:.6g}", e.bound));
    properties.add("place", place(e, result.failure->minimal));
  }
  switch (result.verdict) {
    case Verdict::pass: break;
    case Verdict::fail: add_failure(testcase, result, report); break;
    case Verdict::note:
      properties.add("note", explain(*result.failure));
      set_text(testcase.append_child("system-out"), "note: " + details(result, report));
      break;
    case Verdict::not_claimed:
    case Verdict::no_case: {
      const std::string& why = result.undecided.empty() ? result.lacks : result.undecided;
      set(testcase.append_child("skipped"), "message", fmt::format("{}: {}", name(result.verdict), why));
      break;
    }
    case Verdict::not_judged: {
      const std::string budget = budget_words(report);
      set(testcase.append_child("skipped"), "message", budget.empty() ? "the run ended before it" : budget);
      break;
    }
    case Verdict::expected_failure:
      set(testcase.append_child("skipped"), "message", with_reason("expected failure", result));
      set_text(testcase.append_child("system-out"), details(result, report));
      break;
    case Verdict::unexpected_pass: {
      pugi::xml_node node = testcase.append_child("failure");
      set(node, "message", with_reason("passes, though it is expected to fail", result));
      set(node, "type", "unexpected pass");
      set_text(node, "Take it off the list of expected failures.");
      break;
    }
  }
}

// Without this, a run that ended without a verdict would look like a suite without failures.
void add_error(pugi::xml_node suite, const std::string& subject, const std::string& message) {
  pugi::xml_node testcase = suite.append_child("testcase");
  set(testcase, "classname", subject);
  set(testcase, "name", "run");
  set(testcase, "time", seconds(0));
  pugi::xml_node error = testcase.append_child("error");
  set(error, "message", message);
  set(error, "type", "incomplete");
}

bool has_no_verdict(const SubjectReport& report) {
  const bool is_incomplete = report.left_out() > 0 && report.count(Verdict::fail) == 0;
  return report.interrupted || report.executed() == 0 || is_incomplete;
}

Counts counts_of(const SubjectReport& report) {
  Counts counts;
  counts.tests = static_cast<int>(report.results.size()) + (has_no_verdict(report) ? 1 : 0);
  for (const RequirementResult& result : report.results) {
    if (is_error(result)) ++counts.errors;
  }
  counts.failures =
      static_cast<int>(report.count(Verdict::fail) + report.count(Verdict::unexpected_pass)) - counts.errors;
  counts.skipped = static_cast<int>(report.count(Verdict::not_claimed) + report.count(Verdict::no_case) +
                                    report.count(Verdict::not_judged) + report.count(Verdict::expected_failure));
  if (has_no_verdict(report)) ++counts.errors;
  return counts;
}

std::string joined(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

void add_suite(pugi::xml_node root, const SubjectReport& report) {
  pugi::xml_node suite = root.append_child("testsuite");
  set(suite, "name", title_of(report));
  append_counts(suite, counts_of(report), report.seconds);
  Properties properties(suite);
  properties.add("verdict", verdict_words(report));
  properties.add("level", std::string(name(report.selection.level)));
  properties.add("seed", std::to_string(report.selection.seed));
  properties.add("require", fmt::format("{}", fmt::join(required_words(report.selection), ",")));
  properties.add("only", fmt::format("{}", fmt::join(report.selection.only, ",")));
  if (report.selection.spec) properties.add("spec", spec_words(report.selection));
  properties.add("cases", std::to_string(report.executed()));
  properties.add("calls", std::to_string(report.calls));
  for (const MeasuredGrade& grade : report.grades) {
    properties.add(fmt::format("grade {}", name(grade.dtype)), grade_words(grade));
  }
  for (const Horizon& horizon : report.horizons) {
    properties.add(fmt::format("horizon {}", name(horizon.dtype)), horizon_words(horizon));
  }
  for (const std::string& variant : report.permitted_variants) properties.add("permitted variant", variant);
  for (const std::string& words : tried_lines(report.tried)) properties.add("tried", words);
  if (report.recovered_hangs > 0) properties.add("hangs", hang_words(report.recovered_hangs, report.calls));
  if (report.left_out() > 0) properties.add("budget", budget_words(report));
  if (report.unsupported) properties.add("unsupported", unsupported_words(*report.unsupported));
  if (report.diagnosis) properties.add("diagnosis", joined(diagnosis_lines(*report.diagnosis)));
  for (const RequirementResult& result : report.results) add_testcase(suite, result, report);
  if (has_no_verdict(report)) {
    const std::string why = report.ended_by.empty() ? "" : ": " + report.ended_by;
    add_error(suite, report.subject, verdict_words(report) + why);
  }
}

void add_not_judged(pugi::xml_node root, const std::string& subject, const std::string& why) {
  pugi::xml_node suite = root.append_child("testsuite");
  set(suite, "name", subject);
  append_counts(suite, {.tests = 1, .errors = 1}, 0);
  add_error(suite, subject, why);
}

}  // namespace

std::string junit_report(const RunReport& run) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "ropecheck " + run.version);
  Counts sum;
  double time = 0;
  for (const SubjectReport& report : run.subjects) {
    const Counts counts = counts_of(report);
    sum.tests += counts.tests;
    sum.failures += counts.failures;
    sum.errors += counts.errors;
    sum.skipped += counts.skipped;
    time += report.seconds;
  }
  const auto not_judged = static_cast<int>(run.not_judged.size() + run.refused.size());
  sum.tests += not_judged;
  sum.errors += not_judged;
  append_counts(root, sum, time);
  for (const SubjectReport& report : run.subjects) add_suite(root, report);
  for (const std::string& subject : run.not_judged) add_not_judged(root, subject, "interrupted before it was judged");
  for (const RefusedSubject& one : run.refused) add_not_judged(root, one.subject, "refused: " + one.why);
  StringWriter writer;
  document.save(writer, "  ", pugi::format_indent, pugi::encoding_utf8);
  return writer.text;
}

}  // namespace rope
