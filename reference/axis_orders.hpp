// In which order pairs follow the position axes. A new order is a row here and a bit of rope_axis_order.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "reference/rope_spec.hpp"

namespace rope {

// In the order of their numbers, as on the wire.
inline constexpr std::string_view axis_order_words[] = {"chunked", "interleaved", "spread", "others_first"};

struct AxisOrder {
  AxisLayout::Order order;
  std::string_view word;
  // The axis of each pair, from the number of pairs of each axis: one number or more.
  std::vector<int> (*axis_of_pairs)(const std::vector<int>& sections);
};

std::span<const AxisOrder> axis_orders();  // in the same order
const AxisOrder& axis_order(AxisLayout::Order order);

}  // namespace rope
