// How fast each pair turns: base and exponent.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

bool computed(const Call& call) { return call.source == AngleSource::computed; }

using Theta = std::function<long double(const RowContext&, int pair)>;  // unscaled
using Exponent = std::function<long double(const RowContext&, int pair)>;

// theta = the rule's result, times the quotient of the wrong and the right unscaled theta. Exact for all rules that
// multiply theta by something.
void add_exponent(Hypotheses& all, std::string sentence, Exponent exponent, double cost = 0) {
  Hypothesis h{.bug_class = BugClass::frequency_base, .sentence = std::move(sentence), .cost = cost,
               .applies = computed};
  h.change.theta = [=](const RowContext& s, std::vector<long double>& theta) {
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const long double right = -2.0L * static_cast<long double>(p) / s.params.rotary_dim;
      theta[p] *= std::pow(static_cast<long double>(s.params.base), exponent(s, static_cast<int>(p)) - right);
    }
  };
  all.push_back(std::move(h));
}

void add_theta(Hypotheses& all, BugClass bug_class, std::string sentence,
               std::function<void(const RowContext&, std::vector<long double>&)> change, bool only_computed = true) {
  Hypothesis h{.bug_class = bug_class, .sentence = std::move(sentence)};
  if (only_computed) h.applies = computed;
  h.change.theta = std::move(change);
  all.push_back(std::move(h));
}

// A rule's factor; 1 if it has none.
double factor_of_any(const Scaling& rule) {
  return std::visit(
      [](const auto& r) {
        if constexpr (requires { r.factor; }) {
          return r.factor;
        } else {
          return 1.0;
        }
      },
      rule);
}

long double r(const RowContext& s) { return static_cast<long double>(s.params.rotary_dim); }

void add_exponents(Hypotheses& all) {
  add_exponent(all, "the exponent is -2(p-1)/rotary_dim: pair p gets the frequency of pair p-1",
               [](const RowContext& s, int p) { return -2.0L * (p - 1) / r(s); });
  add_exponent(all, "the exponent is -2(p+1)/rotary_dim: pair p gets the frequency of pair p+1",
               [](const RowContext& s, int p) { return -2.0L * (p + 1) / r(s); });
  add_exponent(all, "the exponent is -p/rotary_dim, without the factor 2",
               [](const RowContext& s, int p) { return -1.0L * p / r(s); });
  add_exponent(all, "the exponent is -4p/rotary_dim, with the factor 2 twice",
               [](const RowContext& s, int p) { return -4.0L * p / r(s); });
  add_exponent(all, "the exponent is -2p/head_dim, not -2p/rotary_dim",
               [](const RowContext& s, int p) { return -2.0L * p / s.params.head_dim; });
  add_exponent(all, "the exponent is -p/head_dim, not -2p/rotary_dim",
               [](const RowContext& s, int p) { return -1.0L * p / s.params.head_dim; });
  add_exponent(all, "the exponent is -2p/(rotary_dim-2): the last pair gets 1/base",
               [](const RowContext& s, int p) { return -2.0L * p / std::max(r(s) - 2, 1.0L); });
  add_exponent(all, "the exponent is -2p/(rotary_dim+2)",
               [](const RowContext& s, int p) { return -2.0L * p / (r(s) + 2); });
  add_exponent(all, "the exponent is -2p/(rotary_dim-1)",
               [](const RowContext& s, int p) { return -2.0L * p / (r(s) - 1); });
  add_exponent(all, "the exponent is -2p/(rotary_dim+1)",
               [](const RowContext& s, int p) { return -2.0L * p / (r(s) + 1); });
  add_exponent(all, "the exponent is -(2p+1)/rotary_dim",
               [](const RowContext& s, int p) { return -(2.0L * p + 1) / r(s); });
  add_exponent(all, "the exponent is -(2p+rotary_offset)/rotary_dim: it counts from the head's first feature",
               [](const RowContext& s, int p) { return -(2.0L * p + s.params.rotary_offset) / r(s); });
  all.back().applies = [](const Call& call) { return computed(call) && call.rotary_offset != 0; };
}

// An index kept in eight bits: negative from 128 on, or 0 again from 256 on.
void add_narrow_indices(Hypotheses& all) {
  const auto wrapped = [](int index, bool is_signed) {
    const int low = index % 256;
    return is_signed && low >= 128 ? low - 256 : low;
  };
  for (const bool is_signed : {true, false}) {
    const char* bits = is_signed ? "a sign and 7 bits" : "8 bits";
    add_exponent(all, fmt::format("the index 2p of the exponent is kept in {}", bits), [=](const RowContext& s, int p) {
      return -1.0L * wrapped(2 * p, is_signed) / r(s);
    });
    add_exponent(all, fmt::format("the index p of the exponent is kept in {}", bits), [=](const RowContext& s, int p) {
      return -2.0L * wrapped(p, is_signed) / r(s);
    });
  }
}

