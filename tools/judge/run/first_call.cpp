#include "tools/judge/run/first_call.hpp"

#include "tools/judge/case/build_call.hpp"

namespace rope {

std::optional<Case> plain_case(const Claims& claims, const Selection& selection) {
  constexpr int small_head = 8;
  CaseList list("", claims, selection, nullptr);
  list.for_each_variant(small_head, [&](Case c) {
    c.batch = c.seq = c.heads = 1;
    list.add(std::move(c));
  });
  const std::vector<Case> cases = list.take();
  return cases.empty() ? std::nullopt : std::optional(cases.front());
}

std::string why_no_call_runs(Subject& subject, Oracles& oracles, const Selection& selection) {
  const std::optional<Case> plain = plain_case(subject.claims(), selection);
  if (!plain) return "";
  Call call = build_call(*plain, oracles);
  return subject.apply(call).cannot_run;
}

}  // namespace rope
