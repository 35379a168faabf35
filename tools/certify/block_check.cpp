#include "tools/certify/block_check.hpp"

#include <fmt/format.h>

#include "tools/certify/values.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/judge.hpp"
#include "tools/report/finding_json.hpp"

namespace rope::certify {
namespace {

// Whether the call's tensors depend on nothing that changes from block to block.
bool differs_in_start_only(const Case& c, const Case& kept) {
  Case moved = kept;
  moved.start = c.start;
  return c.form == PositionForm::offset && c.source != AngleSource::tables && c.sequence_length > 0 &&
         !is_counted(c.input) && moved == c;
}

// The case of the head with the worst element only, where heads differ in what they hold.
Case only_worst_head(const Case& c, const Finding& finding) {
  Case one = c;
  if (!is_of_products(c.input) || c.heads == 1 || !finding.element) return one;
  one.heads = 1;
  one.seed += static_cast<std::uint64_t>(finding.element->row.head);
  return one;
}

// The kernel gave no results that could be judged: whatever else the block holds is lost with it.
bool ends_block(const Finding& finding) { return !finding.passed() && !is_of_values(finding.kind); }

// The two halves of a call's tokens, the earlier one first; those that cannot be asked for are left out.
std::vector<Case> halves(const Case& c, const Claims& claims) {
  std::vector<Case> result;
  const bool can_be_cut = c.seq > 1 && c.pattern == PositionPattern::consecutive && !is_packed(c.form);
  if (!can_be_cut) return result;
  Case first = c, second = c;
  first.seq = c.seq / 2;
  second.seq = c.seq - first.seq;
  second.start = c.start + first.seq;
  for (Case half : {first, second}) {
    if (const auto kept = claimed(half, claims)) result.push_back(*kept);
  }
  return result;
}

}  // namespace

Call BlockCheck::call_of(const Case& c) {
  if (!kept_case_ || !differs_in_start_only(c, *kept_case_)) {
    kept_call_ = examiner_.build(c);
    kept_case_ = c;
  }
  kept_call_.position_offset = c.form == PositionForm::offset ? c.start : 0;
  return kept_call_;
}

Finding BlockCheck::judged(const Kind& kind, const Trial& trial, const Case& c, UseHistogram* histogram) {
  if (!trial.ok()) return trial.problem;
  Expectation expected = examiner_.expectation(c, trial.call);
  UseHistogram of_call;
  Finding finding = judge_call(trial.call, trial.q, trial.k, expected, &of_call);
  if (!finding.passed() && kind.may_flush) {
    of_call = {};
    finding = judge_tensor("q", trial.q, without_flushed(trial.q, trial.call.q_result(), expected), expected, &of_call);
  }
  if (histogram != nullptr) histogram->add(of_call);
  return finding;
}

Finding BlockCheck::judged(const Kind& kind, const Case& c, BlockResult* result) {
  // To find a minimal case, each call gets a new process; in a block there is one for all.
  if (kind.keeps_process && result != nullptr) {
    for (const Case& earlier : earlier_cases(c)) examiner_.run(earlier);
  } else {
    examiner_.make_earlier_calls(c);
  }
  return judged(kind, examiner_.run(call_of(c)), c, result == nullptr ? nullptr : &result->histogram);
}

// The earliest half that fails, again and again. If neither does, the tokens need each other.
Json BlockCheck::failure_of(const Sweep& sweep, const Case& c, const Finding& finding) {
  const Kind& kind = kind_called(sweep.kind);
  Case minimal = c;
  Finding found = finding;
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (const Case& half : halves(minimal, examiner_.subject().claims())) {
      const Finding of_half = judged(kind, half, nullptr);
      if (of_half.passed()) continue;
      minimal = half;
      found = of_half;
      is_smaller = true;
      break;
    }
  }
  if (const Case one = only_worst_head(minimal, found); one != minimal) {
    const Finding of_head = judged(kind, one, nullptr);
    if (!of_head.passed()) {
      minimal = one;
      found = of_head;
    }
  }
  Json json = finding_json(found, minimal, examiner_.subject().name(), plan_.grade);
  json["over"] = sweep.over;
  if (kind.keeps_process && judged(kind, c, nullptr).passed()) {
    json["message"] = json["message"].get<std::string>() + "; it fails only after the earlier calls of its block";
  }
  if (minimal.seq == 1) json["position"] = minimal.start;
  return json;
}

void BlockCheck::note(const Sweep& sweep, const Case& c, const Finding& finding, BlockResult& result) {
  BlockResult of_call;
  of_call.compared = finding.compared;
  of_call.wrong = finding.wrong;
  if (finding.graded > 0) of_call.use_by_grade = finding.use_by_grade;
  if (finding.element) of_call.worst = {finding.use, to_text(c), place(*finding.element, c)};
  result.add(of_call);
  if (!finding.passed() && !result.failure) result.failure = failure_of(sweep, c, finding);
}

BlockResult BlockCheck::check(std::int64_t block) {
  const PlacedBlock at = placed(plan_, block);
  const Sweep& sweep = plan_.sweeps[at.sweep];
  const Range range = sweep.range(at.block);
  BlockResult result;
  result.block = block;
  const Kind& kind = kind_called(sweep.kind);
  if (kind.keeps_process) examiner_.subject().renew();
  const Claims& claims = examiner_.subject().claims();
  for (const Part& part : kind.parts(sweep, range)) {
    const std::optional<Case> c = claimed(part.c, claims);
    if (!c) {
      result.not_claimed += part.elements;
      continue;
    }
    const Finding finding = judged(kind, *c, &result);
    note(sweep, *c, finding, result);
    if (ends_block(finding)) break;
    result.checked += part.elements;
  }
  return result;
}

}  // namespace rope::certify