void add_shared_exponents(Hypotheses& all) {
  add_exponent(all, "two neighbouring pairs share a frequency: pair p gets the frequency of pair p/2, rounded down",
               [](const RowContext& s, int p) { return -2.0L * (p / 2) / r(s); });
  add_exponent(all, "two neighbouring pairs share a frequency: the second one gets the first one's",
               [](const RowContext& s, int p) { return -2.0L * (p / 2 * 2) / r(s); });
}

void add_exponent_widths(Hypotheses& all) {
  add_exponent(all, "the exponent is divided by q's token stride / heads, not by rotary_dim",
               [](const RowContext& s, int p) {
                 const long double width = static_cast<long double>(s.call.q.strides[1]) /
                                           static_cast<long double>(std::max<std::int64_t>(s.call.q.shape[2], 1));
                 return -2.0L * p / std::max(width, 1.0L);
               });
  add_exponent(all, "the exponent is divided by heads * head_dim, not by rotary_dim", [](const RowContext& s, int p) {
    return -2.0L * p / static_cast<long double>(s.params.head_dim * s.call.q.shape[2]);
  });
  add_exponent(
      all, "the exponent is an integer division: always 0", [](const RowContext&, int) { return 0.0L; }, 0.01);
  for (const int width : {64, 128, 256}) {
    add_exponent(all, fmt::format("the exponent is -2p/{0} if rotary_dim is above {0}", width),
                 [=](const RowContext& s, int p) { return -2.0L * p / std::min<long double>(r(s), width); });
  }
  add_exponent(all, "the exponent is divided by the next power of two, not by rotary_dim",
               [](const RowContext& s, int p) {
                 int width = 2;
                 while (width < s.params.rotary_dim) width *= 2;
                 return -2.0L * p / width;
               });
}

void add_base_times_factor(Hypotheses& all) {
  add_theta(all, BugClass::frequency_base,
            "theta is (factor * base)^(-2p/rotary_dim), not base^(-2p/rotary_dim) / factor",
            [](const RowContext& s, std::vector<long double>& theta) {
              const double factor = factor_of_any(s.params.scaling);
              const bool divides = std::holds_alternative<scaling::Linear>(s.params.scaling) ||
                                   std::holds_alternative<scaling::Yarn>(s.params.scaling);
              if (!divides) return;
              const scaling::Setting setting{s.params.head_dim, s.params.rotary_dim, s.params.base, 0};
              const auto plain = scaling::unscaled<long double>(s.params.base, s.params.rotary_dim);
              const auto inside = scaling::unscaled<long double>(factor * s.params.base, s.params.rotary_dim);
              for (std::size_t p = 0; p < theta.size(); ++p) {
                // theta = plain * (ramp / factor + 1 - ramp): only the divided part is exchanged.
                const long double share = theta[p] / plain[p];
                const long double ramp = (1 - share) / (1 - 1.0L / factor);
                theta[p] = inside[p] * ramp + plain[p] * (1 - ramp);
              }
              static_cast<void>(setting);
            });
}

void add_frequencies(Hypotheses& all) {
  const auto add = [&](const char* sentence, auto edit) {
    add_theta(
        all, BugClass::frequency_base, sentence,
        [=](const RowContext&, std::vector<long double>& theta) { edit(theta); }, false);
  };
  add("the frequencies are used in reverse order", [](auto& theta) { std::ranges::reverse(theta); });
  add("every pair gets the frequency of the first pair", [](auto& theta) { std::ranges::fill(theta, theta.at(0)); });
  add("each pair gets the frequency of the next pair", [](auto& theta) {
    std::copy(theta.begin() + 1, theta.end(), theta.begin());
  });
  const auto add_each = [&](const char* sentence, long double (*of)(long double)) {
    add(sentence, [=](auto& theta) { std::ranges::transform(theta, theta.begin(), of); });
  };
  add_each("theta is taken to be in turns, not radians",
           [](long double t) { return t * 2 * std::numbers::pi_v<long double>; });
  add_each("theta is taken to be in degrees", [](long double t) { return t * std::numbers::pi_v<long double> / 180; });
  add_each("theta is doubled", [](long double t) { return t * 2; });
  add_each("theta is halved", [](long double t) { return t / 2; });
  add_each("1 / theta is used, not theta", [](long double t) { return t == 0 ? t : 1 / t; });
}

}  // namespace

void add_theta_hypotheses(Hypotheses& all) {
  add_exponents(all);
  add_narrow_indices(all);
  add_shared_exponents(all);
  add_exponent_widths(all);
  add_base_times_factor(all);
  add_frequencies(all);
}

}  // namespace rope::diagnosis
