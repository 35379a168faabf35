// Wrong theta from scaling rules: parameters misread, lists exchanged, the wrong length used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

template <class Rule>
using Edit = std::function<void(const Call&, Params&, Rule&)>;

// Whether the call has this rule; then it is changed, unless the edit replaced it by another rule.
template <class Rule, class AnyEdit>
bool edited(const Call& call, Params& p, const AnyEdit& edit) {
  const auto* rule = std::get_if<Rule>(&p.scaling);
  if (rule == nullptr) return false;
  Rule changed = *rule;
  edit(call, p, changed);
  if (auto* still = std::get_if<Rule>(&p.scaling)) *still = std::move(changed);
  return true;
}

// Changes the parameters of one rule.
template <class Rule>
void add(Hypotheses& all, std::string what, Edit<Rule> edit) {
  Hypothesis h{.bug_class = BugClass::scaling_config, .sentence = fmt::format("{}: {}", Rule::kind, what)};
  h.applies = [](const Call& call) {
    return call.source == AngleSource::computed && std::holds_alternative<Rule>(call.scaling);
  };
  h.change.params = [=](const Call& call, Params& p) { edited<Rule>(call, p, edit); };
  all.push_back(std::move(h));
}

// The same change of several rules. In all of them it is a mistake in what they share, in a single one a mistake in its
// own code. `edit(call, params, rule)` takes every one of the rules.
template <class... Rules, class AnyEdit>
void add_for(Hypotheses& all, const std::string& what, AnyEdit edit) {
  (add<Rules>(all, what, Edit<Rules>(edit)), ...);
  constexpr std::size_t most_named = 3;
  const std::vector<std::string_view> names{Rules::kind...};
  const std::string whose = names.size() > most_named ? "every rule" : fmt::format("{}", fmt::join(names, " and "));
  Hypothesis h{.bug_class = BugClass::scaling_config, .sentence = fmt::format("{}: {}", whose, what)};
  h.several_rules = true;
  h.applies = [](const Call& call) {
    return call.source == AngleSource::computed && (std::holds_alternative<Rules>(call.scaling) || ...);
  };
  h.change.params = [edit](const Call& call, Params& p) { static_cast<void>((edited<Rules>(call, p, edit) || ...)); };
  all.push_back(std::move(h));
}

std::int64_t original_of(const auto& rule) { return static_cast<std::int64_t>(rule.original_max_position_embeddings); }

// The length that a rule uses, if it depends on one.
void add_lengths(Hypotheses& all) {
  const auto length = [&](const char* what, auto of) {
    add_for<scaling::Dynamic, scaling::LongRope>(
        all, what, [=](const Call& call, Params& p, auto& rule) { p.sequence_length = of(call, rule); });
  };
  length("the number of tokens in the call is used as the sequence length",
         [](const Call& c, const auto&) { return c.q.shape[1]; });
  length("the largest position of the call is used as the sequence length",
         [](const Call& c, const auto&) { return largest_position(c); });
  length("the largest position of the call plus one is used as the sequence length",
         [](const Call& c, const auto&) { return largest_position(c) + 1; });
  length("a sequence of exactly the original length counts as long", [](const Call& c, const auto& rule) {
    return c.sequence_length == original_of(rule) ? c.sequence_length + 1 : c.sequence_length;
  });
  length("the sequence length is one too large", [](const Call& c, const auto&) { return c.sequence_length + 1; });
  length("the sequence length is one too small", [](const Call& c, const auto&) { return c.sequence_length - 1; });
  length("every sequence counts as short", [](const Call&, const auto&) { return 0; });
  length("the sequence length is always original length times factor", [](const Call&, const auto& rule) {
    return static_cast<std::int64_t>(rule.factor * static_cast<double>(original_of(rule)));
  });
  length("the sequence length is rounded up to a power of two", [](const Call& c, const auto&) {
    std::int64_t n = 1;
    while (n < c.sequence_length) n *= 2;
    return n;
  });
}

void add_original(Hypotheses& all) {
  const auto original = [&](const std::string& what, auto of) {
    add_for<scaling::Dynamic, scaling::Yarn, scaling::Llama3>(
        all, what, [=](const Call&, Params&, auto& rule) { rule.original_max_position_embeddings = of(rule); });
  };
  for (const double most : {32767.0, 65535.0}) {
    original(fmt::format("the original length is limited to {}", most),
             [=](const auto& r) { return std::min(r.original_max_position_embeddings, most); });
  }
  original("the original length is multiplied by the factor",
           [](const auto& r) { return r.original_max_position_embeddings * r.factor; });
  original("the original length is divided by the factor",
           [](const auto& r) { return r.original_max_position_embeddings / r.factor; });
  for (const double fixed : {2048.0, 4096.0, 8192.0}) {
    original(fmt::format("original length {} is used, not the given one", fixed), [=](const auto&) { return fixed; });
  }
}

