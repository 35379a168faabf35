// What identification recovers from the results of calls: the kernel is told base 10000 and no scaling, and executes
// another spec.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>

#include "reference/rotation_plan.hpp"
#include "tests/unit/identify/identified.hpp"
#include "tests/unit/reference/random_spec.hpp"
#include "tools/identify/phase.hpp"

namespace rope {
namespace {

void give_frequencies(Call& call, const RopeSpec& spec) {
  const RotationPlan plan = compile(spec, call.sequence_length);
  const auto pairs = static_cast<std::int64_t>(plan.pairs.size());
  call.source = AngleSource::frequencies;
  call.theta = Tensor::contiguous(DType::f32, {pairs});
  call.axis = Tensor::contiguous(DType::i32, {pairs});
  std::byte *theta = call.theta->data(), *axis = call.axis->data();
  for (const RotatedPair& pair : plan.pairs) {
    const std::int32_t follows = pair.axis;
    store(DType::f32, theta, pair.theta.to_double());
    std::memcpy(axis, &follows, sizeof follows);
    theta += size_of(DType::f32);
    axis += sizeof follows;
  }
}

// A right kernel of another spec than it is told. `float_theta`: its frequencies are rounded to f32.
ExecutedPlan blind(const RopeSpec& executed, DType dtype, bool float_theta = false) {
  RopeSpec told = executed;
  told.base = 10'000;
  told.scaling = scaling::None{};
  told.attention_factor.reset();
  const double lambda = compile(executed, 1).lambda;
  return test::identified(test::way_of(told, dtype), [&](Call& call) {
    Call other = call;
    other.attention_factor = lambda;
    if (float_theta) {
      give_frequencies(other, executed);
    } else {
      other.scaling = executed.scaling;
      other.base = executed.base;
    }
    const Reply reply = test::right_pairing(other);
    call.q_out = std::move(other.q_out);
    return reply;
  });
}

// theta by the features that turn together; pairs that stand still are features that pass through.
std::map<std::pair<int, int>, double> turning(const RopeSpec& spec) {
  std::map<std::pair<int, int>, double> theta;
  for (const RotatedPair& pair : compile(spec, 1 << 20).pairs) {
    const double t = pair.theta.to_double();
    if (t != 0) theta[{pair.first, pair.second}] = t;
  }
  return theta;
}

// The error of the worst pair, relative and up to whole turns. Infinite if other features turn together.
double apart(const RopeSpec& a, const RopeSpec& b) {
  const auto x = turning(a), y = turning(b);
  if (x.size() != y.size()) return INFINITY;
  double worst = 0;
  for (const auto& [features, theta] : x) {
    const auto other = y.find(features);
    if (other == y.end()) return INFINITY;
    // Angles of 0 and of whole turns have the roundings of whole turns.
    const double off = std::fabs(wrapped(theta - other->second)) - 0x1p-50 * (theta + other->second);
    worst = std::max(worst, off / std::fabs(wrapped(theta)));
  }
  return worst;
}

// The pairs of a ramp: how many keep theta, are mixed, are divided by the factor.
struct RampPairs {
  int kept = 0, mixed = 0, divided = 0;
};

RampPairs ramp_pairs(const RopeSpec& spec, double factor) {
  RopeSpec plain = spec;
  plain.scaling = scaling::None{};
  const auto theta = turning(spec), whole = turning(plain);
  RampPairs count;
  for (const auto& [features, t] : theta) {
    const double ratio = t / whole.at(features);
    if (std::fabs(ratio - 1) < 1e-12) {
      ++count.kept;
    } else if (std::fabs(ratio * factor - 1) < 1e-12) {
      ++count.divided;
    } else {
      ++count.mixed;
    }
  }
  return count;
}

// Base and factor, if the frequencies have them; else 0.
struct Numbers {
  double base = 0, factor = 0;
};

Numbers numbers_of(const RopeSpec& spec) {
  Numbers n{spec.base, 0};
  if (const auto* rule = std::get_if<scaling::Ntk>(&spec.scaling))  // only another base
    n.base = spec.base * std::pow(rule->factor, spec.rotary_dim / (spec.rotary_dim - 2.0));
  if (const auto* rule = std::get_if<scaling::Linear>(&spec.scaling)) n.factor = rule->factor;
  if (const auto* rule = std::get_if<scaling::Yarn>(&spec.scaling)) n.factor = rule->factor;
  if (const auto* rule = std::get_if<scaling::Llama3>(&spec.scaling)) n.factor = rule->factor;
  if (const auto* rule = std::get_if<scaling::Proportional>(&spec.scaling)) n.factor = rule->factor;
  if (std::holds_alternative<scaling::Constant>(spec.scaling)) n.base = 0;
  if (const auto* rule = std::get_if<scaling::Pixel>(&spec.scaling)) {
    n.base = 0;
    const double period = 4 * (spec.rotary_dim / 2 - 1);  // whole turns from pair to pair
    n.factor = period > 0 ? rule->max_frequency - period * std::floor(rule->max_frequency / period) : 0;
  }
  return n;
}

std::string_view rule_of(const RopeSpec& spec) {
  return std::holds_alternative<scaling::Ntk>(spec.scaling) ? scaling::None::kind : kind_of(spec.scaling);
}

// Whether no other rule makes the same frequencies with its own numbers: there are more pairs than the rule has
// numbers.
bool singled_out(const RopeSpec& spec) {
  const std::size_t pairs = turning(spec).size();
  const bool all = pairs == static_cast<std::size_t>(spec.rotary_dim) / 2;
  const auto ramp = [&](double factor) {
    const RampPairs count = ramp_pairs(spec, factor);
    // Base, factor and two ends. Where the first pair is kept, it tells none of them.
    const int informative = count.kept - (count.kept > 0 ? 1 : 0) + count.mixed + count.divided;
    return informative > 4 && count.mixed >= 3 && count.divided >= 1;
  };
  if (const auto* rule = std::get_if<scaling::Linear>(&spec.scaling)) return pairs > 2 && rule->factor != 1;
  if (const auto* rule = std::get_if<scaling::Yarn>(&spec.scaling)) return ramp(rule->factor);
  if (const auto* rule = std::get_if<scaling::Llama3>(&spec.scaling)) return ramp(rule->factor);
  // Interleaved pairs that stand still are features beyond a smaller rotary_dim.
  if (std::holds_alternative<scaling::Proportional>(spec.scaling))
    return pairs > 2 && !all && spec.pairing == Pairing::half_split;
  return pairs > 1;
}

enum class Verdict { named, or_named, same_function, no_rule, nothing_turns, wrong };
constexpr const char* words[] = {"named",   "named second",  "another rule that is the same function",
                                 "no rule", "nothing turns", "WRONG"};

bool same_number(double seen, double wanted, double promised) { return std::fabs(seen - wanted) <= promised * wanted; }

Verdict verdict_on(const ExecutedPlan& plan, const RopeSpec& executed, DType dtype) {
  const double promised = test::promised(dtype);
  if (turning(executed).empty()) return plan.pairs.empty() || plan.spec ? Verdict::nothing_turns : Verdict::wrong;
  if (plan.rules.empty() || !plan.rules.front().is_rule) return Verdict::no_rule;
  if (!plan.spec || plan.predicted == 0 || plan.predicted_right != plan.predicted) return Verdict::wrong;
  // The rule differs from the measurement, and the measurement from the spec, by at most that much.
  const double theta_roundoff = 2 * plan.rules.front().theta_roundoff;
  if (apart(*plan.spec, executed) > std::max(promised, theta_roundoff)) return Verdict::wrong;
  const double lambda = compile(executed, 1).lambda, seen = compile(*plan.spec, 1).lambda;
  // Four roundings of an entry, and four of f64 in the norm.
  if (std::fabs(seen - lambda) > 4 * (unit_roundoff(dtype) + 0x1p-53) * lambda) return Verdict::wrong;
  const std::vector<int> axis = axis_of_pairs(executed);
  for (const ExecutedPair& pair : plan.pairs) {
    const bool split = executed.pairing == Pairing::half_split;
    const auto p = static_cast<std::size_t>(split ? pair.features.first : pair.features.first / 2);
    if (pair.theta != 0 && pair.axis != axis[p]) return Verdict::wrong;
  }
  const Numbers wanted = numbers_of(executed);
  for (std::size_t i = 0; i < plan.rules.size(); ++i) {
    const FrequencyRule& rule = plan.rules[i];
    if (rule_of(rule.spec) != rule_of(executed)) continue;
    const Numbers found = numbers_of(rule.spec);
    // From rounded frequencies, the numbers are known only as well as the rounding allows.
    if (rule.theta_roundoff <= 0x1p-46 && singled_out(executed) &&
        (!same_number(found.base, wanted.base, promised) || !same_number(found.factor, wanted.factor, promised)))
      return Verdict::wrong;
    return i == 0 ? Verdict::named : Verdict::or_named;
  }
  return Verdict::same_function;
}

// Random specs of these rules, as indices of Scaling. Prints the figures if they were asked for.
void check_blind(DType dtype, const std::vector<std::size_t>& rules, bool float_theta) {
  std::map<std::string, std::map<Verdict, int>> seen;  // by rule
  const auto wrong = test::counterexample(
      [&] {
        // All sizes alike; unshrunk, because another rule draws other numbers.
        RopeSpec spec = *rc::gen::noShrink(rc::gen::resize(
            rc::kNominalSize, rc::gen::exec([&] { return test::any_spec_of(*rc::gen::elementOf(rules)); })));
        spec.head_dim += spec.head_dim % 2;  // the contract has only even ones
        const ExecutedPlan plan = blind(spec, dtype, float_theta);
        const Verdict verdict = verdict_on(plan, spec, dtype);
        ++seen[std::string(kind_of(spec.scaling))][verdict];
        RC_LOG() << words[static_cast<int>(verdict)] << "\n" << to_flags(spec) << "\n" << test::in_words(plan);
        RC_ASSERT(verdict != Verdict::wrong);
        RC_ASSERT(verdict == Verdict::named || !singled_out(spec) ||
                  (float_theta && verdict != Verdict::same_function));
      },
      test::spec_count());
  INFO(name(dtype));
  INFO(wrong.value_or(""));
  CHECK_FALSE(wrong.has_value());
  if (std::getenv("ROPECHECK_IDENTIFY_SPECS") == nullptr) return;
  for (const auto& [rule, verdicts] : seen) {
    std::vector<std::string> counts;
    for (const auto& [verdict, count] : verdicts)
      counts.push_back(fmt::format("{} {}", count, words[static_cast<int>(verdict)]));
    fmt::print("{}{} {}: {}\n", name(dtype), float_theta ? ", theta in f32," : "", rule, fmt::join(counts, ", "));
  }
}

TEST_CASE("identify: base, rule and factor are found though the kernel was told others", "[identify]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    check_blind(dtype, {0, 1, 2, 4, 6, 7, 8, 9}, false);  // all whose theta does not depend on the length
  }
}

// Finds the function to the reported roundoff, and no other rule. Without pixel: its theta of many turns loses more to
// f32 than the promise allows.
TEST_CASE("identify: the rule is found where theta was rounded to f32", "[identify]") {
  check_blind(DType::f32, {0, 1, 2, 4, 6, 7, 9}, true);
}

TEST_CASE("identify: a plan recovered from one spec does not pass for another", "[identify]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 128;
  const auto with = [&](double base, Scaling scaling) {
    RopeSpec other = spec;
    other.base = base;
    other.scaling = std::move(scaling);
    return other;
  };
  const RopeSpec executed = with(500'000, scaling::Llama3{{}, 8, 1, 4, 8192});
  const ExecutedPlan plan = blind(executed, DType::f32);
  REQUIRE(verdict_on(plan, executed, DType::f32) == Verdict::named);
  for (const RopeSpec& other : {with(500'000, scaling::Llama3{{}, 8.00002, 1, 4, 8192}),
                                with(500'001, scaling::Llama3{{}, 8, 1, 4, 8192}), with(500'000, scaling::None{})}) {
    CHECK(verdict_on(plan, other, DType::f32) == Verdict::wrong);
  }
  RopeSpec other = executed;
  other.attention_factor = 1.0001;
  CHECK(verdict_on(plan, other, DType::f32) == Verdict::wrong);
  other = executed;
  other.pairing = Pairing::interleaved;
  CHECK(verdict_on(plan, other, DType::f32) == Verdict::wrong);
}

}  // namespace
}  // namespace rope
