#include "tools/report/formats.hpp"

#include "tools/report/html/page.hpp"
#include "tools/report/json.hpp"
#include "tools/report/junit.hpp"
#include "tools/report/markdown.hpp"

namespace rope {

std::span<const Format> formats() {
  static constexpr Format rows[] = {
      {"json", "all that is known; tools/report/report.schema.json", json_report},
      {"junit", "JUnit XML, as CI systems read it", junit_report},
      {"html", "a page for a browser, in one file", [](const RunReport& run) { return html::page_of(json_report(run)); }},
      {"markdown", "a page, such as GitHub's step summary", [](const RunReport& run) { return markdown_report(run); }},
  };
  return rows;
}

}  // namespace rope
