#include "tools/report/html/page.hpp"

#include <algorithm>

#include "reference/input_error.hpp"
#include "tools/report/html/render.hpp"
#include "tools/report/words.hpp"

namespace rope::html {
namespace {

constexpr Detail details[] = {Detail::all, Detail::without_data, Detail::without_pictures, Detail::verdicts};

std::string left_out_words(Detail detail) {
  switch (detail) {
    case Detail::all: return "";
    case Detail::without_data: return "The JSON report is left out: this page would be larger than 1 MB. --json writes it.";
    case Detail::without_pictures:
      return "Pictures, numpy snippets and the JSON report are left out: this page would be larger than 1 MB. --json "
             "writes all of it.";
    case Detail::verdicts:
      return "Only verdicts are shown: this page would be larger than 1 MB. --json writes all of it; judge fewer kernels "
             "at once for a page with details.";
  }
  return "";
}

Json facts_of_run(const Json& report) {
  Json facts = Json::array({fact("ropecheck", word(report, "version"))});
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.push_back(fact(name, value));
  };
  add("started", word(report, "started"));
  add("machine", word(report, "machine"));
  double seconds = 0;
  std::vector<std::string> seeds;
  for (const Json& subject : report.at("subjects")) {
    if (!subject.contains("seed")) continue;
    seconds += subject.at("seconds").get<double>();
    const std::string seed = subject["seed"].dump();
    if (std::ranges::find(seeds, seed) == seeds.end()) seeds.push_back(seed);
  }
  if (!seeds.empty()) {
    add("seed", fmt::format("{}", fmt::join(seeds, ", ")));
    add("time", fmt::format("{:.1f} s", seconds));
  }
  if (report.contains("time_limit")) {
    add("time limit", fmt::format("{:g} s", report.at("time_limit").get<double>()));
  }
  add("schema", report.at("schema").dump());
  return facts;
}

std::string title_of(const Json& one) { return fmt::format("{}: {}", word(one, "name"), word(one, "verdict")); }

// Verdicts until the page is full.
Json overview_of(const Json& subjects, const Json& not_judged, const Json& refused, bool has_sections) {
  Json rows = Json::array();
  std::size_t size = 0, cut = 0;
  const auto add = [&](Json row) {
    size += row.dump().size() + 200;
    if (size > page_limit / 2) {
      ++cut;
    } else {
      rows.push_back(std::move(row));
    }
  };
  for (const Json& s : subjects) {
    add({{"name", s["name"]}, {"verdict", s["verdict"]}, {"counts", s["counts"]}, {"tone", s["tone"]},
         {"mark", s["mark"]}, {"anchor", has_sections ? s["anchor"] : Json(false)}});
  }
  for (const Json& name : not_judged) {
    add({{"name", name}, {"verdict", "not judged: interrupted before its turn"}, {"counts", ""}, {"tone", "warn"},
         {"mark", "!"}, {"anchor", false}});
  }
  for (const Json& one : refused) {
    add({{"name", one.at("subject")}, {"verdict", "refused"}, {"counts", one.at("why")}, {"tone", "bad"}, {"mark", "!"},
         {"anchor", false}});
  }
  if (cut > 0) {
    rows.push_back({{"name", fmt::format(".. and {} more", cut)}, {"verdict", "--json has all"}, {"counts", ""},
                    {"tone", "none"}, {"mark", ""}, {"anchor", false}});
  }
  return rows;
}

constexpr const char* interrupted_words = "The run was interrupted: not every subject and case is on this page.";

std::string overview_title(const Json& subjects, std::size_t not_judged, bool interrupted) {
  if (subjects.empty()) return "No verdict";
  std::size_t right = 0;
  for (const Json& s : subjects) right += s["tone"] == "good" ? 1 : 0;
  const std::string all = counted(static_cast<std::int64_t>(subjects.size() + not_judged), "subject");
  return right == subjects.size() && not_judged == 0 && !interrupted ? fmt::format("All of {} conform", all)
                                                     : fmt::format("{} of {} conform", right, all);
}

// The sections of each kind of report, with the name of their template.
struct Sections {
  const char* part = "subjects";
  std::string kind;
  Json models = Json::array();
};

std::size_t count_in(const Json& report, const char* list) {
  return report.contains(list) ? report.at(list).size() : 0;
}

Sections sections_of(const Json& report, Detail detail) {
  Sections sections;
  const Json& subjects = report.at("subjects");
  // Without subjects only this field tells which command wrote the report.
  sections.kind = !subjects.empty() || report.contains("not_judged") ? "verify" : "";
  const bool many = subjects.size() + count_in(report, "not_judged") + count_in(report, "refused") > 1;
  int index = 0;
  for (const Json& subject : subjects) {
    const Placing placing{fmt::format("s{}", ++index), many ? 2 : 1, detail};
    if (subject.contains("requirements")) {
      sections.models.push_back(subject_model(subject, placing));
    } else if (subject.contains("golden")) {
      sections.part = "golden";
      sections.kind = "golden verify";
      sections.models.push_back(golden_model(subject, placing));
    } else {
      sections.part = "identified";
      sections.kind = "identify";
      int way = 0;
      for (const Json& plan : subject.at("plans")) {
        sections.models.push_back(
            identified_model(subject, plan, {fmt::format("s{}-{}", index, ++way), placing.level, detail}));
      }
    }
  }
  return sections;
}

std::string page_with(const Json& report, Detail detail) {
  Sections sections = sections_of(report, detail);
  const Json not_judged = report.value("not_judged", Json::array());
  const Json refused = report.value("refused", Json::array());
  Json model{{"version", report.at("version")}, {"kind", sections.kind}, {"overview", false}, {"subjects", false},
             {"identified", false}, {"golden", false}, {"compared", false}, {"certified", false}, {"left_out", false}, {"interrupted", false}};
  const bool interrupted = report.value("interrupted", false);
  if (interrupted) model["interrupted"] = interrupted_words;
  if (const std::string words = left_out_words(detail); !words.empty()) model["left_out"] = words;
  const std::string all = overview_title(sections.models, not_judged.size() + refused.size(), interrupted);
  model["title"] = sections.models.size() == 1
                       ? title_of(sections.models[0])
                       : fmt::format("{}: ropecheck{}{}", all, sections.kind.empty() ? "" : " ", sections.kind);
  if (sections.models.size() != 1 || !not_judged.empty() || !refused.empty() || detail == Detail::verdicts) {
    model["overview"] = true;
    model["overview_title"] = all;
    model["overview_rows"] = overview_of(sections.models, not_judged, refused, detail < Detail::verdicts);
  }
  model["run_facts"] = facts_of_run(report);
  if (detail < Detail::verdicts) model[sections.part] = std::move(sections.models);
  return rendered(std::move(model), detail == Detail::all ? report : Json());
}

}  // namespace

std::string page_of(std::string_view json, const std::string& named) try {
  const Json report = read_report(json, named);
  std::string page;
  for (const Detail detail : details) {
    if (detail == Detail::all && report.dump().size() >= page_limit) continue;  // such a page holds the report
    page = page_with(report, detail);
    if (page.size() < page_limit) break;
  }
  return page;
} catch (const Json::exception& error) {
  throw InputError(fmt::format("{} is not a complete report: {}", named, error.what()));
}

}  // namespace rope::html
