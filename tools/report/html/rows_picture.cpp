#include <algorithm>

#include "tools/report/html/pictures.hpp"

namespace rope::html {
namespace {

constexpr double rows_left = 62, rows_width = 272, rows_top = 16;

// Merges neighbours, so that a thousand cells are a few strokes.
void add_run(std::string& path, std::size_t from, std::size_t to, double cell, double y, double height) {
  if (from == to) return;
  path += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", rows_left + static_cast<double>(from) * cell, y,
                      static_cast<double>(to - from) * cell - 0.4, height, static_cast<double>(to - from) * cell - 0.4);
}

}  // namespace

Json rows_picture(const Json& data) {
  Json model{{"labels", Json::array()}, {"parts", parts_of_case(data.at("call"))}};
  const Json& heads = data.at("heads");
  std::size_t tokens = 1;
  for (const Json& head : heads) tokens = std::max(tokens, word(head, "tokens").size());
  const double cell = std::min(16.0, rows_width / static_cast<double>(tokens));
  const double height = heads.size() > 16 ? 7 : 12;
  std::string right, wrong, crosses, group;
  std::size_t marked = 0, all = 0;
  double y = rows_top;
  for (const Json& head : heads) {
    const std::string of = fmt::format("{}, batch {}", word(head, "tensor"), head.at("batch").get<std::int64_t>());
    const bool is_new = of != group;
    if (is_new && !group.empty()) y += 4;
    group = of;
    if (is_new || height >= 10) {
      const std::string text = is_new ? of : fmt::format("head {}", head.at("head").get<std::int64_t>());
      model["labels"].push_back(label(rows_left - 5, y + std::min(height, 10.0) - 1, text, "end"));
    }
    const std::string marks = word(head, "tokens");
    for (std::size_t from = 0; from < marks.size();) {
      const std::size_t to = std::min(marks.find_first_not_of(marks[from], from), marks.size());
      add_run(marks[from] == 'x' ? wrong : right, from, to, cell, y, height - 1);
      for (std::size_t t = from; t < to && marks[from] == 'x'; ++t, ++marked) {
        crosses += cross(rows_left + static_cast<double>(t) * cell, y, cell - 0.4, height - 1);
      }
      from = to;
    }
    all += marks.size();
    y += height;
  }
  model["labels"].push_back(label(rows_left, 11, "token 0", "start"));
  if (tokens > 6) {
    model["labels"].push_back(label(rows_left + static_cast<double>(tokens) * cell, 11, std::to_string(tokens - 1), "end"));
  }
  model["right"] = right;
  model["wrong"] = wrong;
  model["crosses"] = crosses;
  model["height"] = fmt::format("{:.0f}", y + 2);
  model["said"] = fmt::format("{} of {} are wrong.", marked, all);
  model["spoken"] = fmt::format("{} of {} rows are wrong", marked, all);
  return model;
}

}  // namespace rope::html
