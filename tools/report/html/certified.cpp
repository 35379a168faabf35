#include "tools/report/html/certified.hpp"

#include <algorithm>
#include <cmath>

#include "tools/report/html/page.hpp"
#include "tools/report/html/pictures.hpp"
#include "tools/report/html/render.hpp"
#include "tools/report/words.hpp"

namespace rope::html {
namespace {

struct Room {
  Detail detail;
  std::size_t failures;  // of a sweep
  bool has_pictures;
  const char* left_out;
};

constexpr Room rooms[] = {
    {Detail::all, 16, true, ""},
    {Detail::without_data, 16, true, "The JSON is left out: this page would be larger than 1 MB. certificate.json has it."},
    {Detail::without_pictures, 1, true,
     "All failures of a sweep but the first, numpy snippets and the JSON are left out: this page would be larger than "
     "1 MB. certificate.json has all of it."},
    {Detail::verdicts, 0, false,
     "Failures, pictures and the JSON are left out: this page would be larger than 1 MB. certificate.json has all of "
     "it."},
};

std::int64_t count_at(const Json& object, const char* key) { return object.at(key).get<std::int64_t>(); }

std::string use_words(const Json& worst) {
  const double use = number(worst.at("use"));
  if (use < 0) return "–";
  return std::isfinite(use) ? fmt::format("{:.3g}", use) : "unbounded";
}

Json sweep_row(const Json& sweep) {
  const bool failed = count_at(sweep, "failed_blocks") > 0;
  Json row{{"sweep", sweep.at("sweep")},
           {"size", std::to_string(count_at(sweep, "size"))},
           {"checked", std::to_string(count_at(sweep, "checked"))},
           {"not_claimed", std::to_string(count_at(sweep, "not_claimed"))},
           {"grade", sweep.at("grade").is_null() ? "–" : word(sweep, "grade")},
           {"worst", use_words(sweep.at("worst"))},
           {"right_up_to", sweep.contains("right_up_to") ? std::to_string(count_at(sweep, "right_up_to")) : ""},
           {"failed_blocks", std::to_string(count_at(sweep, "failed_blocks"))}};
  set_tone(row, failed ? bad : good);
  return row;
}

Json failure_row(const Json& sweep, const Json& failure, std::size_t index, Detail detail) {
  Json model{{"id", fmt::format("{}", index)}, {"sentence", sweep.at("sweep")}, {"share", ""}, {"bar", false},
             {"over", false}, {"numbers", false}};
  set_tone(model, bad);
  model["facts"] = failure_facts(failure, model, detail);
  return model;
}

Json identity_facts(const Json& certificate) {
  const Json& identity = certificate.at("identity");
  const Json& plan = certificate.at("plan");
  Json facts = Json::array({fact("kernel", word(identity, "subject"))});
  for (const Json& file : identity.at("files")) {
    facts.push_back(fact("file", fmt::format("{}, sha256 {}", word(file, "name"), word(file, "sha256"))));
  }
  facts.push_back(fact("instruction set", word(identity, "instruction_set")));
  facts.push_back(fact("required grade", word(plan, "required")));
  facts.push_back(fact("plan", word(identity, "plan")));
  facts.push_back(fact("ropecheck", word(identity, "version")));
  facts.push_back(fact("schema", certificate.at("schema").dump()));
  return facts;
}

Json sum_of_histograms(const Json& sweeps) {
  std::vector<std::int64_t> sum(sweeps.at(0).at("histogram").size());
  for (const Json& sweep : sweeps) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += sweep.at("histogram").at(i).get<std::int64_t>();
  }
  return sum;
}

std::string certified_words(const Json& certificate) {
  if (certificate.at("conforms")) return "conforms on every element";
  std::int64_t failed = 0;
  for (const Json& sweep : certificate.at("sweeps")) failed += count_at(sweep, "failed_blocks");
  return fmt::format("does not conform: {} failed", counted(failed, "block"));
}

Json certified_model(const Json& certificate, const Room& room) {
  const Json& sweeps = certificate.at("sweeps");
  Json model{{"name", certificate.at("identity").at("subject")},
             {"verdict", certified_words(certificate)},
             {"counts", fmt::format("{} elements of {}", count_at(certificate, "elements"),
                                    counted(static_cast<std::int64_t>(sweeps.size()), "sweep"))},
             {"sweep_rows", Json::array()},
             {"failures", Json::array()},
             {"all", histogram_picture(sum_of_histograms(sweeps), "all sweeps")},
             {"histograms", Json::array()}};
  set_tone(model, certificate.at("conforms") ? good : bad);
  for (const Json& sweep : sweeps) {
    model["sweep_rows"].push_back(sweep_row(sweep));
    if (room.has_pictures) model["histograms"].push_back(histogram_picture(sweep.at("histogram"), word(sweep, "sweep")));
    const Json& failures = sweep.at("failures");
    for (std::size_t i = 0; i < std::min(room.failures, failures.size()); ++i) {
      model["failures"].push_back(failure_row(sweep, failures[i], model["failures"].size() + 1, room.detail));
    }
  }
  model["has_failures"] = !model["failures"].empty();
  model["has_histograms"] = room.has_pictures;
  return model;
}

std::string page_with(const Json& certificate, const Room& room) {
  Json certified = certified_model(certificate, room);
  Json model{{"version", certificate.at("identity").at("version")}, {"kind", "certify"}, {"overview", false},
             {"subjects", false}, {"identified", false}, {"golden", false}, {"compared", false}, {"left_out", false},
             {"interrupted", false}};
  model["title"] = fmt::format("{}: {}", word(certified, "name"), word(certified, "verdict"));
  if (*room.left_out != '\0') model["left_out"] = room.left_out;
  model["run_facts"] = identity_facts(certificate);
  model["certified"] = std::move(certified);
  return rendered(std::move(model), room.detail == Detail::all ? certificate : Json());
}

}  // namespace

std::string page_of_certificate(const Json& certificate) {
  std::string page;
  for (const Room& room : rooms) {
    page = page_with(certificate, room);
    if (page.size() < page_limit) break;
  }
  return page;
}

}  // namespace rope::html
