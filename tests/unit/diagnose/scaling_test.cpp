// Diagnoses of scaling rules, their lengths and ramps, and of the attention factor.
#include <map>

#include "reference/scaling/yarn.hpp"
#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/other_evidence.hpp"

using namespace rope;
using namespace rope::test;

namespace {

template <class Rule>
Fake with_rule(std::function<void(Call&, Rule&)> change) {
  return with_modified_call([change = std::move(change)](Call& call) {
    if (auto* rule = std::get_if<Rule>(&call.scaling); rule != nullptr && call.source == AngleSource::computed) {
      change(call, *rule);
    }
  });
}

void take_largest_position(Call& call) { call.sequence_length = diagnosis::largest_position(call) + 1; }

scaling::Yarn yarn_of_factor_8() {
  scaling::Yarn rule;
  rule.factor = 8;
  rule.original_max_position_embeddings = 4096;
  return rule;
}

// What the hypothesis makes of the frequencies of 32 pairs.
std::vector<long double> theta_of(const std::string& sentence, const scaling::Yarn& rule, double base) {
  diagnosis::Params params;
  params.rotary_dim = params.head_dim = 64;
  params.source = AngleSource::computed;
  params.scaling = rule;
  params.base = base;
  const Call call;
  std::vector<long double> theta(32);
  that_says(sentence).change.theta({call, params}, theta);
  return theta;
}

const std::vector<std::string> lengths{"ANG-04", "MEM-01"}, rules{"ROT-01", "ANG-04"}, factors{"ROT-01", "ANG-05"};
const std::string other_base = "yarn: the ends of the ramp are computed with base 10000, not the given one";

}  // namespace

TEST_CASE("Of two causes that fit alike, a case beyond the first tokens tells the right one") {
  Fake subject = with_rule<scaling::LongRope>([](Call& call, scaling::LongRope&) { take_largest_position(call); });
  const auto found = diagnosed(subject, lengths);
  CHECK(first_of(found).sentence ==
        "longrope: the largest position of the call plus one is used as the sequence length");
  CHECK(found->certain);
  // Beside the cause of one rule, the same of several is not listed.
  for (const Candidate& c : found->candidates) CHECK_THAT(c.sentence, !Catch::Contains("dynamic and longrope"));
}

