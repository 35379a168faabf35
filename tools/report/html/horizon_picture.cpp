#include <algorithm>
#include <cmath>

#include "tools/report/html/pictures.hpp"
#include "tools/report/words.hpp"

namespace rope::html {

namespace {

constexpr double from_x = 42, to_x = 332, top_y = 20, bottom_y = 184;
constexpr double floor_of = 1e-17;  // an exact score lies on the axis

// One shape for each curve: ring, cross, square, triangle.
std::string mark(std::size_t curve, double x, double y) {
  constexpr const char* shapes[] = {"m-2.2 0a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0 -4.4 0", "m-2.2 -2.2l4.4 4.4m0 -4.4l-4.4 4.4",
                                    "m-2 -2h4v4h-4z", "m0 -2.6l2.5 4.4h-5z"};
  return fmt::format("M{:.1f} {:.1f}{}", x, y, shapes[curve % std::size(shapes)]);
}

}  // namespace

Json horizon_picture(const Json& horizons) {
  double least = INFINITY, most = 0, farthest = 2;
  for (const Json& h : horizons) {
    most = std::max(most, h.at("tolerance").get<double>());
    for (const Json& point : h.value("curve", Json::array())) {
      farthest = std::max(farthest, point.at(0).get<double>());
      const double deviation = number(point.at(1));
      if (deviation > 0 && std::isfinite(deviation)) least = std::min(least, deviation), most = std::max(most, deviation);
    }
  }
  least = std::max(floor_of, std::min(least, most / 10) / 2);
  most *= 2;
  double nearest = farthest;
  for (const Json& h : horizons) {
    for (const Json& point : h.value("curve", Json::array())) nearest = std::min(nearest, point.at(0).get<double>());
  }
  const double low = std::log10(least), high = std::log10(most);
  const double from = std::log2(std::max(1.0, nearest)), to = std::max(std::log2(farthest), from + 1);
  const auto x = [&](double position) { return from_x + 4 + (to_x - from_x - 8) * (std::log2(std::max(1.0, position)) - from) / (to - from); };
  const auto y = [&](double deviation) {
    if (!std::isfinite(deviation)) return top_y;
    return bottom_y - (bottom_y - top_y) * (std::log10(std::clamp(deviation, least, most)) - low) / (high - low);
  };
  Json model{{"grid", Json::array()}, {"curves", Json::array()}};
  for (const int decade : decades(least, most)) {
    const double at = y(std::pow(10, decade));
    Json line = label(from_x - 4, at + 3.5, decade == 0 ? "1" : fmt::format("1e{}", decade), "end");
    line["d"] = fmt::format("M{} {:.1f}H{}", from_x, at, to_x);
    model["grid"].push_back(line);
  }
  const int every = std::max(1, static_cast<int>(std::ceil((to - from) / 6)));
  for (int octave = static_cast<int>(std::ceil(from)); octave <= static_cast<int>(to); octave += every) {
    Json tick = label(x(std::exp2(octave)), bottom_y + 13, position_words(std::exp2(octave)));
    tick["d"] = fmt::format("M{:.1f} {}v4", x(std::exp2(octave)), bottom_y);
    model["grid"].push_back(tick);
  }
  Json axis = label(to_x, bottom_y + 25, "position", "end");
  axis["d"] = fmt::format("M{} {}H{}", from_x, bottom_y, to_x);
  model["grid"].push_back(axis);
  std::string spoken = "Change of scores against position.";
  std::size_t curve = 0;
  for (const Json& h : horizons) {
    std::string line, marks;
    for (const Json& point : h.value("curve", Json::array())) {
      const double at_x = x(point.at(0).get<double>()), at_y = y(number(point.at(1)));
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", at_x, at_y);
      marks += mark(curve, at_x, at_y);
    }
    const double key = from_x + 62 * static_cast<double>(curve);
    model["curves"].push_back({{"class", fmt::format("c{}", curve % 4)},
                               {"limit", fmt::format("M{} {:.1f}H{}", from_x, y(h["tolerance"]), to_x)},
                               {"line", line},
                               {"marks", marks},
                               {"key", fmt::format("M{:.1f} 8h14", key) + mark(curve, key + 7, 8)},
                               {"key_x", fmt::format("{:.1f}", key + 19)},
                               {"dtype", h.at("dtype")}});
    const Json& held = h.at("position");
    spoken += held.is_null() ? fmt::format(" {}: beyond its limit everywhere.", word(h, "dtype"))
                             : fmt::format(" {}: within its limit up to position {}.", word(h, "dtype"), held.dump());
    ++curve;
  }
  model["spoken"] = spoken;
  return model;
}

}  // namespace rope::html
