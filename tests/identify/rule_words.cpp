#include "tests/identify/rule_words.hpp"

#include <fmt/format.h>

namespace rope {
namespace {

std::string words(const scaling::None&, double base) { return fmt::format("base {:.10g}", base); }

std::string words(const scaling::Linear& rule, double base) {
  return fmt::format("linear, factor {:.10g}, base {:.10g}", rule.factor, base);
}

std::string words(const scaling::Ntk& rule, double base) {
  return fmt::format("ntk, factor {:.10g}, base {:.10g}", rule.factor, base);
}

std::string words(const scaling::Dynamic& rule, double base) {
  return fmt::format("dynamic, factor {:.10g}, original length {:.10g}, base {:.10g}", rule.factor,
                     rule.original_max_position_embeddings, base);
}

std::string words(const scaling::Yarn& rule, double base) {
  return fmt::format(
      "yarn, factor {:.10g}, original length {:.10g} with beta_fast {:.5g}, beta_slow {:.5g}, {}, base {:.10g}",
      rule.factor, rule.original_max_position_embeddings, rule.beta_fast, rule.beta_slow,
      rule.truncate ? "truncated" : "not truncated", base);
}

std::string words(const scaling::LongRope& rule, double base) {
  return fmt::format(
      "longrope: a factor of its own for each pair, {:.5g} .. {:.5g} at short lengths, {:.5g} .. {:.5g} "
      "at long ones, base {:.10g}",
      rule.short_factor.front(), rule.short_factor.back(), rule.long_factor.front(), rule.long_factor.back(), base);
}

std::string words(const scaling::Llama3& rule, double base) {
  return fmt::format(
      "llama3, factor {:.10g}, original length {:.10g} with low_freq_factor {:.6g}, high_freq_factor {:.6g}, base "
      "{:.10g}",
      rule.factor, rule.original_max_position_embeddings, rule.low_freq_factor, rule.high_freq_factor, base);
}

std::string words(const scaling::Proportional& rule, double base) {
  return fmt::format("proportional, proportion {:.6g}, factor {:.10g}, base {:.10g}", rule.proportion, rule.factor,
                     base);
}

std::string words(const scaling::Pixel& rule, double) {
  return fmt::format("pixel, max_frequency {:.10g}", rule.max_frequency);
}

std::string words(const scaling::Constant&, double) { return "constant: every pair turns one radian a position"; }

}  // namespace

std::string rule_words(const RopeSpec& spec) {
  return std::visit([&](const auto& rule) { return words(rule, spec.base); }, spec.scaling);
}

}  // namespace rope
