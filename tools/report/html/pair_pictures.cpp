#include <algorithm>
#include <cmath>

#include "tools/report/html/pictures.hpp"
#include "tools/report/words.hpp"

namespace rope::html {
namespace {

constexpr double arcs_left = 8, arcs_width = 324;  // of the features
constexpr double highest = 62;           // of an arc
constexpr std::size_t most_arcs = 24;

struct Pair {
  int first, second;
  double theta;
};

std::vector<Pair> pairs_in(const Json& list) {
  std::vector<Pair> pairs;
  for (const Json& p : list) {
    pairs.push_back({p.at("features").at(0), p.at("features").at(1), p.contains("theta") ? number(p["theta"]) : NAN});
  }
  return pairs;
}

double x_of(int feature, int features) { return arcs_left + arcs_width * (feature + 0.5) / features; }

double height_of(const Pair& p, int features) {
  return std::min(highest, 4 + 0.5 * std::fabs(x_of(p.second, features) - x_of(p.first, features)));
}

// Every n-th pair, so that the arcs can be told apart.
std::size_t drawn_every(std::size_t pairs) { return std::max<std::size_t>(1, (pairs + most_arcs - 1) / most_arcs); }

std::string arcs(const std::vector<Pair>& pairs, int features, double middle, bool up) {
  std::string path;
  for (std::size_t i = 0; i < pairs.size(); i += drawn_every(pairs.size())) {
    const double from = x_of(pairs[i].first, features), to = x_of(pairs[i].second, features);
    path += fmt::format("M{:.1f} {:.1f}A{:.1f} {:.1f} 0 0 {} {:.1f} {:.1f}", from, middle, std::fabs(to - from) / 2,
                        height_of(pairs[i], features), up == (to > from) ? 1 : 0, to, middle);
  }
  return path;
}

std::string pair_list(const std::vector<Pair>& pairs) {
  if (pairs.empty()) return "no pairs";
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, pairs.size()); ++i) {
    text += fmt::format("({}, {}) ", pairs[i].first, pairs[i].second);
  }
  return text + (pairs.size() > 3 ? ".." : "");
}

std::string theta_words(const std::vector<Pair>& asked, const std::vector<Pair>& found) {
  std::size_t other = 0, negative = 0, compared = 0;
  for (std::size_t i = 0; i < std::min(asked.size(), found.size()); ++i) {
    if (!std::isfinite(found[i].theta)) continue;
    ++compared;
    negative += found[i].theta < 0 ? 1 : 0;
    other += std::fabs(std::fabs(found[i].theta) - asked[i].theta) > 1e-3 * asked[i].theta ? 1 : 0;
  }
  std::string text = other == 0 ? "All agree to a thousandth" : fmt::format("{} of {} pairs differ", other, compared);
  if (negative > 0) text += fmt::format("; {} turn the other way", counted(static_cast<std::int64_t>(negative), "pair"));
  return text + ".";
}

}  // namespace

Json pairs_picture(const Json& data) {
  const std::vector<Pair> asked = pairs_in(data.at("asked")), found = pairs_in(data.at("executed"));
  const int features = data.at("head_dim");
  double up = 6, down = 6;
  for (const Pair& p : asked) up = std::max(up, height_of(p, features));
  for (const Pair& p : found) down = std::max(down, height_of(p, features));
  const double middle = 18 + up;
  Json model{{"asked_words", pair_list(asked)}, {"found_words", pair_list(found)}};
  model["middle"] = fmt::format("{:.1f}", middle);
  model["asked_arcs"] = arcs(asked, features, middle, true);
  model["found_arcs"] = arcs(found, features, middle, false);
  model["height"] = fmt::format("{:.0f}", middle + down + 34);
  model["last"] = fmt::format("{:.0f}", middle + down + 29);
  model["ticks"] = Json::array();
  for (const int f : {0, features / 4, features / 2, 3 * features / 4, features - 1}) {
    model["ticks"].push_back(label(x_of(f, features), middle + down + 14, std::to_string(f)));
  }
  const std::size_t step = drawn_every(std::max(asked.size(), found.size()));
  model["some"] = step > 1 ? Json(fmt::format("one of {} is drawn", step)) : Json(false);
  model["spoken"] = fmt::format("Asked for: pairs {}. The kernel turns pairs {}", pair_list(asked), pair_list(found));
  return model;
}

Json thetas_picture(const Json& data) {
  const std::vector<Pair> asked = pairs_in(data.at("asked")), found = pairs_in(data.at("executed"));
  double least = INFINITY, most = 0;
  for (const auto* pairs : {&asked, &found}) {
    for (const Pair& p : *pairs) {
      if (const double theta = std::fabs(p.theta); std::isfinite(theta) && theta > 0) {
        least = std::min(least, theta);
        most = std::max(most, theta);
      }
    }
  }
  const bool any_found = std::ranges::any_of(found, [](const Pair& p) { return std::isfinite(p.theta); });
  if (!any_found || most == 0) return false;
  constexpr double x0 = 42, x1 = 330, y0 = 20, y1 = 176;
  const double low = std::log10(least) - 0.1, high = std::log10(most) + 0.1;
  const auto count = static_cast<double>(std::max(asked.size(), found.size()));
  const auto x = [&](std::size_t i) { return x0 + 6 + (x1 - x0 - 12) * static_cast<double>(i) / std::max(1.0, count - 1); };
  const auto y = [&](double theta) { return y1 - (y1 - y0) * (std::log10(std::fabs(theta)) - low) / (high - low); };
  Json model{{"grid", Json::array()}};
  for (const int decade : decades(least, most)) {
    const double at = y(std::pow(10, decade));
    Json line = label(x0 - 4, at + 3.5, decade == 0 ? "1" : fmt::format("1e{}", decade), "end");
    line["d"] = fmt::format("M{} {:.1f}H{}", x0, at, x1);
    model["grid"].push_back(line);
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    const auto i = static_cast<std::size_t>(share * (count - 1));
    Json tick = label(x(i), y1 + 12, std::to_string(i));
    tick["d"] = fmt::format("M{:.1f} {}v4", x(i), y1);
    model["grid"].push_back(tick);
    if (count < 2) break;
  }
  std::string rings, crosses;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].theta > 0) {
      rings += fmt::format("M{:.1f} {:.1f}m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0", x(i), y(asked[i].theta));
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isfinite(found[i].theta) && found[i].theta != 0) {
      crosses += fmt::format("M{:.1f} {:.1f}m-3 -3l6 6m0 -6l-6 6", x(i), y(found[i].theta));
    }
  }
  model["asked_rings"] = rings;
  model["found_crosses"] = crosses;
  model["said"] = theta_words(asked, found);
  model["spoken"] = "Theta of each pair, asked for and executed. " + theta_words(asked, found);
  return model;
}

}  // namespace rope::html