template <class Other>
Other computed_as(const auto& rule) {
  Other other;
  other.factor = rule.factor;
  return other;
}

void add_factors(Hypotheses& all) {
  using namespace scaling;
  add_for<Linear, Ntk, Dynamic, Yarn, LongRope, Llama3, Proportional, Pixel, Constant>(
      all, "the rule is ignored", [](const Call&, Params& p, auto&) { p.scaling = None{}; });
  const auto of_each_factor = [&](const char* what, auto edit) {
    add_for<Linear, Ntk, Dynamic, Yarn, LongRope, Llama3>(all, what, edit);
  };
  of_each_factor("the factor is inverted", [](const Call&, Params&, auto& r) { r.factor = 1 / r.factor; });
  of_each_factor("the factor is applied twice", [](const Call&, Params&, auto& r) { r.factor *= r.factor; });
  of_each_factor("the factor is ignored", [](const Call&, Params&, auto& r) { r.factor = 1; });
  add_for<Ntk, Dynamic, Yarn, LongRope, Llama3>(
      all, "the rule is computed as linear",
      [](const Call&, Params& p, auto& r) { p.scaling = computed_as<Linear>(r); });
  add_for<Linear, Dynamic, Yarn, LongRope, Llama3>(
      all, "the rule is computed as ntk", [](const Call&, Params& p, auto& r) { p.scaling = computed_as<Ntk>(r); });
  of_each_factor("the rule only multiplies the base by the factor", [](const Call&, Params& p, auto& r) {
    p.scaling = None{};
    p.base *= r.factor;
  });
}

// A parameter that is not used as given.
template <class Rule>
void add_number(Hypotheses& all, const char* name, double Rule::*number, std::initializer_list<double> usual) {
  add<Rule>(all, fmt::format("{} is truncated to a whole number", name),
            [=](const Call&, Params&, Rule& r) { r.*number = std::max(std::floor(r.*number), 1.0); });
  for (const double value : usual) {
    add<Rule>(all, fmt::format("{} {} is used, not the given one", name, value),
              [=](const Call&, Params&, Rule& r) { r.*number = value; });
  }
}

// base * stretch^(d/(d-2)) of the rules that stretch the base, with the whole head for d.
double stretch_of(const scaling::Ntk& rule, const Params&) { return rule.factor; }
double stretch_of(const scaling::Dynamic& rule, const Params& p) {
  const double length = static_cast<double>(p.sequence_length), original = rule.original_max_position_embeddings;
  return length <= original ? 1 : rule.factor * length / original - (rule.factor - 1);
}

void add_exponent(Hypotheses& all) {
  add_for<scaling::Ntk, scaling::Dynamic>(all, "the exponent of the factor uses head_dim, not rotary_dim",
                                          [](const Call&, Params& p, auto& rule) {
                                            const double dim = p.head_dim;
                                            if (dim > 2) p.base *= std::pow(stretch_of(rule, p), dim / (dim - 2));
                                            p.scaling = scaling::None{};
                                          });
}

void add_numbers(Hypotheses& all) {
  using namespace scaling;
  const std::initializer_list<double> factors = {2, 4, 8, 16, 32, 40};
  add_number(all, "factor", &Linear::factor, factors);
  add_number(all, "factor", &Ntk::factor, factors);
  add_number(all, "factor", &Dynamic::factor, factors);
  add_number(all, "factor", &Yarn::factor, factors);
  add_number(all, "beta_fast", &Yarn::beta_fast, {32});
  add_number(all, "beta_slow", &Yarn::beta_slow, {1});
  add_number(all, "factor", &Llama3::factor, factors);
  add_number(all, "low_freq_factor", &Llama3::low_freq_factor, {1});
  add_number(all, "high_freq_factor", &Llama3::high_freq_factor, {4});
  add_number(all, "max_frequency", &Pixel::max_frequency, {10, 5, 20, 256});
}

