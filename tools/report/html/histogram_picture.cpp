#include <algorithm>
#include <cmath>

#include "tools/report/html/pictures.hpp"

namespace rope::html {
namespace {

constexpr double bars_left = 30, bars_right = 336, bars_top = 16, bars_bottom = 120;

// Where bin i ends, in units of the bound; the last one has no end.
std::string end_words(std::size_t bin, std::size_t bins) {
  const int power = static_cast<int>(bin) + 2 - static_cast<int>(bins);
  return power == 0 ? "bound" : fmt::format("2^{}", power);
}

std::string spoken_words(const Json& counts, std::int64_t all) {
  const auto outside = counts.back().get<std::int64_t>();
  std::size_t last = 0;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) last = counts[i] > 0 ? i : last;
  if (all == 0) return "No pair was compared.";
  const std::string most = end_words(last, counts.size());
  const std::string within = most == "bound" ? "the bound" : most + " of the bound";
  return outside == 0 ? fmt::format("{} pairs, all within {}.", all, within)
                     : fmt::format("{} pairs, {} of them beyond the bound.", all, outside);
}

}  // namespace

// The counts differ by many powers of ten, so heights are logarithmic; one pair is as high as a step.
Json histogram_picture(const Json& counts, const std::string& title) {
  std::int64_t all = 0, most = 1;
  for (const Json& count : counts) {
    all += count.get<std::int64_t>();
    most = std::max(most, count.get<std::int64_t>());
  }
  const std::size_t bins = counts.size();
  const double step = (bars_right - bars_left) / static_cast<double>(bins);
  const double unit = (bars_bottom - bars_top) / (std::log10(static_cast<double>(most)) + 1);
  Json model{{"title", title}, {"labels", Json::array()}, {"beyond", false}};
  std::string bars;
  for (std::size_t i = 0; i < bins; ++i) {
    const auto count = counts[i].get<std::int64_t>();
    const double x = bars_left + step * static_cast<double>(i);
    if (i % 2 == 0 && i + 1 < bins) model["labels"].push_back(label(x + step, bars_bottom + 12, end_words(i, bins)));
    if (count == 0) continue;
    const double height = unit * (std::log10(static_cast<double>(count)) + 1);
    const std::string bar = fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", x + 1, bars_bottom - height, step - 2,
                                        height, step - 2);
    if (i + 1 == bins) {
      model["beyond"] = bar;
    } else {
      bars += bar;
    }
  }
  for (int decade = 0; std::pow(10.0, decade) <= static_cast<double>(most); decade += 3) {
    const double y = bars_bottom - unit * (decade + 1);
    model["labels"].push_back(label(bars_left - 3, y + 4, decade == 0 ? "1" : fmt::format("10^{}", decade), "end"));
  }
  model["labels"].push_back(label(bars_right, bars_bottom + 24, "error, in units of the bound", "end"));
  model["bars"] = bars;
  model["said"] = spoken_words(counts, all);
  model["spoken"] = fmt::format("Errors of {}. {}", title, spoken_words(counts, all));
  model["frame"] = fmt::format("M{} {}H{}", bars_left, bars_bottom, bars_right);
  model["bound_x"] = fmt::format("{:.1f}", bars_right - step);
  return model;
}

}  // namespace rope::html
