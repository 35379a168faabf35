#include "tools/judge/run/explain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reference/pair_features.hpp"
#include "tools/judge/run/shell_word.hpp"

namespace rope {
namespace {

std::string against_bound(const Element& e) {
  const std::string factor =
      e.bound > 0 && std::isfinite(e.error) ? fmt::format("{:.3g} times", e.error / e.bound) : std::string("beyond");
  return fmt::format("{:.3g} is {} the bound {:.3g}", e.error, factor, e.bound);
}

std::string against_oracle(const Element& e) {
  return fmt::format("feature {}: {} where {} is exact; the error {}", e.feature, value_with_bits(e.dtype, e.actual),
                     value_with_bits(e.dtype, e.expected), against_bound(e));
}

std::string in_digits(const Element& e, double value) {
  const std::string actual = fmt::format("{:.9g}", e.actual), expected = fmt::format("{:.9g}", e.expected);
  return actual == expected ? fmt::format("{:.17g}", value) : fmt::format("{:.9g}", value);
}

}  // namespace

std::string replay_command(const Case& c, const std::string& subject, Grade required) {
  return fmt::format("ropecheck replay '{}' --subject {}{}", to_text(c), shell_word(subject),
                     required == Grade{} ? "" : " --require " + name(required));
}

std::string value_with_bits(DType dtype, double value) {
  std::uint64_t bits = 0;
  store(dtype, &bits, value);
  return fmt::format("{:.9g} (0x{:0{}x})", value, bits, 2 * size_of(dtype));
}

std::string place(const Element& e, const Case& c) {
  if (e.what == Compared::mean) return fmt::format("the mean of {}", e.tensor);
  if (e.what == Compared::score) {
    return fmt::format("the query at token {} and the key at token {}, batch {}, head {}", e.row.seq, e.feature,
                       e.row.batch, e.row.head);
  }
  std::string text = fmt::format("{}[batch {}, token {}, head {}]", e.tensor, e.row.batch, e.row.seq, e.row.head);
  if (e.pair) {
    const auto [first, second] = pair_features(c.spec, static_cast<int>(*e.pair));
    text += fmt::format(", pair {} (features {} and {})", *e.pair, first, second);
    if (e.position != 0 || e.phi != 0) text += fmt::format(", position {}", e.position);
    if (e.phi != 0) text += fmt::format(", phi {:.4g}", e.phi);
  } else if (e.what == Compared::element) {
    text += fmt::format(", feature {}", e.feature);
  }
  return text;
}

Finding told(Finding finding, std::string_view things, std::string_view actual, std::string_view expected) {
  if (finding.kind != FailureKind::relation) return finding;
  const Element& e = *finding.element;
  finding.message = fmt::format("{} of {} {} are {}; the worst: {} is {}, {} is {}", finding.wrong, finding.compared,
                                things, e.bound > 0 ? "beyond the bound" : "not equal", actual, in_digits(e, e.actual),
                                expected, in_digits(e, e.expected));
  if (std::isfinite(e.expected)) {
    finding.message += "; the difference " + (e.bound > 0 ? against_bound(e) : fmt::format("{:.3g}", e.error));
  }
  return finding;
}

Finding told(Finding finding, std::string_view calls) {
  if (finding.kind != FailureKind::repetition) return finding;
  const Element& e = *finding.element;
  finding.message =
      fmt::format("{} of {} elements differ between {}; the first is feature {}: {}, then {}", finding.wrong,
                  finding.compared, calls, e.feature, value_with_bits(e.dtype, e.expected),
                  value_with_bits(e.dtype, e.actual));
  return finding;
}

bool relates_results(const Finding& finding) {
  switch (finding.kind) {
    case FailureKind::value:
    case FailureKind::unwritten: return false;
    case FailureKind::relation:
    case FailureKind::repetition: return true;
    default: break;
  }
  if (!finding.element || finding.element->rotation) return false;
  return finding.element->pair || finding.element->bound > 0;  // copied features have neither
}

std::vector<Detail> details(const Finding& finding) {
  if (!finding.element || finding.element->what == Compared::mean) return {};
  const Element& e = *finding.element;
  const std::string expected = value_with_bits(e.dtype, e.expected);
  const std::string actual = value_with_bits(e.dtype, e.actual);
  if (finding.kind == FailureKind::repetition) return {{"at first", expected}, {"then", actual}};
  const bool related = relates_results(finding);
  std::vector<Detail> lines{{related ? "asked for" : "expected", expected}, {"actual", actual}};
  // Poison has no distance to anything, and nothing has a distance to an expected NaN.
  if (finding.kind == FailureKind::unwritten || (related && !std::isfinite(e.expected))) return lines;
  lines.push_back({related ? "apart" : "error", fmt::format("{:.6g}, bound {:.6g}", e.error, e.bound)});
  return lines;
}

std::string headline(const std::string& message) { return message.substr(0, message.find('\n')); }

std::string explain(const Failure& failure) {
  std::string text = explain(failure.finding);
  if (failure.held_again > 0) {
    text += fmt::format(
        "; could not be repeated (0 of {}, each in a new process): it shows only now and then, or after "
        "other calls",
        failure.held_again);
  } else if (failure.needs_earlier_calls && !failure.minimal.before.empty()) {
    text += "; without the calls before it the case passes: the kernel keeps state from earlier calls (STA-02)";
  } else if (failure.needs_earlier_calls) {
    text += "; in a new process the case passes: the kernel keeps state from earlier calls (STA-01)";
  }
  return text;
}

std::string explain(const Finding& finding) {
  switch (finding.kind) {
    case FailureKind::none:
      if (!finding.decided) return "not decided: " + finding.message;
      return finding.message.empty() ? "holds" : "holds: " + finding.message;
    case FailureKind::value:
      return fmt::format("{} of {} elements are wrong; the worst is {}", finding.wrong, finding.compared,
                         against_oracle(*finding.element));
    case FailureKind::unwritten:
      return fmt::format("{} elements were never written: feature {} still holds what it held before, 0x{:x}",
                         finding.wrong, finding.element->feature, finding.element->actual_bits);
    case FailureKind::relation:
    case FailureKind::repetition:
    case FailureKind::status:
    case FailureKind::exception:
    case FailureKind::crash:
    case FailureKind::timeout:
    case FailureKind::misbehaviour:
    case FailureKind::missing:
    case FailureKind::malformed: return finding.message;
  }
  return "";
}

}  // namespace rope
