// The examiner runs cases on one subject for the checks, and keeps their measurements.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "golden/manifest.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/run/subject.hpp"
#include "tools/judge/run/tried.hpp"
#include "tools/judge/verdict/finding.hpp"
#include "tools/judge/verdict/trial.hpp"

namespace rope {

// The word in messages: "failed".
std::string status_name(std::int32_t status);

class Examiner {
 public:
  // `golden` may be null: then there are no golden files. `required` is the grade whose bounds decide.
  Examiner(Subject& subject, Oracles& oracles, const Manifest* golden, Grade required = {})
      : subject_(subject),
        oracles_(oracles),
        golden_(golden),
        allowed_{required, subject.claims().capabilities.theta_as_period != 0} {}

  // Makes the call. It is judged elsewhere.
  Trial run(const Case& c);
  Trial run(Call call);
  Trial run_at_start(const Case& c);  // by Subject::apply_at_start
  // By Subject::apply_concurrently; the claims must say that the subject can.
  Trial run_concurrently(const Case& c, const Case& companion);

  // If the case names calls before its own: starts a new process, if there is one to start, and makes these calls. They
  // are not judged.
  void make_earlier_calls(const Case& c);

  // The case's call, not yet run.
  Call build(const Case& c) { return build_call(c, oracles_, subject_.tensor_memory()); }

  // Runs the case's call with its fault. passed() if the kernel answers with a status other than ok, or does what the
  // fault's requirement allows instead. The message says what it did.
  Finding refusal(const Case& c);

  // run() and every element against the oracle.
  Finding accuracy(const Case& c);

  // What the case's tool of compute-sanitizer reports of its call. The first case given to will_sanitize() runs the
  // calls of all cases with its tool in one process, which is many times as fast as one process each. If the tool finds
  // something, halves of them run, down to the case that shows it. Other cases run by themselves, and so does any case
  // that is asked for a second time.
  void will_sanitize(std::span<const Case> cases);
  Finding sanitized(const Case& c);

  // Judges a trial of a case.
  Finding judge(const Case& c, const Trial& trial);

  Expectation expectation(const Case& c, const Call& call) { return {call, c.spec, oracles_, allowed_}; }
  // What the subject claims, and the grade whose bound decides.
  const Allowed& allowed() const { return allowed_; }

  Subject& subject() { return subject_; }
  Oracles& oracles() { return oracles_; }
  const Manifest* golden() const { return golden_; }
  std::int64_t calls() const { return calls_; }
  std::int64_t recovered_hangs() const { return recovered_hangs_; }  // calls with Reply::succeeded_on_retry
  const TriedCalls& tried_calls() const { return tried_calls_; }
  double kernel_seconds() const { return static_cast<double>(kernel_nanoseconds_) * 1e-9; }  // of these calls

 private:
  Reply counted(const Reply& reply);
  Trial tried(Call call, const std::function<Reply(Call&)>& apply);
  Finding under(SanitizerTool tool, std::span<const Case> cases);
  void sanitize(SanitizerTool tool, std::span<const Case> cases);

  Subject& subject_;
  Oracles& oracles_;
  const Manifest* golden_;
  const Allowed allowed_;
  std::int64_t calls_ = 0;
  std::int64_t recovered_hangs_ = 0;
  std::int64_t kernel_nanoseconds_ = 0;
  TriedCalls tried_calls_;
  std::map<SanitizerTool, std::vector<Case>> to_sanitize_;
  std::map<std::string, Finding> sanitized_;  // by the case, as text
};

// The check of requirements that ask for the right values and nothing else.
inline Finding accuracy(const Case& c, Examiner& examiner) { return examiner.accuracy(c); }

}  // namespace rope
