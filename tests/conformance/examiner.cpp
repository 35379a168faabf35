#include "tests/conformance/examiner.hpp"

#include <fmt/format.h>

#include <cstring>

#include "tests/conformance/judge.hpp"

namespace rope {
namespace {

std::string status_name(std::int32_t status) {
  switch (status) {
    case ROPE_OK: return "ok";
    case ROPE_UNSUPPORTED: return "unsupported";
    case ROPE_INVALID_ARGUMENT: return "invalid_argument";
    case ROPE_FAILED: return "failed";
    default: return fmt::format("{}, which is no rope_status", status);
  }
}

Finding problem(FailureKind kind, std::string message) {
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  return finding;
}

Finding problem_of(const Reply& reply) {
  switch (reply.kind) {
    case ReplyKind::crashed: return problem(FailureKind::crash, reply.detail);
    case ReplyKind::timed_out: return problem(FailureKind::timeout, reply.detail);
    case ReplyKind::misbehaved: return problem(FailureKind::misbehaviour, reply.detail);
    case ReplyKind::done: break;
  }
  if (reply.status == ROPE_OK) return {};
  return problem(FailureKind::status,
                 fmt::format("the kernel claims this case and answered {}{}{}", status_name(reply.status),
                             reply.detail.empty() ? "" : ": ", reply.detail));
}

// The bytes between the elements of a strided output, which nobody may write to.
Finding padding_of(const std::string& name, const Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype);
  if (tensor.bytes.size() == static_cast<std::size_t>(tensor.count()) * size) return {};
  std::vector<bool> is_element(tensor.bytes.size() / size, false);
  for_each_row(tensor, [&](const RowIndex& row, const std::byte*) {
    for (std::int64_t j = 0; j < tensor.shape[3]; ++j) {
      is_element[static_cast<std::size_t>(tensor.origin + row_offset(tensor, row) + j * tensor.strides[3])] = true;
    }
  });
  for (std::size_t i = 0; i < is_element.size(); ++i) {
    if (is_element[i]) continue;
    for (std::size_t byte = 0; byte < size; ++byte) {
      if (tensor.bytes[i * size + byte] != canary) {
        return problem(
            FailureKind::misbehaviour,
            fmt::format("wrote into the padding of {}: element {} of its memory belongs to no row", name, i));
      }
    }
  }
  return {};
}

}  // namespace

Trial Examiner::run(const Case& c) { return run(build(c)); }

Trial Examiner::run(Call call) {
  Trial trial{std::move(call), {}, {}, {}};
  trial.q = trial.call.q;
  trial.k = trial.call.k;
  ++calls_;
  trial.problem = problem_of(subject_.apply(trial.call));
  if (trial.ok()) trial.problem = padding_of("q", trial.call.q_result());
  if (trial.ok() && trial.k) trial.problem = padding_of("k", trial.call.k_result());
  return trial;
}

Finding Examiner::judge(const Case& c, const Trial& trial) {
  if (!trial.ok()) return trial.problem;
  Expectation expected = expectation(c, trial.call);
  return judge_call(trial.call, trial.q, trial.k, expected);
}

Finding Examiner::accuracy(const Case& c) { return judge(c, run(c)); }

}  // namespace rope
