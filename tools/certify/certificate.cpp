#include "tools/certify/certificate.hpp"

#include <fmt/format.h>

#include <optional>

#include "reference/spec_json.hpp"
#include "tools/judge/run/grade_use.hpp"
#include "tools/report/finding_json.hpp"

namespace rope::certify {
namespace {

constexpr int certificate_schema = 1;
constexpr std::size_t most_failures = 16;  // of a sweep, with their cases; the others are counted

struct SweepResult {
  BlockResult sum;
  std::vector<Json> failures;  // the first ones
  std::int64_t failed_blocks = 0;
  std::optional<std::int64_t> first_wrong;  // position
  std::vector<std::string> digests;
};

Json grade_json(const Sweep& sweep, const SweepResult& of) {
  Finding finding;
  finding.graded = of.sum.compared;
  finding.use_by_grade = of.sum.use_by_grade;
  GradeUse use;
  use.add(sweep.base.dtype, finding);
  const std::vector<MeasuredGrade> grades = use.measured({});
  return grades.empty() || grades.front().grade.empty() || of.failed_blocks > 0 ? Json(nullptr)
                                                                                : Json(grades.front().grade);
}

Json uses_json(const PerGrade<double>& uses) {
  Json json = Json::object();
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      json[name(Grade{static_cast<AngleGrade>(a), static_cast<ArithmeticGrade>(w)})] = json_number(uses[a][w]);
    }
  }
  return json;
}

Json swept_json(const Sweep& sweep, const SweepResult& of) {
  const BlockResult& sum = of.sum;
  Json json{{"sweep", words_of(sweep)},
            {"size", sweep.size},
            {"checked", sum.checked},
            {"not_claimed", sum.not_claimed},
            {"compared", sum.compared},
            {"wrong", sum.wrong},
            {"failed_blocks", of.failed_blocks},
            {"grade", grade_json(sweep, of)}};
  if (sweep.over == "position") json["right_up_to"] = of.first_wrong ? *of.first_wrong - 1 : sweep.size - 1;
  json["worst"] = {{"use", json_number(sum.worst.use)}, {"case", sum.worst.of}, {"place", sum.worst.place}};
  json["use_by_grade"] = uses_json(sum.use_by_grade);
  json["histogram"] = sum.histogram.counts();
  json["failures"] = of.failures;
  json["blocks"] = of.digests;
  return json;
}

void collect(SweepResult& of, const BlockResult& result) {
  of.sum.add(result);
  of.digests.push_back(short_digest(result));
  if (!result.failure) return;
  ++of.failed_blocks;
  if (of.failures.size() < most_failures) of.failures.push_back(*result.failure);
  const auto position = result.failure->find("position");
  if (!of.first_wrong && position != result.failure->end()) of.first_wrong = position->get<std::int64_t>();
}

void check_complete(const Plan& plan, const Results& results) {
  const auto all = plan.blocks();
  if (static_cast<std::int64_t>(results.size()) >= all) return;
  std::int64_t first = 0;
  while (results.contains(first)) ++first;
  const PlacedBlock at = placed(plan, first);
  const Range range = plan.sweeps[at.sweep].range(at.block);
  throw Incomplete(fmt::format(
      "{} of {} blocks are missing; the first is block {}: {}, elements {} to {}; run the shards that are missing",
      all - static_cast<std::int64_t>(results.size()), all, first, words_of(plan.sweeps[at.sweep]), range.first,
      range.first + range.count - 1));
}

}  // namespace

Json certificate(const Plan& plan, const Identity& identity, const Results& results) {
  check_complete(plan, results);
  Json json{{"schema", certificate_schema}, {"tool", "ropecheck"}, {"identity", to_json(identity)}, {"conforms", true}};
  json["elements"] = plan.elements();
  json["plan"] = to_json(plan);
  json["sweeps"] = Json::array();
  std::int64_t block = 0;
  for (const Sweep& sweep : plan.sweeps) {
    SweepResult of;
    for (std::int64_t i = 0; i < sweep.blocks(); ++i) collect(of, results.at(block++));
    if (of.failed_blocks > 0) json["conforms"] = false;
    if (of.failed_blocks == 0 && of.sum.checked + of.sum.not_claimed != sweep.size) {
      throw Incomplete(fmt::format("{}: {} of {} elements were checked", words_of(sweep), of.sum.checked,
                                   sweep.size - of.sum.not_claimed));
    }
    json["sweeps"].push_back(swept_json(sweep, of));
  }
  return json;
}

std::int64_t checked_elements(const Json& certificate) {
  std::int64_t checked = 0;
  for (const Json& sweep : certificate.at("sweeps")) checked += sweep.at("checked").get<std::int64_t>();
  return checked;
}

Certificate read_certificate(const std::filesystem::path& path) {
  const std::string where = path.string();
  Certificate result;
  result.json = checked_digest(path);
  ObjectReader fields(result.json, where);
  int found_schema = 0;
  fields.read("schema", found_schema);
  if (found_schema != certificate_schema) {
    throw InputError(fmt::format("{}: schema {} is not known; expected {}", where, found_schema, certificate_schema));
  }
  fields.read("conforms", result.conforms);
  const Json *plan = fields.find("plan"), *identity = fields.find("identity"), *sweeps = fields.find("sweeps");
  if (plan == nullptr || identity == nullptr || sweeps == nullptr || !sweeps->is_array()) {
    throw InputError(fmt::format("{}: misses a field; expected plan, identity and sweeps", where));
  }
  result.plan = plan_from_json(*plan, where + ".plan");
  result.identity = identity_from_json(*identity, where + ".identity");
  if (digest(result.plan) != result.identity.plan) {
    throw InputError(fmt::format("{}: its plan has the digest {}; it says {}", where, digest(result.plan),
                                 result.identity.plan));
  }
  if (sweeps->size() != result.plan.sweeps.size()) {
    throw Incomplete(fmt::format("{}: {} sweeps of {}", where, sweeps->size(), result.plan.sweeps.size()));
  }
  bool conforms = true;
  for (std::size_t i = 0; i < sweeps->size(); ++i) {
    const Sweep& sweep = result.plan.sweeps[i];
    ObjectReader of_sweep((*sweeps)[i], fmt::format("{}.sweeps[{}]", where, i));
    std::int64_t checked = 0, not_claimed = 0, failed = 0;
    of_sweep.read("checked", checked);
    of_sweep.read("not_claimed", not_claimed);
    of_sweep.read("failed_blocks", failed);
    of_sweep.read("blocks", result.blocks.emplace_back());
    conforms = conforms && failed == 0;
    const bool has_all = static_cast<std::int64_t>(result.blocks.back().size()) == sweep.blocks();
    if (!has_all || (failed == 0 && checked + not_claimed != sweep.size)) {
      throw Incomplete(fmt::format("{}: {} of {} elements of {} were checked", where, checked, sweep.size - not_claimed,
                                   words_of(sweep)));
    }
  }
  if (conforms != result.conforms) {
    throw InputError(fmt::format("{}: \"conforms\" does not agree with the sweeps", where));
  }
  return result;
}

std::string difference(const Certificate& certificate, const BlockResult& again) {
  const PlacedBlock at = placed(certificate.plan, again.block);
  const std::string& expected = certificate.blocks[at.sweep][static_cast<std::size_t>(at.block)];
  const std::string found = short_digest(again);
  if (found == expected) return "";
  return fmt::format("block {} of {} gives {}; the certificate has {}", at.block,
                     words_of(certificate.plan.sweeps[at.sweep]), found, expected);
}

}  // namespace rope::certify
