#include "tools/report/html/pictures.hpp"

#include <algorithm>
#include <cmath>

namespace rope::html {

std::string cross(double x, double y, double width, double height) {
  const double half = std::min({width, height, 8.0}) * 0.32;
  const double cx = x + width / 2, cy = y + height / 2;
  return fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}m0 -{:.1f}l-{:.1f} {:.1f}", cx - half, cy - half, 2 * half, 2 * half,
                     2 * half, 2 * half, 2 * half);
}

Json label(double x, double y, const std::string& text, const char* anchor) {
  return {{"x", fmt::format("{:.1f}", x)}, {"y", fmt::format("{:.1f}", y)}, {"text", text}, {"anchor_at", anchor}};
}

std::vector<int> decades(double least, double most) {
  const int low = static_cast<int>(std::ceil(std::log10(least))), high = static_cast<int>(std::floor(std::log10(most)));
  const int every = std::max(1, (high - low + 5) / 6);
  std::vector<int> result;
  for (int decade = high; decade >= low; decade -= every) result.push_back(decade);
  return result;
}

std::string position_words(double position) {
  if (position < 10000) return fmt::format("{:.0f}", position);
  const double power = std::log2(position);
  return power == std::floor(power) ? fmt::format("2^{:.0f}", power) : fmt::format("{:.0f}", position);
}

}  // namespace rope::html
