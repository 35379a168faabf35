#include <algorithm>
#include <cmath>

#include "tools/report/html/pictures.hpp"

namespace rope::html {
namespace {

constexpr double left = 12, right_end = 328, widest = 1;  // units in the last place: no rounding is off by more
constexpr double bar_top = 30, bar_bottom = 44;

double x_of(double ulps) {
  return left + (right_end - left) * (std::clamp(ulps, -widest, widest) + widest) / (2 * widest);
}

}  // namespace

Json bias_picture(const Json& element) {
  const double mean = number(element.at("actual")), most = number(element.at("bound"));
  const std::string words = fmt::format("{:.3g} ulp", mean);
  Json model{{"labels", Json::array()}};
  const struct {
    double at;
    const char* text;
  } marks[] = {{-0.5, "cut off"}, {0, "to nearest"}, {0.5, "away from zero"}};
  for (const auto& [at, text] : marks) {
    model["labels"].push_back(label(x_of(at), bar_bottom + 24, text));
    model["labels"].push_back(label(x_of(at), bar_bottom + 12, fmt::format("{:g}", at)));
  }
  const double x = x_of(mean);
  const char* anchor = x < 60 ? "start" : x > 280 ? "end" : "middle";
  model["mean"] = label(x, bar_top - 12, words, anchor);
  model["allowed"] = fmt::format("M{:.1f} {}H{:.1f}V{}H{:.1f}z", x_of(-most), bar_top, x_of(most), bar_bottom, x_of(-most));
  model["axis"] = fmt::format("M{} {}H{}M{:.1f} {}V{}", left, bar_bottom, right_end, x_of(0), bar_top, bar_bottom);
  model["marker"] = fmt::format("M{:.1f} {}V{}", x, bar_top - 8, bar_bottom);
  model["most"] = fmt::format("{:g}", most);
  model["beyond"] = std::fabs(mean) <= widest ? "" : "The mean lies outside of the picture. ";
  model["spoken"] = fmt::format("The mean error is {}; a right kernel's is within {:g}", words, most);
  return model;
}

}  // namespace rope::html
