#include "tools/diagnose/trigger.hpp"

#include <fmt/format.h>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/diagnose/evidence.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/fields.hpp"

namespace rope::diagnosis {
namespace {

class Isolation {
 public:
  Isolation(const Case& failing, Examiner& examiner)
      : requirement_(requirement_called(failing.requirement)),
        has_calls_before_(!failing.before.empty()),
        examiner_(examiner) {}

  // nullopt: the case cannot be made, so it says nothing.
  std::optional<bool> fails(const Case& c) const {
    try {
      validate(c.spec);
      if (!uncovered(c, examiner_.subject().claims()).empty()) return std::nullopt;
      if (!is_affordable(c)) return std::nullopt;
    } catch (const InputError&) {
      return std::nullopt;
    }
    // What the calls before left in this process would make a case without them fail, too.
    if (has_calls_before_ && c.before.empty()) examiner_.subject().renew();
    return !checked(requirement_, c, examiner_).passed();
  }

  // Finds the smallest failing position by bisection between a position that holds and one that fails.
  void smallest_start(Case& c) const {
    std::int64_t holds = 0, breaks = c.start;
    while (breaks - holds > 1) {
      Case middle = c;
      middle.start = holds + (breaks - holds) / 2;
      (fails(middle) == true ? breaks : holds) = middle.start;
    }
    c.start = breaks;
  }

 private:
  const Requirement& requirement_;
  bool has_calls_before_;
  Examiner& examiner_;
};

}  // namespace

Trigger isolate(const Case& failing, Examiner& examiner) {
  const Isolation isolation(failing, examiner);
  Trigger trigger{failing, {}, false};
  // Two rounds: a circumstance that was needed beside another may not be needed without it.
  for (int round = 0; round < 2; ++round) {
    for (const Switch& s : switches()) {
      if (!s.on(trigger.c)) continue;
      Case without = trigger.c;
      s.off(without);
      if (isolation.fails(without) == true) trigger.c = without;
    }
  }
  if (trigger.c.start > 1) isolation.smallest_start(trigger.c);
  for (const Switch& s : switches()) {
    if (!s.on(trigger.c)) continue;
    Case without = trigger.c;
    s.off(without);
    if (to_text(without) != to_text(trigger.c) && isolation.fails(without) == false) {
      trigger.needed.push_back(s.words(trigger.c));
    }
  }
  trigger.any_call = trigger.needed.empty();
  return trigger;
}

std::string words_of(const Trigger& trigger) {
  if (trigger.any_call) return "any call";
  return fmt::format("{}; it passes without any one of these", fmt::join(trigger.needed, ", "));
}

}  // namespace rope::diagnosis
