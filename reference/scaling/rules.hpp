// The scaling rules. A rule changes theta and lambda and nothing else. To add one: write its file beside the others and
// add it to the list at the end of this one.
#pragma once

#include <string_view>
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

using Scaling =
    std::variant<scaling::None, scaling::Linear, scaling::Ntk, scaling::Dynamic, scaling::Yarn, scaling::LongRope,
                 scaling::Llama3, scaling::Proportional, scaling::Pixel, scaling::Constant>;

inline std::string_view kind_of(const Scaling& rule) {
  return std::visit([](const auto& r) { return r.kind; }, rule);
}

// theta of each pair, in the number type T: Real for the oracle, double for kernels. The text of a rule is written
// once.
template <class T>
std::vector<T> frequencies(const Scaling& rule, const scaling::Setting& setting) {
  return std::visit([&](const auto& r) { return r.template theta<T>(setting); }, rule);
}

// lambda as the rule itself has it.
template <class T>
T attention_factor(const Scaling& rule, const scaling::Setting& setting) {
  return std::visit([&](const auto& r) { return r.template lambda<T>(setting); }, rule);
}

}  // namespace rope
