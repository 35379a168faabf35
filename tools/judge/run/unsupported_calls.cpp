#include "tools/judge/run/unsupported_calls.hpp"

#include <algorithm>

#include "tools/judge/case/narrower_claims.hpp"

namespace rope {
namespace {

// Of each requirement; more would only take time.
constexpr std::size_t most_unsupported = 200, most_supported = 100;

void add_some(std::vector<Case>& cases, const std::vector<Case>& more) {
  cases.insert(cases.end(), more.begin(), more.end());
}

}  // namespace

bool SupportSeen::note(const Case& c, const Finding& finding, bool decides) {
  const bool lacks_it =
      c.fault == Fault::none && finding.kind == FailureKind::status && finding.status == ROPE_UNSUPPORTED;
  decides_ = decides_ || (lacks_it && decides);
  if (lacks_it && cases_++ == 0) message_ = finding.message;
  std::vector<Case>& cases = lacks_it ? unsupported_ : supported_;
  if (cases.size() < (lacks_it ? most_unsupported : most_supported) && c.fault == Fault::none) cases.push_back(c);
  return lacks_it;
}

void SupportSeen::add(const std::string& requirement, std::int64_t failed, const SupportSeen& other) {
  if (failed > 0 && failed == other.cases_) requirements_.push_back(requirement);
  if (cases_ == 0) message_ = other.message_;
  add_some(unsupported_, other.unsupported_);
  add_some(supported_, other.supported_);
  cases_ += other.cases_;
  decides_ = decides_ || other.decides_;
}

std::optional<UnsupportedCalls> SupportSeen::of(const Claims& claims) const {
  if (!decides_) return std::nullopt;
  UnsupportedCalls result;
  result.requirements = requirements_;
  result.cases = cases_;
  result.are_all = supported_.empty();
  result.example = to_text(unsupported_.front());
  result.message = message_;
  if (const auto narrower = narrower_claims(claims, unsupported_, supported_)) result.claims = narrower->dropped;
  return result;
}

}  // namespace rope