TEST_CASE("What rules take for the length, the exponent or a flag is named, for all rules that share it") {
  expect("the largest position", with_modified_call([](Call& call) {
           if (original_length(call.scaling) > 0) take_largest_position(call);
         }),
         {"dynamic and longrope: the largest position of the call plus one is used as the sequence length",
          {},
          true,
          lengths});
  expect("the number of tokens", with_modified_call([](Call& call) {
           if (std::holds_alternative<scaling::Dynamic>(call.scaling)) call.sequence_length = call.q.shape[1];
         }),
         {"dynamic: the number of tokens in the call is used as the sequence length", {}, {}, {"ANG-04"}});
  expect("the exponent", with_modified_call([](Call& call) {
           const double dim = static_cast<double>(call.q.shape[3]);
           double stretch = 1;
           if (const auto* ntk = std::get_if<scaling::Ntk>(&call.scaling)) {
             stretch = ntk->factor;
           } else if (const auto* dynamic = std::get_if<scaling::Dynamic>(&call.scaling)) {
             const double length = static_cast<double>(call.sequence_length);
             const double original = dynamic->original_max_position_embeddings;
             if (length > original) stretch = dynamic->factor * length / original - (dynamic->factor - 1);
           } else {
             return;
           }
           if (call.source != AngleSource::computed || dim <= 2) return;
           call.base *= std::pow(stretch, dim / (dim - 2));
           call.scaling = scaling::None{};
         }),
         {"ntk and dynamic: the exponent of the factor uses head_dim, not rotary_dim", {}, {}, rules});
  expect(
      "a flag that chooses",
      with_rule<scaling::Yarn>([](Call&, scaling::Yarn& rule) { rule.clamp = scaling::Yarn::Clamp::pairs; }),
      {"yarn: the flag yarn_clamp_pairs is ignored: the upper end is always at most rotary_dim/2 - 1", {}, {}, rules});
  const std::string truncated = "yarn: the flag yarn_truncate is ignored: the ramp's ends are always whole pairs";
  expect("a flag of which one value was seen",
         with_rule<scaling::Yarn>([](Call&, scaling::Yarn& rule) { rule.truncate = true; }),
         {truncated, {}, {}, rules});
  for (const bool given : {true, false}) {
    diagnosis::Params params;
    scaling::Yarn rule;
    rule.truncate = given;
    params.scaling = rule;
    that_says(truncated).change.params(Call{}, params);
    CHECK(std::get<scaling::Yarn>(params.scaling).truncate);  // an inverted flag would be false where it is given
  }
  expect("rounding", with_rule<scaling::Proportional>([](Call& call, scaling::Proportional& rule) {
           const double pairs = static_cast<double>(call.q.shape[3]) / 2;
           rule.proportion = std::min((std::round(rule.proportion * pairs) + 0.5) / pairs, 1.0);
         }),
         {"proportional: the number of pairs that turn is rounded to nearest, not down", {}, {}, rules});
  expect("each axis has a rope of its own", with_modified_call([](Call& call) {
           const bool is_plain =
               call.source == AngleSource::computed && std::holds_alternative<scaling::None>(call.scaling);
           if (!is_plain || call.axes < 2 || !call.axis) return;
           const std::int64_t pairs = call.rotary_dim / 2;
           std::map<std::int64_t, int> of_axis, seen;
           for (std::int64_t p = 0; p < pairs; ++p) ++of_axis[integer_at(*call.axis, p)];
           call.source = AngleSource::frequencies;
           call.theta = Tensor::contiguous(DType::f64, {pairs});
           for (std::int64_t p = 0; p < pairs; ++p) {
             const std::int64_t axis = integer_at(*call.axis, p);
             const double theta = std::pow(call.base, -static_cast<double>(seen[axis]++) / of_axis[axis]);
             store(DType::f64, call.theta->data() + p * 8, theta);
           }
         }),
         {"each axis has the frequencies of a rope of its own: base^(-i/n) for the i-th of its n pairs",
          {},
          {},
          {"ROT-01", "ANG-07"}});
}

TEST_CASE("Frequencies whose wavelengths are mixed are named") {
  scaling::Llama3 rule;
  rule.factor = 4;
  diagnosis::Params params;
  params.rotary_dim = 4;
  params.source = AngleSource::computed;
  params.scaling = rule;
  const Call call;
  const auto plain = scaling::unscaled<long double>(params.base, params.rotary_dim);
  const auto changed = [&](long double weight) {
    std::vector<long double> theta = plain;
    for (long double& each : theta) each *= weight + (1 - weight) / 4;
    that_says("llama3: between its limits, wavelengths are mixed, not frequencies").change.theta({call, params}, theta);
    return static_cast<double>(theta[1] / plain[1]);
  };
  CHECK(changed(1) == Approx(1));
  CHECK(changed(0) == Approx(0.25));
  CHECK(changed(0.5) == Approx(1 / 2.5));  // half of a wavelength and half of one four times as long
}

TEST_CASE("A ramp of yarn that is never narrower than a pair is told apart where its ends meet") {
  scaling::Yarn rule = yarn_of_factor_8();
  rule.truncate = false;
  rule.beta_fast = rule.beta_slow = 4;
  const auto plain = scaling::unscaled<long double>(10000, 64);
  const auto between = [&](const std::string& sentence) {
    const std::vector<long double> theta = theta_of(sentence, rule, 10000);
    std::int64_t count = 0;
    for (std::size_t p = 0; p < theta.size(); ++p) {
      count += theta[p] < plain[p] * 0.999L && theta[p] > plain[p] / 8 * 1.001L ? 1 : 0;
    }
    return count;
  };
  CHECK(between("yarn: the ramp is at least one pair wide") == 1);
  CHECK(between(other_base) == 0);
}

