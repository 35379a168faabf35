#include "reference/axis_orders.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

namespace rope {
namespace {

std::size_t all_pairs(const std::vector<int>& sections) {
  return static_cast<std::size_t>(std::accumulate(sections.begin(), sections.end(), 0));
}

std::vector<int> in_chunks(const std::vector<int>& sections) {
  std::vector<int> axis;
  for (std::size_t a = 0; a < sections.size(); ++a) {
    axis.insert(axis.end(), static_cast<std::size_t>(sections[a]), static_cast<int>(a));
  }
  return axis;
}

std::vector<int> in_turn(const std::vector<int>& sections) {
  std::vector<int> axis(all_pairs(sections), 0);
  for (std::size_t p = 0; p < axis.size(); ++p) {
    const std::size_t a = p % sections.size();
    if (p < sections.size() * static_cast<std::size_t>(sections[a])) axis[p] = static_cast<int>(a);
  }
  return axis;
}

std::vector<int> spread_out(const std::vector<int>& sections) {
  std::vector<int> pairs = sections, placed(sections.size(), 0), axis;
  const bool ends_with_first = sections.size() == 3 && sections[0] > 0;
  if (ends_with_first) --pairs[0];
  // The axis before it comes again only if no other is left; then the smallest part of a section counts.
  const auto rank = [&](std::size_t a) {
    const bool is_full = placed[a] == pairs[a], repeats = !axis.empty() && axis.back() == static_cast<int>(a);
    return std::tuple(is_full, repeats, is_full ? 0.0 : static_cast<double>(placed[a]) / pairs[a]);
  };
  while (axis.size() < all_pairs(pairs)) {
    std::size_t next = 0;
    for (std::size_t a = 1; a < pairs.size(); ++a) next = rank(a) < rank(next) ? a : next;
    ++placed[next];
    axis.push_back(static_cast<int>(next));
  }
  if (ends_with_first) axis.push_back(0);
  return axis;
}

std::vector<int> others_in_turn(const std::vector<int>& sections) {
  std::vector<int> left = sections, axis;
  const std::size_t pairs = all_pairs(sections), others = pairs - static_cast<std::size_t>(sections.front());
  while (axis.size() < others) {
    for (std::size_t a = 1; a < left.size(); ++a) {
      if (left[a]-- > 0) axis.push_back(static_cast<int>(a));
    }
  }
  axis.resize(pairs, 0);
  return axis;
}

constexpr AxisOrder row_of(AxisLayout::Order order, std::vector<int> (*axis_of_pairs)(const std::vector<int>&)) {
  return {order, axis_order_words[static_cast<std::size_t>(order)], axis_of_pairs};
}

constexpr AxisOrder orders_of_axes[] = {
    row_of(AxisLayout::Order::chunked, in_chunks), row_of(AxisLayout::Order::interleaved, in_turn),
    row_of(AxisLayout::Order::spread, spread_out), row_of(AxisLayout::Order::others_first, others_in_turn)};
static_assert(std::size(orders_of_axes) == std::size(axis_order_words));

}  // namespace

std::span<const AxisOrder> axis_orders() { return orders_of_axes; }

const AxisOrder& axis_order(AxisLayout::Order order) {
  return *std::ranges::find(orders_of_axes, order, &AxisOrder::order);
}

}  // namespace rope
