#include "tools/report/tried_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace rope {
namespace {

std::string range_words(const Range& range) {
  return range.least == range.most ? std::to_string(range.least) : fmt::format("{} to {}", range.least, range.most);
}

std::string position_words(const Tried& tried) {
  std::string text = "positions ";
  if (tried.every_to > 0) text += fmt::format("every one to {}", tried.every_to);
  if (tried.every_to == 0) text += "0";
  if (tried.beyond > 0) {
    text += fmt::format("{}{} to {}", tried.every_to < 0 ? "" : ", then ", tried.beyond, tried.largest);
  }
  return text + fmt::format(" (claimed: {})", tried.claimed);
}

std::string words_of(const Tried& tried) {
  const std::vector<std::int64_t>& dims = tried.head_dims;
  const std::string dim_words = dims.empty()       ? "no head_dim in common"
                                : dims.size() == 1 ? fmt::format("head_dim {}", dims[0])
                                                   : fmt::format("head_dims {} to {} ({})", dims.front(), dims.back(),
                                                                 dims.size());
  return fmt::format("{}; {}; tokens {}; heads {}", position_words(tried), dim_words,
                     range_words(tried.tokens), range_words(tried.heads));
}

// What both tried, or more.
Tried in_common(const Tried& a, const Tried& b) {
  Tried least = a;
  least.every_to = std::min(a.every_to, b.every_to);
  least.beyond = std::min(a.beyond, b.beyond);
  least.largest = std::min(a.largest, b.largest);
  least.head_dims.clear();
  std::ranges::set_intersection(a.head_dims, b.head_dims, std::back_inserter(least.head_dims));
  least.tokens = {std::max(a.tokens.least, b.tokens.least), std::min(a.tokens.most, b.tokens.most)};
  least.heads = {std::max(a.heads.least, b.heads.least), std::min(a.heads.most, b.heads.most)};
  return least;
}

DType dtype_called(const Json& word) { return dtype_from_name(word.get<std::string>()).value_or(DType::f32); }

AngleSource source_called(const Json& word) {
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies}) {
    if (word == name(source)) return source;
  }
  return AngleSource::computed;
}

}  // namespace

std::vector<std::string> tried_lines(const std::vector<Tried>& tried) {
  std::vector<std::pair<std::string, std::string>> groups;  // words, and the types and sources that they are true of
  for (const Tried& one : tried) {
    const std::string words = words_of(one), way = fmt::format("{}, {}", name(one.dtype), name(one.source));
    const auto same = std::ranges::find(groups, words, &std::pair<std::string, std::string>::first);
    if (same == groups.end()) {
      groups.emplace_back(words, way);
    } else {
      same->second += "; " + way;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [words, ways] : groups) lines.push_back(fmt::format("{}: {}", ways, words));
  return lines;
}

std::vector<std::string> few_tried_lines(const std::vector<Tried>& tried) {
  constexpr std::size_t few = 4;
  std::vector<std::string> lines = tried_lines(tried);
  if (lines.size() <= few) return lines;
  lines.clear();
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    std::optional<Tried> least;
    std::vector<std::string_view> dtypes;
    for (const Tried& one : tried) {
      if (one.source != source) continue;
      least = least ? in_common(*least, one) : one;
      dtypes.push_back(name(one.dtype));
    }
    if (!least) continue;
    lines.push_back(dtypes.size() == 1 ? fmt::format("{}, {}: {}", dtypes[0], name(source), words_of(*least))
                                       : fmt::format("{}, at least in each of {}: {}", name(source),
                                                     fmt::join(dtypes, ", "), words_of(*least)));
  }
  return lines;
}

std::string reached_words(const RequirementResult& result) {
  return result.largest_position ? fmt::format("to position {}", *result.largest_position) : "";
}

Json tried_json(const std::vector<Tried>& tried) {
  Json list = Json::array();
  for (const Tried& one : tried) {
    list.push_back({{"dtype", name(one.dtype)},
                    {"source", name(one.source)},
                    {"every_position_to", one.every_to < 0 ? Json(nullptr) : Json(one.every_to)},
                    {"positions_beyond", one.beyond},
                    {"largest_position", one.largest},
                    {"claimed_position", one.claimed},
                    {"head_dims", one.head_dims},
                    {"tokens", {one.tokens.least, one.tokens.most}},
                    {"heads", {one.heads.least, one.heads.most}}});
  }
  return list;
}

std::vector<Tried> tried_from_json(const Json& list) {
  std::vector<Tried> all;
  for (const Json& from : list) {
    Tried& one = all.emplace_back();
    one.dtype = dtype_called(from.at("dtype"));
    one.source = source_called(from.at("source"));
    if (!from.at("every_position_to").is_null()) one.every_to = from["every_position_to"];
    one.beyond = from.at("positions_beyond");
    one.largest = from.at("largest_position");
    one.claimed = from.at("claimed_position");
    one.head_dims = from.at("head_dims").get<std::vector<std::int64_t>>();
    one.tokens = {from.at("tokens").at(0), from.at("tokens").at(1)};
    one.heads = {from.at("heads").at(0), from.at("heads").at(1)};
  }
  return all;
}

}  // namespace rope
