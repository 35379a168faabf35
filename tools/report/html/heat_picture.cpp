#include <algorithm>
#include <array>
#include <cmath>

#include "tools/report/html/pictures.hpp"

namespace rope::html {
namespace {

// Up to which share of the bound each step of the scale goes; the last three are beyond the bound.
struct Step {
  double most;
  const char* words;
};
constexpr std::array<Step, 9> steps{{{1.0 / 1024, "1/1024"},
                                     {1.0 / 64, "1/64"},
                                     {1.0 / 16, "1/16"},
                                     {1.0 / 4, "1/4"},
                                     {1.0 / 2, "1/2"},
                                     {1, "bound"},
                                     {16, "16"},
                                     {1024, "1024"},
                                     {INFINITY, ""}}};
constexpr std::size_t beyond = 6;

// A NaN is beyond every bound.
std::size_t scale_step(double use) {
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (use <= steps[i].most) return i;
  }
  return steps.size() - 1;
}

constexpr double map_left = 34, map_width = 298, map_top = 16, legend_step = 36;

}  // namespace

Json heat_legend() {
  Json model{{"steps", Json::array()}, {"labels", Json::array()}};
  std::string crosses;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double x = 6 + legend_step * static_cast<double>(i);
    model["steps"].push_back({{"class", fmt::format("h{}", i)}, {"x", fmt::format("{:.0f}", x)}});
    if (i >= beyond) crosses += cross(x, 2, 34, 12);
    if (i + 1 < steps.size()) model["labels"].push_back(label(x + 35, 25, steps[i].words));
  }
  model["crosses"] = crosses;
  model["bound_x"] = fmt::format("{:.0f}", 6 + legend_step * beyond - 1);
  return model;
}

Json heat_picture(const Json& map, const Json& grade) {
  const Json& positions = map.at("positions");
  const Json& use = map.at("use");  // of each pair, one for each position; null: not judged
  const std::size_t columns = positions.size(), pairs = use.size();
  const std::string dtype = word(map, "dtype");
  Json model{{"labels", Json::array()}, {"cells", Json::array()}};
  model["title"] = grade.is_null() ? dtype : fmt::format("{}, grade {}", dtype, grade.get<std::string>());
  const bool has_values = std::ranges::any_of(use, [](const Json& row) {
    return std::ranges::any_of(row, [](const Json& share) { return !share.is_null(); });
  });
  if (const std::string problem = word(map, "problem"); !has_values) {
    model["height"] = "20";
    model["crosses"] = model["frame"] = "";
    model["spoken"] = dtype + ": no values";
    model["said"] = problem.empty() ? "No values." : "No values: " + problem;
    return model;
  }
  const double cell = map_width / static_cast<double>(columns);
  const double height = std::clamp(176.0 / static_cast<double>(pairs), 1.5, 12.0);
  std::array<std::string, steps.size()> paths;
  std::string crosses;
  double worst = 0;
  std::size_t worst_pair = 0, worst_column = 0, exceeded = 0, judged = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const double y = map_top + height * static_cast<double>(p);
    const auto step_at = [&](std::size_t c) { return use.at(p).at(c).is_null() ? steps.size() : scale_step(number(use[p][c])); };
    for (std::size_t from = 0; from < columns;) {
      const std::size_t step = step_at(from);
      std::size_t to = from;
      while (to < columns && step_at(to) == step) ++to;
      if (step < steps.size()) {
        paths[step] += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", map_left + cell * static_cast<double>(from), y,
                                   cell * static_cast<double>(to - from), height, cell * static_cast<double>(to - from));
        judged += to - from;
      }
      for (std::size_t c = from; c < to && step < steps.size(); ++c) {
        const double share = number(use[p][c]);
        if (step >= beyond) ++exceeded, crosses += cross(map_left + cell * static_cast<double>(c), y, cell, height);
        if (!std::isnan(worst) && !(share <= worst)) worst = share, worst_pair = p, worst_column = c;
      }
      from = to;
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!paths[i].empty()) model["cells"].push_back({{"class", fmt::format("h{}", i)}, {"d", paths[i]}});
  }
  const double bottom = map_top + height * static_cast<double>(pairs);
  model["crosses"] = crosses;
  model["frame"] = fmt::format("M{} {}H{}V{:.1f}H{}z", map_left, map_top, map_left + map_width, bottom, map_left);
  model["labels"].push_back(label(map_left - 4, map_top + 8, "pair 0", "end"));
  model["labels"].push_back(label(map_left - 4, bottom, fmt::format("{}", pairs - 1), "end"));
  const std::size_t every = std::max<std::size_t>(1, (columns + 5) / 6);
  for (std::size_t c = 0; c < columns; c += every) {
    model["labels"].push_back(
        label(map_left + cell * (static_cast<double>(c) + 0.5), bottom + 12, position_words(number(positions[c]))));
  }
  model["labels"].push_back(label(map_left + map_width, bottom + 24, "position, each column twice as far", "end"));
  model["height"] = fmt::format("{:.0f}", bottom + 28);
  const std::string where =
      fmt::format("pair {}, position {} and beyond", worst_pair, position_words(number(positions.at(worst_column))));
  model["said"] = exceeded > 0 ? fmt::format("{} of {} cells exceed the bound, worst: {}.", exceeded, judged, where)
                  : worst == 0 ? "Every result is exact."
                               : fmt::format("Worst {:.2g} of the bound: {}.", worst, where);
  if (const std::string problem = word(map, "problem"); !problem.empty()) {
    model["said"] = model["said"].get<std::string>() + " Empty cells: " + problem;
  }
  model["spoken"] = fmt::format("Error by pair and position in {}. {}", dtype, model["said"].get<std::string>());
  return model;
}

}  // namespace rope::html
