#include "tools/report/failure_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/judge/run/explain.hpp"

namespace rope {
namespace {

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same_numbers(const Failure& a, const Failure& b) {
  if (a.finding.kind != b.finding.kind || a.needs_earlier_calls != b.needs_earlier_calls) return false;
  if (a.finding.element.has_value() != b.finding.element.has_value()) return false;
  if (!a.finding.element) return headline(a.finding.message) == headline(b.finding.message);
  const Element &of_a = *a.finding.element, &of_b = *b.finding.element;
  return of_a.dtype == of_b.dtype && of_a.actual_bits == of_b.actual_bits && same_number(of_a.actual, of_b.actual) &&
         same_number(of_a.expected, of_b.expected) && same_number(of_a.bound, of_b.bound);
}

std::string case_of(const RequirementResult& result) {
  Case c = result.failure->minimal;
  c.requirement = "";
  return to_text(c);
}

bool gives_values(const RequirementResult& result) { return is_of_values(result.failure->finding.kind); }

bool is_explained(const FailureBlock& block, const std::optional<Diagnosis>& diagnosis) {
  if (!diagnosis || !diagnosis->certain) return false;
  return std::ranges::all_of(block.ids(), [&](const std::string& id) {
    return std::ranges::find(diagnosis->explained, id) != diagnosis->explained.end();
  });
}

}  // namespace

std::vector<std::string> FailureBlock::others() const {
  std::vector<std::string> ids;
  for (const RequirementResult* result : results) ids.push_back(result->id);
  ids.erase(ids.begin());
  return ids;
}

std::vector<std::string> FailureBlock::ids() const {
  std::vector<std::string> ids{first().id};
  for (const std::string& id : others()) ids.push_back(id);
  for (const RequirementResult* result : otherwise) ids.push_back(result->id);
  return ids;
}

std::vector<FailureBlock> blocks_of(const SubjectReport& report) {
  std::vector<FailureBlock> blocks;
  std::map<std::string, std::size_t> block_of_case;
  const auto is_unsupported = [&](const std::string& id) {  // the headline says it once for all of these
    return report.unsupported && std::ranges::find(report.unsupported->requirements, id) != report.unsupported->requirements.end();
  };
  for (const RequirementResult& result : report.results) {
    if (result.verdict != Verdict::fail || !result.failure || is_unsupported(result.id)) continue;
    const auto shows_the_same = [&](const FailureBlock& block) {
      return same_numbers(*block.first().failure, *result.failure);
    };
    if (const auto same = std::ranges::find_if(blocks, shows_the_same); same != blocks.end()) {
      same->results.push_back(&result);
      continue;
    }
    if (gives_values(result)) {
      const auto [other, is_new] = block_of_case.emplace(case_of(result), blocks.size());
      if (!is_new) {
        blocks[other->second].otherwise.push_back(&result);
        continue;
      }
    }
    blocks.push_back({{&result}, {}, false});
  }
  for (FailureBlock& block : blocks) block.is_explained = is_explained(block, report.diagnosis);
  const auto size = [](const FailureBlock& block) { return -std::ssize(block.ids()); };
  std::ranges::stable_sort(blocks, {}, size);
  if (!blocks.empty()) std::stable_partition(blocks.begin() + 1, blocks.end(), [](const FailureBlock& b) { return !b.is_explained; });
  return blocks;
}

}  // namespace rope
