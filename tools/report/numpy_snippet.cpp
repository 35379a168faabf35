#include "tools/report/numpy_snippet.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "tools/judge/run/explain.hpp"

namespace rope {
namespace {

std::string literal(double value) {
  if (std::isfinite(value)) return fmt::format("{:#}", value);
  return std::isnan(value) ? "np.nan" : value > 0 ? "np.inf" : "-np.inf";
}

std::uint64_t bits_of(DType dtype, double value) {
  std::uint64_t bits = 0;
  store(dtype, &bits, value);
  return bits;
}

// Values of a dtype from their bits. numpy has no bf16: it is the upper half of an f32.
std::string array(DType dtype, const std::vector<std::uint64_t>& bits) {
  std::string list;
  for (const std::uint64_t one : bits) {
    list += fmt::format("{}0x{:0{}x}", list.empty() ? "" : ", ", one, 2 * size_of(dtype));
  }
  switch (dtype) {
    case DType::f64: return fmt::format("np.array([{}], np.uint64).view(np.float64)", list);
    case DType::f32: return fmt::format("np.array([{}], np.uint32).view(np.float32).astype(np.float64)", list);
    case DType::f16: return fmt::format("np.array([{}], np.uint16).view(np.float16).astype(np.float64)", list);
    default: return fmt::format("(np.array([{}], np.uint32) << 16).view(np.float32).astype(np.float64)", list);
  }
}

std::string angle_lines(const Element& e, const Rotation& r) {
  const PairAngle& t = r.angle;
  const double cosines[] = {t.cos_first.hi, t.cos_second.hi};
  const double sines[] = {t.sin_first.hi, t.sin_second.hi};
  if (r.source == AngleSource::tables) {
    const auto table = [&](const double(&row)[2]) {
      return array(r.given, {bits_of(r.given, row[0]), bits_of(r.given, row[1])});
    };
    return fmt::format("# The {} tables hold, for the two features at position {}:\ncos = {}\nsin = {}\n",
                       name(r.given), e.position, table(cosines), table(sines));
  }
  const std::string from = r.source == AngleSource::frequencies ? fmt::format("given in {}", name(r.given))
                                                                : std::string("exact, rounded to float64");
  return fmt::format(
      "position = {}\ntheta = {}  # radians a position, {}\nphi = position * theta\n"
      "# Of the exact phi, rounded once. numpy's own are as near as phi in float64 allows: 2^-53 |phi|.\n"
      "cos = np.array([{}] * 2)\nsin = np.array([{}] * 2)\n"
      "print(\"cos, sin  \", cos[0], sin[0], \" numpy:\", np.cos(phi), np.sin(phi))\n",
      e.position, literal(r.theta), from, literal(cosines[0]), literal(sines[0]));
}

const char* formula(const Rotation& r) {
  if (r.backward) return r.of_second ? "x[1] * cos[1] - x[0] * sin[0]" : "x[0] * cos[0] + x[1] * sin[1]";
  return r.of_second ? "x[1] * cos[1] + x[0] * sin[1]" : "x[0] * cos[0] - x[1] * sin[0]";
}

}  // namespace

std::optional<std::string> numpy_snippet(const Finding& finding, const Case& c) {
  if (!finding.element || !finding.element->rotation) return std::nullopt;
  const Element& e = *finding.element;
  const Rotation& r = *e.rotation;
  std::string text = fmt::format("# {}\n# {}, feature {}{}\nimport numpy as np\n\n", to_text(c), place(e, c), e.feature,
                                 r.backward ? ", backward" : "");
  text += fmt::format("x = {}  # the pair, {}\n", array(r.input, {r.bits[0], r.bits[1]}), name(r.input));
  text += angle_lines(e, r);
  text += fmt::format("attention_factor = {}\nexpected = attention_factor * ({})\n", literal(r.lambda), formula(r));
  text += fmt::format("actual = {}[0]  # {}\nbound = {}\n", array(e.dtype, {e.actual_bits}), name(e.dtype),
                      literal(e.bound));
  text +=
      "print(\"expected  \", expected)\n"
      "print(\"actual    \", actual)\n"
      "print(\"error     \", abs(actual - expected), \" bound:\", bound)\n";
  return text;
}

std::string why_no_snippet(const Finding& finding) {
  if (!finding.element) {
    return finding.passed() ? "the check compares bits and found none that differ"
                            : "the call itself went wrong, so there is no element to compute again";
  }
  if (finding.element->what == Compared::mean) return "the check takes the mean of all results";
  const bool is_relation = finding.kind == FailureKind::relation || finding.kind == FailureKind::repetition;
  // Copied elements have no bound; a relation has one.
  if (!finding.element->pair && finding.element->bound == 0 && !is_relation) {
    return "the feature lies outside of rotary_dim and is to be copied, so nothing is computed";
  }
  return "the check compares results of the kernel with each other, so no single element can be computed";
}

}  // namespace rope
