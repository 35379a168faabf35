// Hypotheses of where elements lie: which tensors they are about, and how one is added.
#pragma once

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {

inline bool has_key(const Call& call) { return call.k.has_value(); }
inline bool several_heads(const Call& call) { return call.q.shape[2] > 1; }

inline bool is_second(const RowContext& s, int feature) {
  return s.params.pairing == Pairing::interleaved ? feature % 2 == 1 : feature >= s.params.rotary_dim / 2;
}

// The tensor whose strides replace another tensor's.
inline const Tensor& other_tensor(const RowContext& s, bool output) {
  if (output && !s.call.in_place) return s.key ? *s.call.q_out : *s.call.k_out;
  return s.key ? s.call.q : *s.call.k;
}

// The tensors that are addressed otherwise: those that are read, those that are written, or all.
enum class From { both, input, output };

// `index` gives the element in place of feature `feature` of the row that the spot names.
inline void add_index(Hypotheses& all, BugClass bug_class, const std::string& sentence, From side,
                      std::function<std::int64_t(const RowContext&, const Tensor&, bool output, int feature)> index,
                      std::function<bool(const Call&)> applies = {}) {
  Hypothesis h{bug_class, sentence, {}, 0, std::move(applies), false};
  h.change.index = [=](const RowContext& s, bool output, int feature, std::int64_t right) {
    if ((side == From::input && output) || (side == From::output && !output)) return right;
    return index(s, output ? s.out() : s.in(), output, feature);
  };
  h.change.writes_elsewhere = side != From::input;
  all.push_back(std::move(h));
}

}  // namespace rope::diagnosis
