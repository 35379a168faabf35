#include "tools/certify/block_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reference/spec_json.hpp"
#include "tools/report/finding_json.hpp"

namespace rope::certify {
namespace {

InputError malformed(const std::string& where, std::string_view expected) {
  return InputError(fmt::format("{}: expected {}", where, expected));
}

Json result_json(const BlockResult& result) {
  Json json{{"checked", result.checked},
            {"not_claimed", result.not_claimed},
            {"compared", result.compared},
            {"wrong", result.wrong}};
  json["use_by_grade"] = Json::array();
  for (const auto& row : result.use_by_grade) {
    for (const double use : row) json["use_by_grade"].push_back(json_number(use));
  }
  json["histogram"] = result.histogram.counts();
  json["worst"] = {{"use", json_number(result.worst.use)}, {"case", result.worst.of}, {"place", result.worst.place}};
  if (result.failure) json["failure"] = *result.failure;
  return json;
}

void read_uses(const Json* list, PerGrade<double>& uses, const std::string& where) {
  if (list == nullptr || !list->is_array() || list->size() != angle_grades * arithmetic_grades) {
    throw malformed(where, "nine numbers");
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    uses[i / arithmetic_grades][i % arithmetic_grades] = number_from_json((*list)[i], where);
  }
}

}  // namespace

double number_from_json(const Json& json, const std::string& where) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  throw malformed(where, "a number");
}

void BlockResult::add(const BlockResult& later) {
  checked += later.checked;
  not_claimed += later.not_claimed;
  compared += later.compared;
  wrong += later.wrong;
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      use_by_grade[a][w] = std::max(use_by_grade[a][w], later.use_by_grade[a][w]);
    }
  }
  histogram.add(later.histogram);
  if (later.worst.use > worst.use) worst = later.worst;
}

Json to_json(const BlockResult& result) {
  Json json{{"block", result.block}};
  json.update(result_json(result));
  return json;
}

BlockResult block_result_from_json(const Json& json, const std::string& where) {
  ObjectReader fields(json, where);
  BlockResult result;
  fields.read("block", result.block);
  fields.read("checked", result.checked);
  fields.read("not_claimed", result.not_claimed);
  fields.read("compared", result.compared);
  fields.read("wrong", result.wrong);
  read_uses(fields.find("use_by_grade"), result.use_by_grade, where + ".use_by_grade");
  std::vector<std::int64_t> counts;
  fields.read("histogram", counts);
  if (counts.size() != UseHistogram::bins) throw malformed(where + ".histogram", "twelve counts");
  UseHistogram::Counts all{};
  std::ranges::copy(counts, all.begin());
  result.histogram = UseHistogram(all);
  if (const Json* worst = fields.find("worst")) {
    ObjectReader of_worst(*worst, where + ".worst");
    if (const Json* use = of_worst.find("use")) result.worst.use = number_from_json(*use, where + ".worst.use");
    of_worst.read("case", result.worst.of);
    of_worst.read("place", result.worst.place);
    of_worst.finish();
  }
  if (const Json* failure = fields.find("failure")) result.failure = *failure;
  fields.finish();
  return result;
}

std::string short_digest(const BlockResult& result) { return sha256_of(result_json(result).dump()).substr(0, 16); }

}  // namespace rope::certify
