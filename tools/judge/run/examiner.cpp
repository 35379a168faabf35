#include "tools/judge/run/examiner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tools/judge/run/wrong_position.hpp"
#include "tools/judge/verdict/judge.hpp"

namespace rope {
std::string status_name(std::int32_t status) {
  switch (status) {
    case ROPE_OK: return "ok";
    case ROPE_UNSUPPORTED: return "unsupported";
    case ROPE_INVALID_ARGUMENT: return "invalid_argument";
    case ROPE_FAILED: return "failed";
    default: return fmt::format("{}, which is not a rope_status", status);
  }
}

namespace {

Finding problem(FailureKind kind, std::string message) {
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  return finding;
}

FailureKind kind_of_reply(ReplyKind kind) {
  switch (kind) {
    case ReplyKind::crashed: return FailureKind::crash;
    case ReplyKind::timed_out: return FailureKind::timeout;
    case ReplyKind::misbehaved: return FailureKind::misbehaviour;
    case ReplyKind::missing: return FailureKind::missing;
    case ReplyKind::malformed: return FailureKind::malformed;
    case ReplyKind::done: break;
  }
  return FailureKind::none;
}

Finding problem_of(const Reply& reply) {
  if (reply.raised) {
    Finding finding = problem(FailureKind::exception, reply.detail);
    finding.raised = reply.raised;
    return finding;
  }
  if (reply.kind != ReplyKind::done) {
    Finding finding = problem(kind_of_reply(reply.kind), reply.detail);
    finding.access = reply.access;
    finding.breaks_mode = reply.breaks_mode;
    return finding;
  }
  if (reply.status == ROPE_OK) return {};
  Finding finding = problem(FailureKind::status,
                            fmt::format("the kernel claims this case and answered {}{}{}", status_name(reply.status),
                                        reply.detail.empty() ? "" : ": ", reply.detail));
  finding.status = reply.status;
  return finding;
}

std::ptrdiff_t written_bytes(const std::byte* first, std::size_t count) {
  return std::count_if(first, first + count, [](std::byte b) { return b != canary; });
}

// Whether all bytes that are not the canary belong to elements, which do not overlap.
bool only_elements_are_written(const Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype);
  std::ptrdiff_t of_elements = 0;
  for_each_row(tensor, [&](const RowIndex&, const std::byte* data) {
    if (tensor.strides[3] == 1) {
      of_elements += written_bytes(data, static_cast<std::size_t>(tensor.shape[3]) * size);
      return;
    }
    for (std::int64_t j = 0; j < tensor.shape[3]; ++j) {
      of_elements += written_bytes(data + j * feature_step(tensor), size);
    }
  });
  return of_elements == written_bytes(tensor.bytes.data(), tensor.bytes.size());
}

// Checks the bytes between the elements of a strided output, which nobody may write.
Finding padding_of(const std::string& name, const Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype);
  if (tensor.bytes.size() == static_cast<std::size_t>(tensor.count()) * size) return {};
  if (only_elements_are_written(tensor)) return {};
  // Blanks out the elements; what remains is the padding.
  Tensor rest = tensor;
  for_each_row(rest, [&](const RowIndex&, std::byte* data) {
    for (std::int64_t j = 0; j < rest.shape[3]; ++j) {
      std::memset(data + j * feature_step(rest), static_cast<int>(canary), size);
    }
  });
  const auto written = std::find_if(rest.bytes.begin(), rest.bytes.end(), [](std::byte b) { return b != canary; });
  if (written != rest.bytes.end()) {
    return problem(FailureKind::misbehaviour,
                   fmt::format("wrote into the padding of {}: element {} of its memory belongs to no row", name,
                               static_cast<std::size_t>(written - rest.bytes.begin()) / size));
  }
  return {};
}

}  // namespace

Trial Examiner::run(const Case& c) { return run(build(c)); }

Trial Examiner::run(Call call) {
  return tried(std::move(call), [&](Call& made) { return subject_.apply(made); });
}

Trial Examiner::run_at_start(const Case& c) {
  return tried(build(c), [&](Call& made) { return subject_.apply_at_start(made); });
}

Trial Examiner::run_concurrently(const Case& c, const Case& companion) {
  Call other = build(companion);
  return tried(build(c), [&](Call& made) {
    const std::optional<Reply> reply = subject_.apply_concurrently(made, other);
    return reply ? *reply : Reply{ReplyKind::crashed, ROPE_FAILED, "cannot run two calls at once", 0};
  });
}