void add_yarn(Hypotheses& all) {
  using scaling::Yarn;
  add<Yarn>(all, "the flag yarn_clamp_pairs is inverted", [](const Call&, Params&, Yarn& r) {
    r.clamp = r.clamp == Yarn::Clamp::pairs ? Yarn::Clamp::rotary_dim : Yarn::Clamp::pairs;
  });
  add<Yarn>(all, "the flag yarn_truncate is ignored: the ramp's ends are always whole pairs",
            [](const Call&, Params&, Yarn& r) { r.truncate = true; });
  add<Yarn>(all, "the flag yarn_truncate is ignored: the ramp's ends are never rounded to whole pairs",
            [](const Call&, Params&, Yarn& r) { r.truncate = false; });
  add<Yarn>(all, "the flag yarn_clamp_pairs is ignored: the upper end is always at most rotary_dim/2 - 1",
            [](const Call&, Params&, Yarn& r) { r.clamp = Yarn::Clamp::pairs; });
  add<Yarn>(all, "the flag yarn_clamp_pairs is ignored: the upper end is always at most rotary_dim - 1",
            [](const Call&, Params&, Yarn& r) { r.clamp = Yarn::Clamp::rotary_dim; });
  add<Yarn>(all, "the flag yarn_truncate is inverted", [](const Call&, Params&, Yarn& r) { r.truncate = !r.truncate; });
  add<Yarn>(all, "beta_fast and beta_slow are exchanged",
            [](const Call&, Params&, Yarn& r) { std::swap(r.beta_fast, r.beta_slow); });
  add<Yarn>(all, "beta_fast 32 and beta_slow 1 are used, not the given ones", [](const Call&, Params&, Yarn& r) {
    r.beta_fast = 32;
    r.beta_slow = 1;
  });
  // theta = plain (ramp / factor + 1 - ramp)
  const auto add_share = [&](const char* sentence, long double (*share)(long double ramp, long double factor)) {
    Hypothesis h{.bug_class = BugClass::scaling_config, .sentence = sentence};
    h.applies = [](const Call& call) { return std::holds_alternative<Yarn>(call.scaling); };
    h.change.theta = [=](const RowContext& s, std::vector<long double>& theta) {
      const auto* rule = std::get_if<Yarn>(&s.params.scaling);
      if (rule == nullptr || s.params.source != AngleSource::computed || rule->factor == 1) return;
      const auto plain = scaling::unscaled<long double>(s.params.base, s.params.rotary_dim);
      const long double factor = rule->factor;
      for (std::size_t p = 0; p < theta.size(); ++p) {
        theta[p] = plain[p] * share((1 - theta[p] / plain[p]) / (1 - 1 / factor), factor);
      }
    };
    all.push_back(std::move(h));
  };
  add_share("yarn: the ramp is reversed",
            [](long double ramp, long double factor) { return (1 - ramp) / factor + ramp; });
  add_share("yarn: the interpolated part is multiplied by the factor, not divided",
            [](long double ramp, long double factor) { return ramp * factor + 1 - ramp; });
}

// The lists are one array, short then long, with `apart` values from one to the other. Beyond the array all is 1.
std::vector<double> listed(const scaling::LongRope& rule, std::size_t from) {
  std::vector<double> joined = rule.short_factor;
  joined.insert(joined.end(), rule.long_factor.begin(), rule.long_factor.end());
  std::vector<double> result;
  for (std::size_t i = 0; i < rule.short_factor.size(); ++i) {
    result.push_back(from + i < joined.size() ? joined[from + i] : rule.long_factor.back());
  }
  return result;
}

void add_longrope(Hypotheses& all) {
  using scaling::LongRope;
  add<LongRope>(all, "the short and the long factors are exchanged",
                [](const Call&, Params&, LongRope& r) { std::swap(r.short_factor, r.long_factor); });
  add<LongRope>(all, "theta is multiplied by the factors, not divided", [](const Call&, Params&, LongRope& r) {
    for (auto* list : {&r.short_factor, &r.long_factor}) {
      for (double& value : *list) value = 1 / value;
    }
  });
  add<LongRope>(all, "the factors are used as the frequencies", [](const Call&, Params& p, LongRope& r) {
    p.base = 1;
    for (auto* list : {&r.short_factor, &r.long_factor}) {
      for (double& value : *list) value = 1 / value;
    }
  });
  add<LongRope>(
      all, "the long factors are read head_dim/2 behind the short ones, not rotary_dim/2",
      [](const Call&, Params& p, LongRope& r) { r.long_factor = listed(r, static_cast<std::size_t>(p.head_dim / 2)); });
  add<LongRope>(all, "the factors are used in reverse order", [](const Call&, Params&, LongRope& r) {
    std::reverse(r.short_factor.begin(), r.short_factor.end());
    std::reverse(r.long_factor.begin(), r.long_factor.end());
  });
  add<LongRope>(all, "every pair gets the factor of the first pair", [](const Call&, Params&, LongRope& r) {
    std::fill(r.short_factor.begin(), r.short_factor.end(), r.short_factor[0]);
    std::fill(r.long_factor.begin(), r.long_factor.end(), r.long_factor[0]);
  });
}

