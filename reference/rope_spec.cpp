#include "reference/rope_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/axis_orders.hpp"
#include "reference/input_error.hpp"

namespace rope {

std::string_view name(Pairing pairing) { return pairing == Pairing::half_split ? "half_split" : "interleaved"; }

namespace {

// Far beyond every model; a plan of it is still made in seconds.
constexpr int widest_head = 65536;

void require(bool holds, const std::string& message) {
  if (!holds) throw InputError("spec: " + message);
}

void validate_axes(const RopeSpec& spec) {
  const std::vector<int>& sections = spec.axes.sections;
  if (sections.empty()) return;
  require(sections.size() <= 3, fmt::format("axes.sections has {} entries; 1 to 3 are possible", sections.size()));
  for (int section : sections) require(section >= 0, "axes.sections must not be negative");
  const int sum = std::accumulate(sections.begin(), sections.end(), 0);
  require(sum == spec.rotary_dim / 2,
          fmt::format("axes.sections add up to {}; they must add up to rotary_dim/2 = {}", sum, spec.rotary_dim / 2));
  require(!spec.axes.restart || spec.axes.order == AxisLayout::Order::chunked,
          "axes.restart goes with axes.order \"chunked\" only");
}

}  // namespace

void validate(const RopeSpec& spec) {
  require(spec.head_dim >= 1, fmt::format("head_dim is {}; it must be at least 1", spec.head_dim));
  require(spec.head_dim <= widest_head,
          fmt::format("head_dim is {}; it must be at most {}", spec.head_dim, widest_head));
  require(spec.rotary_dim % 2 == 0,
          fmt::format("rotary_dim is {}; it must be even, because features rotate in pairs", spec.rotary_dim));
  require(spec.rotary_dim >= 2 && spec.rotary_dim <= spec.head_dim,
          fmt::format("rotary_dim is {}; it must be 2 to head_dim = {}", spec.rotary_dim, spec.head_dim));
  require(spec.rotary_offset % 2 == 0 && spec.rotary_offset >= 0 &&
              spec.rotary_offset <= spec.head_dim - spec.rotary_dim,
          fmt::format("rotary_offset is {}; it must be even, and 0 to head_dim - rotary_dim = {}", spec.rotary_offset,
                      spec.head_dim - spec.rotary_dim));
  require(std::isfinite(spec.base) && spec.base > 0, fmt::format("base is {}; it must be above 0", spec.base));
  require(!spec.attention_factor || std::isfinite(*spec.attention_factor), "attention_factor must be finite");
  validate_axes(spec);
  if (spec.xpos) {
    require(spec.xpos->scale_base > 0, "xpos.scale_base must be above 0");
    require(spec.xpos->gamma > 0, "xpos.gamma must be above 0: the first pair's zeta would be 0");
  }
  const scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, 0};
  try {
    std::visit([&](const auto& rule) { rule.check(setting); }, spec.scaling);
  } catch (const InputError& error) {
    throw InputError(fmt::format("spec: {}", error.what()));
  }
}

void keep_in_head(RopeSpec& spec) {
  spec.rotary_offset = std::clamp(spec.rotary_offset, 0, std::max(spec.head_dim - spec.rotary_dim, 0) / 2 * 2);
}

std::vector<int> axis_of_pairs(const RopeSpec& spec) {
  const std::vector<int>& sections = spec.axes.sections;
  if (sections.empty()) return std::vector<int>(static_cast<std::size_t>(spec.rotary_dim / 2), 0);
  return axis_order(spec.axes.order).axis_of_pairs(sections);
}

}  // namespace rope