void Examiner::make_earlier_calls(const Case& c) {
  if (c.before.empty()) return;
  subject_.renew();
  for (const Case& earlier : earlier_cases(c)) run(earlier);
}

Reply Examiner::counted(const Reply& reply) {
  ++calls_;
  recovered_hangs_ += reply.succeeded_on_retry ? 1 : 0;
  kernel_nanoseconds_ += reply.nanoseconds;
  return reply;
}

Trial Examiner::tried(Call call, const std::function<Reply(Call&)>& apply) {
  Trial trial{std::move(call), {}, {}, {}};
  trial.q = trial.call.q;
  trial.k = trial.call.k;
  trial.problem = problem_of(counted(apply(trial.call)));
  if (trial.ok()) trial.problem = padding_of("q", trial.call.q_result());
  if (trial.ok() && trial.k) trial.problem = padding_of("k", trial.call.k_result());
  return trial;
}

Finding Examiner::refusal(const Case& c) {
  Trial trial{build(c), {}, {}, {}};
  put_fault(c, trial.call);
  trial.q = trial.call.q;
  const Reply reply = counted(subject_.apply(trial.call));
  if (reply.kind != ReplyKind::done) return problem_of(reply);
  if (reply.status != ROPE_OK || turned_by_negative_angle(c, trial, oracles_)) return {};
  const std::string done = done_at_wrong_position(c, trial, oracles_);
  return problem(FailureKind::status, fmt::format("the kernel answered ok to a call that is wrong: {}{}",
                                                  row_of(c.fault).meaning, done.empty() ? "" : "; it " + done));
}

Finding Examiner::under(SanitizerTool tool, std::span<const Case> cases) {
  std::vector<Call> calls;
  for (const Case& c : cases) calls.push_back(build(c));
  calls_ += static_cast<std::int64_t>(calls.size());
  const SanitizerReport report = subject_.apply_under(tool, calls);
  if (report.is_clean()) return {};
  Finding finding = problem(report.decided ? FailureKind::misbehaviour : FailureKind::none, report.words);
  finding.decided = report.decided;
  return finding;
}

void Examiner::sanitize(SanitizerTool tool, std::span<const Case> cases) {
  Finding finding = under(tool, cases);
  Finding others = finding;
  if (!finding.passed()) {
    others = {};
    others.decided = false;
    others.message = fmt::format("not run by itself under {}, which found something in another call", name(tool));
  }
  for (const Case& c : cases) sanitized_[to_text(c)] = others;
  if (finding.passed()) return;
  std::span<const Case> left = cases;
  while (left.size() > 1) {
    const auto [half, rest] = std::pair(left.first(left.size() / 2), left.subspan(left.size() / 2));
    Finding of_half = under(tool, half);
    const bool is_in_half = !of_half.passed();
    if (of_half.passed() && of_half.decided) of_half = under(tool, rest);
    if (of_half.passed()) {
      finding.message += fmt::format("\n(where one process makes {} calls; {})", left.size(),
                                     of_half.decided ? "neither half of them shows it" : "half of them decide nothing");
      break;
    }
    left = is_in_half ? half : rest;
    finding = of_half;
  }
  sanitized_[to_text(left.back())] = finding;
}

void Examiner::will_sanitize(std::span<const Case> cases) {
  for (const Case& c : cases) to_sanitize_[c.tool].push_back(c);
}

Finding Examiner::sanitized(const Case& c) {
  const auto text = to_text(c);
  const auto group = to_sanitize_.find(c.tool);
  if (group != to_sanitize_.end() &&
      std::ranges::any_of(group->second, [&](const Case& other) { return to_text(other) == text; })) {
    sanitize(c.tool, to_sanitize_.extract(group).mapped());
  }
  const auto known = sanitized_.extract(text);
  return known ? known.mapped() : under(c.tool, {&c, 1});
}

Finding Examiner::judge(const Case& c, const Trial& trial) {
  if (!trial.ok()) return trial.problem;
  tried_calls_.add(trial.call);
  Expectation expected = expectation(c, trial.call);
  return judge_call(trial.call, trial.q, trial.k, expected);
}

Finding Examiner::accuracy(const Case& c) { return judge(c, run(c)); }

}  // namespace rope