void add_llama3(Hypotheses& all) {
  using scaling::Llama3;
  add<Llama3>(all, "low_freq_factor and high_freq_factor are exchanged",
              [](const Call&, Params&, Llama3& r) { std::swap(r.low_freq_factor, r.high_freq_factor); });
  add<Llama3>(all, "the ramp is missing: frequencies in the middle are not scaled",
              [](const Call&, Params&, Llama3& r) {
                r.high_freq_factor = std::nextafter(r.low_freq_factor, std::numeric_limits<double>::infinity());
              });
  add<Llama3>(all, "the ramp is missing: frequencies in the middle are divided by the factor",
              [](const Call&, Params&, Llama3& r) { r.low_freq_factor = std::nextafter(r.high_freq_factor, 0.0); });
  add<Llama3>(all, "low_freq_factor 1 and high_freq_factor 4 are used, not the given ones",
              [](const Call&, Params&, Llama3& r) {
                r.low_freq_factor = 1;
                r.high_freq_factor = 4;
              });
}

void add_proportional(Hypotheses& all) {
  using scaling::Proportional;
  add<Proportional>(all, "the proportion is ignored", [](const Call&, Params&, Proportional& r) { r.proportion = 1; });
  // The share of the pairs that turn, if it is not cut to a whole number.
  const auto rounds = [&](const char* how, double (*whole)(double)) {
    add<Proportional>(all, fmt::format("the number of pairs that turn is rounded {}", how),
                      [=](const Call&, Params& p, Proportional& r) {
                        const int pairs = p.head_dim / 2;
                        // Half a pair more, so that the rule cuts it to the same number.
                        if (pairs > 0) r.proportion = std::min((whole(r.proportion * pairs) + 0.5) / pairs, 1.0);
                      });
  };
  rounds("to nearest, not down", [](double pairs) { return std::round(pairs); });
  rounds("up, not down", [](double pairs) { return std::ceil(pairs); });
  Hypothesis h{.bug_class = BugClass::scaling_config,
               .sentence = "proportional: the exponent is divided by the features that turn, not by head_dim"};
  h.applies = [](const Call& call) { return std::holds_alternative<Proportional>(call.scaling); };
  h.change.theta = [](const RowContext& s, std::vector<long double>& theta) {
    const auto* rule = std::get_if<Proportional>(&s.params.scaling);
    if (rule == nullptr || s.params.source != AngleSource::computed || rule->proportion <= 0) return;
    for (std::size_t p = 0; p < theta.size(); ++p) {
      if (theta[p] == 0) continue;
      const long double right = -2.0L * static_cast<long double>(p) / s.params.head_dim;
      theta[p] *= std::pow(static_cast<long double>(s.params.base), right / rule->proportion - right);
    }
  };
  all.push_back(std::move(h));
}

// The factor divides theta, not the position. So whatever replaces the position is multiplied by the factor.
void add_linear(Hypotheses& all) {
  const auto add_position = [&](const char* what,
                                long double (*position)(const Call&, long double p, long double factor)) {
    Hypothesis h{.bug_class = BugClass::scaling_config, .sentence = fmt::format("linear: {}", what)};
    h.applies = [](const Call& call) {
      return call.source == AngleSource::computed && std::holds_alternative<scaling::Linear>(call.scaling);
    };
    h.change.position = [position](const RowContext& s, int, long double p) {
      const auto* rule = std::get_if<scaling::Linear>(&s.params.scaling);
      return rule == nullptr ? p : position(s.call, p, rule->factor);
    };
    all.push_back(std::move(h));
  };
  add_position("positions divided by the factor are truncated to whole numbers",
               [](const Call&, long double p, long double factor) { return std::floor(p / factor) * factor; });
  add_position("positions divided by the factor are rounded to whole numbers",
               [](const Call&, long double p, long double factor) { return std::nearbyint(p / factor) * factor; });
  add_position("the offset is not divided by the factor", [](const Call& call, long double p, long double factor) {
    const auto offset = static_cast<long double>(call.position_offset);
    return call.positions ? p : p - offset + offset * factor;
  });
}

void add_rules(Hypotheses& all) {
  add_factors(all);
  add_lengths(all);
  add_original(all);
  add_exponent(all);
  add<scaling::Dynamic>(all, "sequences shorter than the original length shrink the base",
                        [](const Call&, Params& p, scaling::Dynamic& r) {
                          const double length = static_cast<double>(p.sequence_length), dim = p.rotary_dim;
                          const double stretch =
                              r.factor * length / r.original_max_position_embeddings - (r.factor - 1);
                          if (dim > 2) p.base *= std::pow(stretch, dim / (dim - 2));
                          p.scaling = scaling::None{};
                        });
  add_numbers(all);
  add_linear(all);
  add_yarn(all);
  add_longrope(all);
  add_llama3(all);
  add_ramp_hypotheses(all);
  add_proportional(all);
}

}  // namespace

void add_scaling_hypotheses(Hypotheses& all) {
  add_rules(all);
  add_length_hypotheses(all);
}

}  // namespace rope::diagnosis
