// Strides that are ignored, exchanged, or taken for others.
#include <fmt/format.h>

#include "tools/diagnose/addressing.hpp"

namespace rope::diagnosis {
namespace {

constexpr BugClass addressing = BugClass::strides_memory_race;

std::int64_t dense(const Tensor& t, const RowContext& s, int feature) {
  return ((s.batch * t.shape[1] + s.seq) * t.shape[2] + s.head) * t.shape[3] + feature;
}

void add_dense(Hypotheses& all) {
  add_index(all, addressing,
            "a gap between batches is not noticed: what is contiguous in a batch is addressed as contiguous",
            From::both, [](const RowContext& s, const Tensor& t, bool, int feature) {
              const bool heads_adjacent = t.shape[2] == 1 || t.strides[2] == t.shape[3];
              const bool tokens_adjacent = t.shape[1] == 1 || t.strides[1] == t.shape[2] * t.shape[3];
              return heads_adjacent && tokens_adjacent && t.strides[3] == 1
                         ? dense(t, s, feature)
                         : row_offset(t, {s.batch, s.seq, s.head}) + feature * t.strides[3];
            });
}

void add_exchanged_strides(Hypotheses& all) {
  for (const From side : {From::input, From::both}) {
    add_index(
        all, BugClass::heads_batch_qk,
        fmt::format("the batch stride of {}k is taken to be q's, divided by q's heads and multiplied by k's",
                    side == From::input ? "the input " : ""),
        side,
        [](const RowContext& s, const Tensor& t, bool output, int feature) {
          const Tensor& q = s.key ? other_tensor(s, output) : t;
          const std::int64_t stride = s.key ? q.strides[0] * t.shape[2] / q.shape[2] : t.strides[0];
          return s.batch * stride + s.seq * t.strides[1] + s.head * t.strides[2] + feature * t.strides[3];
        },
        [](const Call& call) { return has_key(call) && call.q.shape[2] > 0; });
  }
}

// One half of k's features has its own offset, in which a stride of q was left.
void add_halves_of_key(Hypotheses& all) {
  for (const bool of_second : {false, true}) {
    for (const From side : {From::input, From::both}) {
      for (const bool only_tokens : {true, false}) {
        const std::string sentence =
            fmt::format("{} features of k are {} with the {} of q", of_second ? "second" : "first",
                        side == From::input ? "read" : "addressed", only_tokens ? "token stride" : "strides");
        add_index(
            all, BugClass::heads_batch_qk, sentence.c_str(), side,
            [=](const RowContext& s, const Tensor& t, bool output, int f) {
              const bool concerned = s.key && f < s.params.rotary_dim && is_second(s, f) == of_second;
              const Tensor& tokens = concerned ? other_tensor(s, output) : t;
              const Tensor& rest = concerned && !only_tokens ? tokens : t;
              return s.batch * rest.strides[0] + s.seq * tokens.strides[1] + s.head * rest.strides[2] +
                     f * t.strides[3];
            },
            has_key);
      }
    }
  }
}

}  // namespace

void add_stride_hypotheses(Hypotheses& all) {
  add_dense(all);
  add_exchanged_strides(all);
  add_halves_of_key(all);
}

}  // namespace rope::diagnosis
