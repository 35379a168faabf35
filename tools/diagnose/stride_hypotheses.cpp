// Strides that are ignored, exchanged, or taken for others.
#include <fmt/format.h>

#include "tools/diagnose/addressing.hpp"

namespace rope::diagnosis {
namespace {

constexpr BugClass addressing = BugClass::strides_memory_race;

std::int64_t dense(const Tensor& t, const Spot& s, int feature) {
  return ((s.batch * t.shape[1] + s.seq) * t.shape[2] + s.head) * t.shape[3] + feature;
}

void add_dense(Hypotheses& all) {
  const auto as_dense = [](const Spot& s, const Tensor& t, bool, int feature) { return dense(t, s, feature); };
  add_index(all, addressing, "the input is read as if it were contiguous", From::input, as_dense);
  add_index(all, addressing, "the output is written as if it were contiguous", From::output, as_dense);
  add_index(all, addressing, "input and output are addressed as if they were contiguous", From::both, as_dense);
  add_index(all, addressing,
            "a gap between batches is not noticed: what is contiguous in a batch is addressed as contiguous",
            From::both, [](const Spot& s, const Tensor& t, bool, int feature) {
              const bool heads_adjacent = t.shape[2] == 1 || t.strides[2] == t.shape[3];
              const bool tokens_adjacent = t.shape[1] == 1 || t.strides[1] == t.shape[2] * t.shape[3];
              return heads_adjacent && tokens_adjacent && t.strides[3] == 1
                         ? dense(t, s, feature)
                         : row_offset(t, {s.batch, s.seq, s.head}) + feature * t.strides[3];
            });
}

constexpr const char* words_of_strides[] = {"batch stride", "token stride", "head stride", "stride between features"};
constexpr std::size_t every_dimension = std::size(words_of_strides);

// Where `t` has an element if the strides of this dimension, or of every one, are another tensor's.
std::int64_t index_with(const Tensor& t, const Tensor& other, std::size_t dimension, const Spot& s, int feature) {
  const std::int64_t at[] = {s.batch, s.seq, s.head, feature};
  std::int64_t index = 0;
  for (std::size_t d = 0; d < std::size(at); ++d) {
    index += at[d] * (dimension == d || dimension == every_dimension ? other : t).strides[d];
  }
  return index;
}

// In q and k; or only in one of them, where one of two lines that look alike was not adapted.
void add_strides_of_the_other_side(Hypotheses& all) {
  const struct {
    const char* output;
    const char* input;
    bool in_q, in_k;
  } tensors[] = {{"the output", "the input", true, true},
                 {"the output of k", "the input k", false, true},
                 {"the output of q", "the input q", true, false}};
  for (const auto& of : tensors) {
    const auto apart = [needs_key = !(of.in_q && of.in_k)](const Call& call) {
      return !call.in_place && (!needs_key || has_key(call));
    };
    for (std::size_t d = 0; d <= every_dimension; ++d) {
      const char* what = d == every_dimension ? "strides" : words_of_strides[d];
      const auto index = [=](const Spot& s, const Tensor& t, bool output, int feature) {
        const bool concerned = s.key ? of.in_k : of.in_q;
        return index_with(t, !concerned ? t : output ? s.in() : s.out(), d, s, feature);
      };
      add_index(all, addressing, fmt::format("{} is written with the {} of {}", of.output, what, of.input),
                From::output, index, apart);
      add_index(all, addressing, fmt::format("{} is read with the {} of {}", of.input, what, of.output), From::input,
                index, apart);
    }
  }
}

void add_strides_of_a_dimension(Hypotheses& all) {
  const struct {
    From side;
    const char* row;
    const char* head;
    const char* seq;
    const char* batch;
    const char* feature;
  } words[] = {{From::input, "the head stride of the input is taken to be head_dim",
                "the token stride of the input is used as its head stride",
                "the token stride of the input is taken to be heads * head_dim",
                "the batch stride of the input is taken to be seq * token stride",
                "the stride between features of the input is taken to be 1"},
               {From::output, "the head stride of the output is taken to be head_dim",
                "the token stride of the output is used as its head stride",
                "the token stride of the output is taken to be heads * head_dim",
                "the batch stride of the output is taken to be seq * token stride",
                "the stride between features of the output is taken to be 1"},
               {From::both, "the head stride is taken to be head_dim", "the token stride is used as the head stride",
                "the token stride is taken to be heads * head_dim",
                "the batch stride is taken to be seq * token stride", "the stride between features is taken to be 1"}};
  for (const auto& w : words) {
    add_index(all, addressing, w.feature, w.side, [](const Spot& s, const Tensor& t, bool, int f) {
      return row_offset(t, {s.batch, s.seq, s.head}) + f;
    });
    add_index(all, addressing, w.row, w.side, [](const Spot& s, const Tensor& t, bool, int f) {
      return s.batch * t.strides[0] + s.seq * t.strides[1] + s.head * t.shape[3] + f * t.strides[3];
    });
    add_index(
        all, BugClass::heads_batch_qk, w.head, w.side,
        [](const Spot& s, const Tensor& t, bool, int f) {
          return s.batch * t.strides[0] + s.seq * t.strides[1] + s.head * t.strides[1] + f * t.strides[3];
        },
        several_heads);
    add_index(all, addressing, w.seq, w.side, [](const Spot& s, const Tensor& t, bool, int f) {
      return s.batch * t.strides[0] + s.seq * t.shape[2] * t.shape[3] + s.head * t.strides[2] + f * t.strides[3];
    });
    add_index(all, addressing, w.batch, w.side, [](const Spot& s, const Tensor& t, bool, int f) {
      return s.batch * t.strides[1] * t.shape[1] + s.seq * t.strides[1] + s.head * t.strides[2] + f * t.strides[3];
    });
  }
}

void add_exchanged_strides(Hypotheses& all) {
  const struct {
    From side;
    const char* words;
  } sides[] = {{From::both, "input and output are addressed as if heads came before tokens in memory"},
               {From::input, "the input is read as if heads came before tokens in memory"},
               {From::output, "the output is written as if heads came before tokens in memory"}};
  for (const auto& side : sides) {
    add_index(all, BugClass::heads_batch_qk, side.words, side.side, [](const Spot& s, const Tensor& t, bool, int f) {
      return s.batch * t.strides[0] + (s.head * t.shape[1] + s.seq) * t.shape[3] + f;
    });
  }
  for (const From side : {From::input, From::both}) {
    add_index(
        all, BugClass::heads_batch_qk,
        fmt::format("the batch stride of {}k is taken to be q's, divided by q's heads and multiplied by k's",
                    side == From::input ? "the input " : ""),
        side,
        [](const Spot& s, const Tensor& t, bool output, int feature) {
          const Tensor& q = s.key ? other_tensor(s, output) : t;
          const std::int64_t stride = s.key ? q.strides[0] * t.shape[2] / q.shape[2] : t.strides[0];
          return s.batch * stride + s.seq * t.strides[1] + s.head * t.strides[2] + feature * t.strides[3];
        },
        [](const Call& call) { return has_key(call) && call.q.shape[2] > 0; });
  }
  for (const std::size_t d : {std::size_t{2}, every_dimension}) {
    for (const From side : {From::input, From::output, From::both}) {
      const char* what = d == every_dimension ? "strides" : words_of_strides[d];
      add_index(
          all, BugClass::heads_batch_qk,
          side == From::input    ? fmt::format("the input k is read with the {} of q", what)
          : side == From::output ? fmt::format("the output of k is written with the {} of q's output", what)
                                 : fmt::format("k is addressed with the {} of q", what),
          side,
          [=](const Spot& s, const Tensor& t, bool output, int feature) {
            return index_with(t, s.key ? other_tensor(s, output) : t, d, s, feature);
          },
          has_key);
    }
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
            [=](const Spot& s, const Tensor& t, bool output, int f) {
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
  add_strides_of_the_other_side(all);
  add_strides_of_a_dimension(all);
  add_exchanged_strides(all);
  add_halves_of_key(all);
}

}  // namespace rope::diagnosis
