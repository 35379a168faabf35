#include "tools/judge/case/every_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "reference/axis_orders.hpp"
#include "tools/judge/call/claimed_rule.hpp"
#include "tools/judge/case/case_words.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

constexpr int most_axes = 3;

template <class Enum>
std::string_view word_of(Enum value) {
  return std::ranges::find(words_of<Enum>(), value, &Word<Enum>::value)->word;
}

// A mask of 0 claims all.
bool admits(std::uint32_t mask, int bit) { return mask == 0 || (mask >> bit & 1u) != 0; }

rope_axis_order order_of(const AxisLayout& axes) {
  return static_cast<rope_axis_order>(axes.order);
}

AxisLayout::Order first_claimed_order(const rope_capabilities& k) {
  const auto claimed = [&](const AxisOrder& each) { return admits(k.axis_orders, static_cast<int>(each.order)); };
  return std::ranges::find_if(axis_orders(), claimed)->order;
}

// Whether all pairs follow axis 0. Then the order says nothing.
bool follows_one_axis(const AxisLayout& axes) {
  return axes.sections.empty() || std::accumulate(axes.sections.begin() + 1, axes.sections.end(), 0) == 0;
}

// Positions that were counted from an offset are the same on every axis.
void keep_in_step(Case& c) {
  const bool counted = gives_positions(c.form) && c.pattern == PositionPattern::consecutive;
  if (counted && c.spec.axes.count() > 1) c.pattern = PositionPattern::in_step;
}

void give_positions(Case& c, const Claims& claims) {
  if (c.form != PositionForm::offset) return;
  c.form = PositionForm::shared;
  if (c.position_dtype == DType::i64) c.position_dtype = claims.position_dtype();
  keep_in_step(c);
}

void give_in_place(Case& c, const Claims&) { c.in_place = true; }

void give_key(Case& c, const Claims& claims) {
  if (c.key_heads == 0) c.key_heads = claims.has(ROPE_FEATURE_GROUPED_HEADS) ? std::min(c.heads, 1) : c.heads;
}

// The features that may be required.
struct Required {
  rope_feature feature;
  const char* otherwise;
  void (*give)(Case& c, const Claims& claims);
};
constexpr Required features_that_may_be_required[] = {
    {ROPE_FEATURE_POSITIONS, "calls without given positions are not claimed", give_positions},
    {ROPE_FEATURE_IN_PLACE, "calls out of place are not claimed", give_in_place},
    {ROPE_FEATURE_KEY, "calls without k are not claimed", give_key},
};

bool has(const Case& c, rope_feature feature) {
  return std::ranges::find(feature_needs(), feature, &FeatureNeed::feature)->needed(c);
}

std::optional<rope_layout> layout_of(Layout layout) {
  if (is_contiguous(layout)) return ROPE_LAYOUT_CONTIGUOUS;
  if (layout == Layout::heads_first) return ROPE_LAYOUT_HEADS_FIRST;
  if (layout == Layout::packed) return ROPE_LAYOUT_PACKED;
  return std::nullopt;
}

std::string unclaimed_layout(const Case& c, std::uint32_t mask) {
  if (mask == 0) return "";
  const std::optional<rope_layout> layout = layout_of(c.layout);
  if (!layout || !admits(mask, *layout)) return fmt::format("the layout {} is not claimed", word_of(c.layout));
  const bool shifted = c.output == OutputLayout::shifted && layout == ROPE_LAYOUT_CONTIGUOUS;
  if (c.output == OutputLayout::as_input || shifted) return "";
  return "outputs in another layout than the inputs are not claimed";
}

std::string unclaimed_axes(const Case& c, const rope_capabilities& k) {
  const AxisLayout& axes = c.spec.axes;
  if (!admits(k.axis_counts, axes.count())) {
    return fmt::format("{} position {} not claimed", axes.count(), axes.count() == 1 ? "axis is" : "axes are");
  }
  if (follows_one_axis(axes) || admits(k.axis_orders, order_of(axes))) return "";
  return fmt::format("axes in the order {} are not claimed", word_of(axes.order));
}

bool begins_at_0(const Case& c) {
  return c.start == 0 && std::ranges::all_of(c.before, [](const EarlierCall& earlier) { return earlier.start == 0; });
}

}  // namespace

