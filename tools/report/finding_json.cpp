#include "tools/report/finding_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/judge/run/explain.hpp"
#include "tools/report/numpy_snippet.hpp"
#include "tools/report/words.hpp"

namespace rope {
namespace {

std::string bits(DType dtype, double value) {
  std::uint64_t raw = 0;
  store(dtype, &raw, value);
  return fmt::format("0x{:0{}x}", raw, 2 * size_of(dtype));
}

const char* name(Compared what) {
  switch (what) {
    case Compared::element: return "element";
    case Compared::row: return "row";
    case Compared::score: return "score";
    case Compared::mean: return "mean";
  }
  return "";
}

}  // namespace

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json element_json(const Element& e, const Case& c) {
  Json json{{"tensor", e.tensor},
            {"batch", e.row.batch},
            {"token", e.row.seq},
            {"head", e.row.head},
            {"feature", e.feature},
            {"position", e.position},
            {"phi", json_number(e.phi)},
            {"dtype", name(e.dtype)},
            {"expected", json_number(e.expected)},
            {"expected_bits", bits(e.dtype, e.expected)},
            {"actual", json_number(e.actual)},
            {"actual_bits", fmt::format("0x{:0{}x}", e.actual_bits, 2 * size_of(e.dtype))},
            {"error", json_number(e.error)},
            {"bound", json_number(e.bound)},
            {"place", place(e, c)}};
  json["pair"] = e.pair ? Json(*e.pair) : Json(nullptr);
  if (e.what != Compared::element) json["what"] = name(e.what);
  return json;
}

Json finding_json(const Finding& finding, const Case& c, const std::string& subject, Grade required) {
  Json json{{"case", to_text(c)},
            {"kind", name(finding.kind)},
            {"message", explain(finding)},
            {"spec", Json::parse(to_json(c.spec))},
            {"replay", replay_command(c, subject, required)}};
  if (finding.element) json["element"] = element_json(*finding.element, c);
  if (const auto snippet = numpy_snippet(finding, c)) json["numpy"] = *snippet;
  return json;
}

}  // namespace rope
