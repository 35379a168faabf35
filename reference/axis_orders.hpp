// In which order pairs follow the position axes. A new order is a row here and a bit of rope_axis_order.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "reference/rope_spec.hpp"

namespace rope {

struct AxisOrder {
  AxisLayout::Order order;
  std::string_view word;
  // The axis of each pair, from the number of pairs of each axis: one number or more.
  std::vector<int> (*axis_of_pairs)(const std::vector<int>& sections);
};

// In the order of their numbers.
std::span<const AxisOrder> axis_orders();
const AxisOrder& axis_order(AxisLayout::Order order);

}  // namespace rope
