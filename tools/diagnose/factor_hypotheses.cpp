// The attention factor, and other factors that the result may be multiplied by.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/scaling/kept_frequencies.hpp"
#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

void add(Hypotheses& all, BugClass bug_class, std::string sentence, std::function<double(const Call&, double)> of,
         bool only_with_factor = true) {
  Hypothesis h{.bug_class = bug_class, .sentence = std::move(sentence)};
  if (only_with_factor) h.applies = [](const Call& call) { return call.attention_factor != 1; };
  h.change.params = [=](const Call& call, Params& p) { p.lambda = of(call, p.lambda); };
  all.push_back(std::move(h));
}

double factor_of(const Scaling& rule) {
  const auto* yarn = std::get_if<scaling::Yarn>(&rule);
  const auto* longrope = std::get_if<scaling::LongRope>(&rule);
  return yarn != nullptr ? yarn->factor : longrope != nullptr ? longrope->factor : 1;
}

Hypothesis factor_in_tables() {
  Hypothesis h{
      .bug_class = BugClass::precision,
      .sentence =
          "the attention factor multiplies cos and sin, and the products are rounded to the type of the tables"};
  h.applies = [](const Call& call) {
    return call.attention_factor != 1 && call.cos && call.cos->dtype != DType::f64;
  };
  h.change.params = [](const Call&, Params& p) { p.lambda = 1; };
  h.change.row = [](const RowContext& s, const PairList&, Row& row) {
    for (std::vector<double>* values : {&row.cos, &row.sin}) {
      for (double& value : *values) value = rounded(s.call.cos->dtype, value * s.call.attention_factor);
    }
  };
  return h;
}

// Position 0 turns by nothing, but the factor multiplies there, too.
Hypothesis still_at_0() {
  Hypothesis h{.bug_class = BugClass::scaling_config,
               .sentence = "tokens at position 0 are left as they are, and not multiplied by the attention factor"};
  h.applies = [](const Call& call) { return call.attention_factor != 1; };
  h.change.write = [](const RowContext& s) {
    const std::vector<std::int64_t> position = token_position(s.call, s.batch, s.seq);
    const bool is_at_0 = std::ranges::all_of(position, [](std::int64_t m) { return m == 0; });
    return is_at_0 ? Write::copied : Write::rotated;
  };
  return h;
}

// Pairs that do not turn are copied, but the factor multiplies them, too.
Hypothesis still_pairs() {
  Hypothesis h{.bug_class = BugClass::scaling_config,
               .sentence = "pairs whose theta is 0 are left as they are, and not multiplied by the attention factor"};
  h.applies = [](const Call& call) { return call.attention_factor != 1 && call.source == AngleSource::computed; };
  h.change.row = [](const RowContext& s, const PairList& pairs, Row& row) {
    const Params& p = s.params;
    const std::vector<long double>& theta =
        kept_frequencies(p.scaling, {p.head_dim, p.rotary_dim, p.base, p.sequence_length});
    for (std::size_t pair = 0; pair < std::min(pairs.size(), theta.size()); ++pair) {
      if (theta[pair] != 0) continue;
      for (const int feature : {pairs[pair].first, pairs[pair].second}) {
        row.cos[static_cast<std::size_t>(feature)] = 1 / p.lambda;
      }
    }
  };
  return h;
}

// The product of q and k keeps its factor, but neither tensor has it.
void add_factor_of_one_tensor(Hypotheses& all) {
  for (const bool of_key : {false, true}) {
    Hypothesis h{
        .bug_class = BugClass::scaling_config,
        .sentence = fmt::format("with k in the call, the attention factor is applied twice to {} and not to {}",
                                of_key ? "k" : "q", of_key ? "q" : "k"),
        .applies = [](const Call& call) { return call.attention_factor != 1 && call.k.has_value(); }};
    h.change.rotate = [of_key](const RowContext& s, Values, Values, Values, Values y) {
      const double by = s.key == of_key ? s.params.lambda : 1 / s.params.lambda;
      return Values{y.first * by, y.second * by};
    };
    all.push_back(std::move(h));
  }
}

void add_attention_factors(Hypotheses& all) {
  for (const bool cosine : {true, false}) {
    Hypothesis h{.bug_class = BugClass::scaling_config,
                 .sentence = fmt::format("the attention factor multiplies only {}", cosine ? "cos" : "sin"),
                 .applies = [](const Call& call) { return call.attention_factor != 1; }};
    h.change.row = [cosine](const RowContext& s, const PairList&, Row& row) {
      for (double& value : cosine ? row.sin : row.cos) value /= s.params.lambda;
    };
    all.push_back(std::move(h));
  }
  all.push_back(factor_in_tables());
  all.push_back(still_at_0());
  all.push_back(still_pairs());
  add_factor_of_one_tensor(all);
  // A call with given angles does not name the rule, so these differ only if angles are computed.
  add(all, BugClass::scaling_config, "yarn's formula is applied to the given attention factor, which is already final",
      [](const Call& call, double l) {
        const double factor = factor_of(call.scaling);
        return factor > 1 ? 0.1 * l * std::log(factor) + 1 : l;
      });
  add(
      all, BugClass::scaling_config, "attention factor 0.1 ln(factor) + 1 is used, not the given one",
      [](const Call& call, double l) {
        const double factor = factor_of(call.scaling);
        return factor > 1 ? 0.1 * std::log(factor) + 1 : l;
      },
      false);
  add(
      all, BugClass::scaling_config, "yarn's attention factor is applied a second time",
      [](const Call& call, double l) {
        const double factor = factor_of(call.scaling);
        return factor > 1 ? l * (0.1 * std::log(factor) + 1) : l;
      },
      false);
}

}  // namespace

void add_factor_hypotheses(Hypotheses& all) {
  add_attention_factors(all);
}

}  // namespace rope::diagnosis
