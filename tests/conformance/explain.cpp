#include "tests/conformance/explain.hpp"

#include <fmt/format.h>

#include <cmath>

namespace rope {
namespace {

std::string compared(const Element& e, const std::string& noun) {
  const std::string factor =
      e.bound > 0 && std::isfinite(e.error) ? fmt::format("{:.3g} times", e.error / e.bound) : std::string("beyond");
  return fmt::format("{} {} where {} is exact; the error {:.3g} is {} the bound {:.3g}", noun,
                     value_with_bits(e.dtype, e.actual), value_with_bits(e.dtype, e.expected), e.error, factor,
                     e.bound);
}

// In single quotes where a shell would read anything else than the word itself.
std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:=,@%#";
  if (!word.empty() && word.front() != '#' && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

}  // namespace

std::string replay_command(const Case& c, const std::string& subject) {
  return fmt::format("ropecheck replay '{}' --subject {}", to_text(c), shell_word(subject));
}

std::string value_with_bits(DType dtype, double value) {
  std::uint64_t bits = 0;
  store(dtype, &bits, value);
  return fmt::format("{:.9g} (0x{:0{}x})", value, bits, 2 * size_of(dtype));
}

std::string place(const Element& e, const Case& c) {
  std::string text = fmt::format("{}[batch {}, token {}, head {}]", e.tensor, e.row.batch, e.row.seq, e.row.head);
  if (e.pair) {
    const auto p = static_cast<int>(*e.pair);
    const int half = c.spec.rotary_dim / 2;
    const bool split = c.spec.pairing == Pairing::half_split;
    text += fmt::format(", pair {} (features {} and {})", p, split ? p : 2 * p, split ? p + half : 2 * p + 1);
    if (e.position != 0 || e.phi != 0) text += fmt::format(", position {}", e.position);
    if (e.phi != 0) text += fmt::format(", phi {:.4g}", e.phi);
  } else {
    text += fmt::format(", feature {}", e.feature);
  }
  return text;
}

std::string explain(const Finding& finding) {
  switch (finding.kind) {
    case FailureKind::none: return "holds";
    case FailureKind::value:
      return fmt::format("{} of {} elements are wrong; the worst is {}", finding.wrong, finding.compared,
                         compared(*finding.element, fmt::format("feature {}:", finding.element->feature)));
    case FailureKind::unwritten:
      return fmt::format("{} elements were never written; the first is feature {}, which still holds the poison 0x{:x}",
                         finding.wrong, finding.element->feature, finding.element->actual_bits);
    case FailureKind::relation:
      return fmt::format("{} of {} relations do not hold; the worst gives {}", finding.wrong, finding.compared,
                         compared(*finding.element, "value"));
    case FailureKind::repetition:
      return fmt::format("{} of {} elements of the same call came out otherwise; the first is feature {}: {}, then {}",
                         finding.wrong, finding.compared, finding.element->feature,
                         value_with_bits(finding.element->dtype, finding.element->expected),
                         value_with_bits(finding.element->dtype, finding.element->actual));
    case FailureKind::status:
    case FailureKind::crash:
    case FailureKind::timeout:
    case FailureKind::misbehaviour: return finding.message;
  }
  return "";
}

}  // namespace rope