void reach_start(Case& c, const Claims& claims) {
  const bool counts = c.form == PositionForm::offset || c.form == PositionForm::cu_seqlens;
  if (!counts || claims.has(ROPE_FEATURE_OFFSET) || begins_at_0(c)) return;
  if (c.form == PositionForm::offset && claims.has(ROPE_FEATURE_POSITIONS)) {
    give_positions(c, claims);
  } else if (claims.has(ROPE_FEATURE_SEQLEN_OFFSETS)) {
    c.form = is_packed(c.form) ? PositionForm::cu_seqlens_and_offsets : PositionForm::seqlen_offsets;
    c.position_dtype = claims.position_dtype();
  }
}

void give_claimed_axes(Case& c, const Claims& claims) {
  const rope_capabilities& k = claims.capabilities;
  AxisLayout& axes = c.spec.axes;
  if (!axes.sections.empty() && !admits(k.axis_orders, order_of(axes))) {
    axes.order = first_claimed_order(k);
    axes.restart = axes.restart && axes.order == AxisLayout::Order::chunked;
  }
  const int pairs = c.spec.rotary_dim / 2;
  const bool claimed = admits(k.axis_counts, axes.count());
  const bool fits = axes.sections.empty() || std::reduce(axes.sections.begin(), axes.sections.end()) == pairs;
  if (k.axis_counts == 0 || (claimed && fits)) return;
  int count = claimed ? axes.count() : most_axes;
  while (count > 1 && !admits(k.axis_counts, count)) --count;
  // Each axis after the first gets a pair, as far as there are pairs.
  const int others = std::clamp(pairs - 1, 0, count - 1);
  axes.sections.assign(static_cast<std::size_t>(count), 0);
  axes.sections.front() = pairs - others;
  std::fill_n(axes.sections.begin() + 1, others, 1);
  axes.order = first_claimed_order(k);
  axes.restart = false;
  if (count == 1) axes.sections.clear();
  keep_in_step(c);
}

void give_required_features(Case& c, const Claims& claims) {
  for (const Required& one : features_that_may_be_required) {
    if (claims.always(one.feature)) one.give(c, claims);
  }
}

void give_claimed_layout(Case& c, const Claims& claims) {
  const std::uint32_t mask = claims.capabilities.layouts;
  if (mask == 0) return;
  const bool heads_first = admits(mask, ROPE_LAYOUT_HEADS_FIRST);
  if (c.layout == Layout::seq_last && heads_first) c.layout = Layout::heads_first;
  if (c.layout != Layout::contiguous || admits(mask, ROPE_LAYOUT_CONTIGUOUS)) return;
  c.layout = heads_first ? Layout::heads_first : Layout::packed;
}

std::vector<std::string> words_of_every_call(const Claims& claims) {
  const rope_capabilities& k = claims.capabilities;
  std::vector<std::string> words;
  for (const FeatureNeed& need : feature_needs()) {
    if (claims.always(need.feature)) words.emplace_back(need.what);
  }
  const auto add_named = [&]<class Enum>(std::uint32_t mask, std::string_view what, int bit, Enum value) {
    if (mask != 0 && admits(mask, bit)) words.push_back(fmt::format("{} {}", what, word_of(value)));
  };
  for (const Layout layout : {Layout::contiguous, Layout::heads_first, Layout::packed}) {
    add_named(k.layouts, "the layout", *layout_of(layout), layout);
  }
  for (int count = 1; count <= most_axes; ++count) {
    if (k.axis_counts == 0 || !admits(k.axis_counts, count)) continue;
    words.push_back(fmt::format("{} position {}", count, count == 1 ? "axis" : "axes"));
  }
  for (const AxisOrder& each : axis_orders()) {
    add_named(k.axis_orders, "axes in the order", static_cast<int>(each.order), each.order);
  }
  for (const std::string& choice : claimed_choices(k)) words.push_back(choice);
  if (k.own_attention_factor != 0) words.emplace_back("the rule's own attention factor");
  if (k.length_of_call != 0) words.emplace_back("a sequence as long as the largest position");
  return words;
}

std::string lacks_of_every_call(const Case& c, const Claims& claims) {
  for (const Required& one : features_that_may_be_required) {
    if (claims.always(one.feature) && !has(c, one.feature)) return one.otherwise;
  }
  if (std::string why = unclaimed_layout(c, claims.capabilities.layouts); !why.empty()) return why;
  return unclaimed_axes(c, claims.capabilities);
}

}  // namespace rope
