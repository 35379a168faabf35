// One check on one kernel in this process, and kernels that are right except for one edit of their results.
#pragma once

#include <string>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tools/judge/call/tensor_walk.hpp"

namespace rope::test {

using Answer = std::function<Reply(Call&)>;

// What the requirement of the case finds.
inline Finding found_by(const std::string& case_text, const Answer& answer) {
  Fake subject(all_claims(), answer);
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const Case c = case_from_text(case_text);
  return checked(requirement_called(c.requirement), c, examiner);
}

// The pair of a result of q, as the kernel was given it, and the result.
struct Rotated {
  double first, second;
  bool of_second;
  double result;
};

// The right kernel, followed by `edit` of each result in a pair of q, for half-split calls out of place.
inline Answer edited(std::function<double(const Rotated&)> edit) {
  return [edit = std::move(edit)](Call& call) {
    const Reply reply = right(call);
    if (reply.status != ROPE_OK) return reply;
    const auto size = static_cast<std::int64_t>(size_of(call.q_out->dtype));
    const std::int64_t half = call.rotary_dim / 2;
    for_each_row(*call.q_out, [&](const RowIndex& row, std::byte* data) {
      for (std::int64_t j = 0; j < 2 * half; ++j) {
        std::byte* element = data + j * call.q_out->strides[3] * size;
        const Rotated rotated{value_at(call.q, row, j % half), value_at(call.q, row, j % half + half), j >= half,
                              load(call.q_out->dtype, element)};
        store(call.q_out->dtype, element, edit(rotated));
      }
    });
    return reply;
  };
}

}  // namespace rope::test
