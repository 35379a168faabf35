// What is taken for the sequence length, or made for one length only.
#include <cmath>

#include "reference/scaling/kept_frequencies.hpp"
#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

// Caches made for the original length.
void add_original_length_caches(Hypotheses& all) {
  for (const bool again : {false, true}) {
    Hypothesis h{
        .bug_class = BugClass::scaling_config,
        .sentence = again ? "positions from the original length on start again at 0"
                          : "positions from the original length on get the angles of the last position before it"};
    h.applies = [](const Call& call) { return original_length(call.scaling) > 0; };
    h.change.position = [again](const RowContext& s, int, long double p) {
      const double length = original_length(s.params.scaling);
      if (!(length > 0) || !(length < 1e18) || p < length) return p;
      return again ? std::fmod(p, static_cast<long double>(length)) : static_cast<long double>(length - 1);
    };
    all.push_back(std::move(h));
  }
}

// A rule that knows no sequence, only tokens.
void add_lengths_of_tokens(Hypotheses& all) {
  Hypothesis h{
      .bug_class = BugClass::scaling_config,
      .sentence = "the rule is applied to each token by itself: its position plus one is used as the sequence length"};
  h.applies = [](const Call& call) {
    return call.source == AngleSource::computed && call.axes == 1 && original_length(call.scaling) > 0;
  };
  h.change.row = [](const RowContext& s, const PairList& pairs, Row& row) {
    const Params& p = s.params;
    const std::int64_t position = token_position(s.call, s.batch, s.seq).front();
    const std::vector<long double>& theta =
        kept_frequencies(p.scaling, {p.head_dim, p.rotary_dim, p.base, position + 1});
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const long double angle = static_cast<long double>(position) * theta[i];
      for (const int feature : {pairs[i].first, pairs[i].second}) {
        const auto f = static_cast<std::size_t>(feature);
        row.cos[f] = static_cast<double>(std::cos(angle));
        row.sin[f] = static_cast<double>(std::sin(angle));
        row.phi[f] = static_cast<double>(angle);
      }
    }
  };
  all.push_back(std::move(h));
}

}  // namespace

void add_length_hypotheses(Hypotheses& all) {
  add_original_length_caches(all);
  add_lengths_of_tokens(all);
}

}  // namespace rope::diagnosis
