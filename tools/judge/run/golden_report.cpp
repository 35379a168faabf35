#include "tools/judge/run/golden_report.hpp"

#include <algorithm>

#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

constexpr AngleSource sources[] = {AngleSource::tables, AngleSource::frequencies, AngleSource::computed};

GoldenOutcome judge(Case c, AngleSource source, Examiner& examiner) {
  GoldenOutcome outcome;
  outcome.id = c.golden;
  outcome.source = source;
  outcome.not_claimed = uncovered(c, examiner.subject().claims());
  if (outcome.not_claimed.empty()) {
    outcome.finding = golden_agreement(c, examiner);
    outcome.verdict = !outcome.finding.passed()            ? GoldenVerdict::fail
                      : outcome.finding.source_mismatches == 0 ? GoldenVerdict::identical
                                                           : GoldenVerdict::within_bound;
  }
  outcome.c = std::move(c);
  return outcome;
}

}  // namespace

std::size_t GoldenReport::count(GoldenVerdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(), [&](const GoldenOutcome& o) { return o.verdict == verdict; }));
}

std::size_t GoldenReport::count(AngleSource source, GoldenVerdict verdict) const {
  return static_cast<std::size_t>(std::count_if(outcomes.begin(), outcomes.end(), [&](const GoldenOutcome& o) {
    return o.source == source && o.verdict == verdict;
  }));
}

GoldenReport verify_golden(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements,
                           const Manifest& golden, const std::string& prefix,
                           const std::function<void(const GoldenOutcome&)>& progress, const Stop* stop) {
  GoldenReport report;
  report.subject = subject.name();
  Examiner examiner(subject, oracles, &golden);
  try {
    for (const GoldenCase& entry : golden.cases) {
      if (!entry.id.starts_with(prefix)) continue;
      bool expressible = false;
      for (std::size_t i = 0; i < std::size(sources); ++i) {
        throw_if_requested(stop);
        std::optional<Case> c = golden_case(entry, sources[i], subject.claims());
        if (!c) continue;
        expressible = true;
        c->requirement = requirements[i].id;
        report.outcomes.push_back(judge(std::move(*c), sources[i], examiner));
        if (progress) progress(report.outcomes.back());
      }
      if (!expressible) ++report.inexpressible;
    }
  } catch (const Interrupted&) {
    report.interrupted = true;
  } catch (const std::exception& error) {
    if (report.executed() == 0) throw;
    report.interrupted = true;
    report.ended_by = error.what();
  }
  return report;
}

}  // namespace rope
