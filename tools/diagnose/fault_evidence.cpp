// Wrong calls that were not refused: which faults a kernel accepts says more than that it accepts some.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "tools/diagnose/other_evidence.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::diagnosis {
namespace {

// The failed requirements that ask for refusals.
std::vector<const RequirementResult*> unrefused(const SubjectReport& report) {
  std::vector<const RequirementResult*> found;
  for (const RequirementResult& r : report.results) {
    const bool is_failed = r.failure && r.verdict == Verdict::fail;
    if (is_failed && r.failure->minimal.fault != Fault::none) found.push_back(&r);
  }
  return found;
}

// A case that allows the fault: with tables, positions and k if the fault needs them.
Case with_fault(Case c, Fault fault) {
  if (c.fault == fault) return c;
  c.fault = fault;
  if (c.spec.axes.sections.empty()) {
    c.spec.head_dim = c.spec.rotary_dim = std::max(c.spec.head_dim, 8);
    c.spec.rotary_offset = has_need(fault, FaultNeed::rotary_offset) ? 2 : 0;
    c.spec.rotary_dim -= c.spec.rotary_offset;
  }
  c.seq = std::max(c.seq, 3);
  return c;
}

std::vector<Fault> accepted_faults(const std::vector<const RequirementResult*>& failures, Examiner& examiner) {
  std::vector<Fault> accepted;
  for (const FaultRow& known : fault_rows()) {
    if (known.fault == Fault::none) continue;
    const bool is_accepted = std::any_of(failures.begin(), failures.end(), [&](const RequirementResult* r) {
      const Case c = with_fault(r->failure->minimal, known.fault);
      return uncovered(c, examiner.subject().claims()).empty() && !examiner.refusal(c).passed();
    });
    if (is_accepted) accepted.push_back(known.fault);
  }
  return accepted;
}

BugClass class_of_faults(const std::vector<Fault>& accepted) {
  const auto has = [&](Fault f) { return std::find(accepted.begin(), accepted.end(), f) != accepted.end(); };
  const auto only = [&](std::initializer_list<Fault> faults) {
    return !accepted.empty() && std::all_of(accepted.begin(), accepted.end(), [&](Fault f) {
      return std::find(faults.begin(), faults.end(), f) != faults.end();
    });
  };
  if (only({Fault::odd_rotary_dim})) return BugClass::frequency_base;
  if (only({Fault::no_sin}) || only({Fault::no_cos})) return BugClass::table_cache;
  // The kernel counts the rows but leaves the offset out of the count. So it never checks an offset that is too large
  // or below zero (POS-13).
  if (accepted.size() == 2 && has(Fault::offset_beyond_table) && has(Fault::negative_offset)) {
    return BugClass::position_offset;
  }
  if (only({Fault::odd_table, Fault::wide_table})) return BugClass::strides_memory_race;
  return BugClass::bad_arguments;
}

}  // namespace

std::optional<Pointer> from_faults(const SubjectReport& report, Examiner& examiner) {
  const std::vector<const RequirementResult*> failures = unrefused(report);
  if (failures.empty()) return std::nullopt;
  const std::vector<Fault> accepted = accepted_faults(failures, examiner);
  Pointer pointer{{class_of_faults(accepted), "a wrong call is not refused", "", 1}, {}, ""};
  std::string& sentence = pointer.candidate.sentence;
  if (!accepted.empty()) sentence += fmt::format(": {}", row_of(accepted.front()).meaning);
  const std::size_t others = accepted.empty() ? 0 : accepted.size() - 1;
  if (others > 0) sentence += fmt::format(", and {} other fault{}", others, others == 1 ? "" : "s");
  for (const RequirementResult* r : failures) pointer.requirements.push_back(r->id);
  return pointer;
}

}  // namespace rope::diagnosis
