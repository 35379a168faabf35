#include "tools/report/html/compared.hpp"

#include <cmath>

#include "tools/report/html/page.hpp"
#include "tools/report/html/render.hpp"

namespace rope::html {
namespace {

constexpr std::size_t most_rows = 1000;  // of a page

Tone tone_of(Change::Kind kind) {
  return kind == Change::Kind::worse ? bad : kind == Change::Kind::better ? good : neutral;
}

Json row_of(const Change& change) {
  Json row{{"what", change.what}, {"a", change.before}, {"b", change.after}, {"sentence", change.sentence}};
  set_tone(row, tone_of(change.kind));
  row["word"] = change.kind == Change::Kind::worse ? "worse" : change.kind == Change::Kind::better ? "better" : "other";
  return row;
}

Json moved_row(const MovedError& moved) {
  const double factor = moved.after / moved.before;
  Json row{{"what", moved.what},
           {"a", fmt::format("{:.3g}", moved.before)},
           {"b", fmt::format("{:.3g}", moved.after)},
           {"factor", std::isfinite(factor) && factor > 0 ? fmt::format("{:.3g} times", factor) : "–"}};
  set_tone(row, moved.after > 1 && moved.before <= 1 ? bad : moved.after <= 1 && moved.before > 1 ? good : neutral);
  return row;
}

}  // namespace

std::string page_of(const Comparison& comparison, std::string_view version) {
  Json compared{{"before", comparison.before}, {"after", comparison.after}, {"verdict", verdict_words(comparison)},
                {"pairs_compared", Json::array()}};
  set_tone(compared, comparison.is_worse() ? bad : good);
  std::size_t rows = 0;
  for (const SubjectComparison& subject : comparison.subjects) {
    Json one{{"anchor", fmt::format("c{}", compared["pairs_compared"].size() + 1)}, {"name", subject.name},
             {"change", change_words(subject)}, {"rows", Json::array()}, {"moved_rows", Json::array()},
             {"count", std::to_string(subject.moved.size())}};
    one["causes"] = false;
    for (const Change& change : subject.changes) {
      if (change.what == "diagnosis") {  // sentences, which would make two columns wide
        one["causes"] = {{"a", change.before}, {"b", change.after}};
        continue;
      }
      if (++rows <= most_rows) one["rows"].push_back(row_of(change));
    }
    for (const MovedError& moved : subject.moved) {
      if (++rows <= most_rows) one["moved_rows"].push_back(moved_row(moved));
    }
    one["has_rows"] = !one["rows"].empty();
    one["moved"] = !one["moved_rows"].empty();
    compared["pairs_compared"].push_back(std::move(one));
  }
  Json model{{"version", version}, {"kind", "compare"}, {"overview", false}, {"subjects", false},
             {"identified", false}, {"golden", false}, {"certified", false}, {"left_out", false}, {"interrupted", false},
             {"title", fmt::format("ropecheck compare: {}", verdict_words(comparison))},
             {"compared", std::move(compared)}, {"run_facts", {fact("ropecheck", std::string(version))}}};
  if (rows > most_rows) model["left_out"] = fmt::format("{} rows are left out; the terminal has all.", rows - most_rows);
  return rendered(std::move(model), Json());
}

}  // namespace rope::html