TEST_CASE("Ends of yarn's ramp by another base are named, and only there") {
  const scaling::Yarn rule = yarn_of_factor_8();
  // The share of the plain frequency, by pair, does not depend on the base. With the base 10000 it is the rule itself.
  const auto of_default = theta_of(other_base, rule, 10000), of_other = theta_of(other_base, rule, 500000);
  const auto plain = scaling::unscaled<long double>(10000, 64), other = scaling::unscaled<long double>(500000, 64);
  const auto right = rule.theta<long double>({.head_dim = 64, .rotary_dim = 64, .base = 10000, .sequence_length = 1});
  for (std::size_t p = 0; p < plain.size(); ++p) {
    CHECK(static_cast<double>(of_default[p] / plain[p]) == Approx(static_cast<double>(of_other[p] / other[p])));
    CHECK(static_cast<double>(of_default[p]) == Approx(static_cast<double>(right[p])));
  }
}

TEST_CASE("What gets the attention factor twice, or not, is named") {
  expect("one of q and k", altered([](const ResultElement& e) {
           const double factor = e.call.attention_factor;
           return e.call.k && e.is_rotary() ? (e.key ? e.y / factor : e.y * factor) : e.y;
         }),
         {"with k in the call, the attention factor is applied twice to q and not to k", {}, {}, factors});
  expect("pairs that do not turn", altered([](const ResultElement& e) {
           const auto* rule = std::get_if<scaling::Proportional>(&e.call.scaling);
           if (rule == nullptr || e.call.source != AngleSource::computed || e.call.attention_factor == 1) return e.y;
           const auto turning = static_cast<std::int64_t>(std::floor(rule->proportion * (e.call.rotary_dim / 2)));
           return e.pair() >= turning ? e.x : e.y;
         }),
         {"pairs whose theta is 0 are left as they are, and not multiplied by the attention factor", {}, {}, factors});
}

TEST_CASE("An attention factor that is rounded with the tables changes only calls that have both") {
  const diagnosis::Hypothesis& h =
      that_says("the attention factor multiplies cos and sin, and the products are rounded to the type of the tables");
  Call call;
  call.cos = Tensor::contiguous(DType::f16, {1, 1});
  call.attention_factor = 0.7;
  CHECK(h.applies(call));
  diagnosis::Params params;
  h.change.params(call, params);
  CHECK(params.lambda == 1);
  diagnosis::Row row{{0.3}, {0.4}, {0}, false};
  h.change.row({call, params}, {}, row);
  CHECK(row.cos[0] == diagnosis::rounded(DType::f16, 0.7 * 0.3));
  CHECK(row.sin[0] == diagnosis::rounded(DType::f16, 0.7 * 0.4));
  call.attention_factor = 1;
  CHECK_FALSE(h.applies(call));
  call.attention_factor = 0.7;
  call.cos->dtype = DType::f64;
  CHECK_FALSE(h.applies(call));
}

TEST_CASE("Tokens at position 0 are left as they are only where there is a factor") {
  const diagnosis::Hypothesis& h =
      that_says("tokens at position 0 are left as they are, and not multiplied by the attention factor");
  Call call;
  call.q = Tensor::contiguous(DType::f32, {1, 2, 1, 4});
  CHECK_FALSE(h.applies(call));
  call.attention_factor = 0.5;
  CHECK(h.applies(call));
  const diagnosis::Params params;
  diagnosis::RowContext spot{call, params};
  CHECK(h.change.write(spot) == diagnosis::Write::copied);
  spot.seq = 1;
  CHECK(h.change.write(spot) == diagnosis::Write::rotated);
}
