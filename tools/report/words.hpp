// Words that all reports share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/judge/run/suite.hpp"

namespace rope {

// A kernel of a library that could not be started or asked for, while others of the library could.
struct RefusedSubject {
  std::string subject;
  std::string why;
};

// What subjects could touch, in words.
struct SandboxWords {
  std::string mode;                                          // "off", "on", "require"
  std::vector<std::string> applied;                          // measures: "processes", "files", ..
  std::vector<std::pair<std::string, std::string>> missing;  // and why
};

std::string sentences(const SandboxWords& words);

// What `verify` was told to do, and what came of it.
struct RunReport {
  std::string version;  // of ropecheck
  std::vector<SubjectReport> subjects;
  std::vector<std::string> not_judged;  // subjects that were not reached before the run was interrupted
  std::string machine = {};             // where it ran, in words; empty: not known
  std::string started = {};             // UTC, ISO 8601
  std::vector<RefusedSubject> refused = {};
  double time_limit = 0;  // seconds; 0: none was set
  std::optional<SandboxWords> sandbox = {};  // none: no subject ran in another process
};

std::string_view name(FailureKind kind);  // "value"
std::string_view name(Level level);       // "quick"
std::optional<Level> level_called(std::string_view word);

// As --require takes them.
std::vector<std::string> required_words(const Selection& selection);

// The finding of the worst element, if a report shows it. A share of the bound that holds says nothing beside a call
// that gave no results.
const Finding* shown_worst(const RequirementResult& result);

// The same in words: "worst 0.62 of the bound: f32, pair 3, position 1026"; empty if none was compared.
std::string worst_words(const RequirementResult& result);

// "1 case", "2 cases".
std::string counted(std::int64_t count, std::string_view thing);

std::string grade_words(const MeasuredGrade& grade);  // "grade A1, 0.97 of its bound used"
std::string horizon_words(const Horizon& horizon);    // "scores shift-invariant to 0.001 up to position .."
std::string diagnosis_words(const Diagnosis& diagnosis);  // the cause, and whether it is certain
// What the kernel computes instead: first the cause, then its evidence, trigger and rivals.
std::vector<std::string> diagnosis_lines(const Diagnosis& diagnosis);
std::vector<std::string> short_diagnosis(const Diagnosis& diagnosis);  // the cause and the trigger; at most three lines
// How much time the kernel took and where; empty if it was not slow.
std::string slow_words(const SubjectReport& report);
// Calls that hung once; empty if there were none.
std::string hang_words(std::int64_t recovered_hangs, std::int64_t calls);
// What the budget left no time for; empty if nothing.
std::string budget_words(const SubjectReport& report);
std::string conforms_without_words(const ConformsWithout& without);
std::string unsupported_words(const UnsupportedCalls& unsupported);
// The subject, and the layers of the model whose rope was judged.
std::string title_of(const std::string& subject, const Selection& selection);
std::string title_of(const SubjectReport& report);
std::string spec_words(const Selection& selection);  // as options; empty without a spec
std::string verdict_words(const SubjectReport& report);
std::string count_words(const SubjectReport& report);  // "34 passed, 0 failed, .."

// UTF-8 without control characters, except the end of a line; U+FFFD replaces everything else. Names of
// subjects are paths, and a path may hold any byte.
std::string printable(const std::string& text);

// The same on one line, with what HTML and Markdown would read as a tag written out.
std::string html_text(const std::string& text);

}  // namespace rope
