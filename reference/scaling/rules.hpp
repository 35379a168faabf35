// The scaling rules. A rule changes theta and lambda and nothing else. To add one: write its file beside the others,
// append it to the list below, and add its number to rope_scaling_kind in impls/include/rope_kernel.h. The rest of the
// repository asks here for everything else it needs; CONTRIBUTING.md has the list.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reference/scaling/constant.hpp"
#include "reference/scaling/dynamic.hpp"
#include "reference/scaling/linear.hpp"
#include "reference/scaling/llama3.hpp"
#include "reference/scaling/longrope.hpp"
#include "reference/scaling/none.hpp"
#include "reference/scaling/ntk.hpp"
#include "reference/scaling/pixel.hpp"
#include "reference/scaling/proportional.hpp"
#include "reference/scaling/yarn.hpp"

namespace rope {

// In the order of rope_scaling_kind: a rule's index is its number there. None is the first.
using Scaling =
    std::variant<scaling::None, scaling::Linear, scaling::Ntk, scaling::Dynamic, scaling::Yarn, scaling::LongRope,
                 scaling::Llama3, scaling::Proportional, scaling::Pixel, scaling::Constant>;

inline constexpr std::size_t scaling_kind_count = std::variant_size_v<Scaling>;

// visit(rule) for each rule with its default parameters, in the order of the list.
template <class Visit>
constexpr void for_each_rule(Visit&& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (visit(std::variant_alternative_t<I, Scaling>{}), ...); }
  (std::make_index_sequence<scaling_kind_count>());
}

// Their names, by number.
inline constexpr auto scaling_kinds = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{std::variant_alternative_t<I, Scaling>::kind...};
}
(std::make_index_sequence<scaling_kind_count>());

inline std::string_view kind_of(const Scaling& rule) {
  return std::visit([](const auto& r) { return r.kind; }, rule);
}

// The rule of that number with its default parameters. Throws InputError for an unknown number.
Scaling rule_of_kind(std::int64_t number);

// Whether theta or lambda depend on the length of the sequence.
bool follows_length(const Scaling& rule);

// The number of tokens that the model was trained for without the rule; 0 if the rule does not ask for it.
double original_length(const Scaling& rule);

// The rule's lists with a value per pair: short_factor and long_factor, or none.
using ListPerPair = std::pair<std::string_view, const std::vector<double>*>;
std::vector<ListPerPair> lists_of(const Scaling& rule);

// The rule for that many pairs: its lists are cut, or filled up with 1.
Scaling for_pairs(Scaling rule, int pairs);

// Whether the rule's own check() accepts the dimensions and the base.
bool goes_with(const Scaling& rule, const scaling::Setting& setting);

// The suite's examples of every rule that accepts the dimensions, for an original length of `length`.
std::vector<scaling::Example<Scaling>> example_rules(const scaling::Setting& setting, double length);

// Every rule that stretches to a multiple of the original length, with factor 4. For tests of what a kernel keeps from
// call to call.
std::vector<Scaling> fourfold_rules(const scaling::Setting& setting, double length);

// The rule with another value of one of its choices, such as yarn's truncate: one for each other value of each choice.
std::vector<Scaling> with_other_choices(const Scaling& rule);

// "linear, factor 4, base 10000"
std::string rule_words(const Scaling& rule, double base);

// A rule other than none, all equally likely; none if the drawn rule does not accept the dimensions. `draw` has
// below(n): 0 .. n-1; one_in(n): true once in n times; one_of({..}).
template <class Draw>
Scaling drawn_rule(Draw& draw, const scaling::Setting& setting) {
  Scaling rule = rule_of_kind(1 + draw.below(static_cast<std::int64_t>(scaling_kind_count) - 1));
  std::visit([&](auto& r) { r = r.drawn(draw, setting); }, rule);
  return goes_with(rule, setting) ? rule : scaling::None{};
}

// theta of each pair, in the number type T: Real for the oracle, double for kernels. So a rule is written only
// once.
template <class T>
std::vector<T> frequencies(const Scaling& rule, const scaling::Setting& setting) {
  return std::visit([&](const auto& r) { return r.template theta<T>(setting); }, rule);
}

// lambda by the rule itself.
template <class T>
T attention_factor(const Scaling& rule, const scaling::Setting& setting) {
  return std::visit([&](const auto& r) { return r.template lambda<T>(setting); }, rule);
}

}  // namespace rope
