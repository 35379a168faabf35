#include <fmt/format.h>

#include <algorithm>

#include "reference/did_you_mean.hpp"
#include "reference/input_error.hpp"
#include "tools/certify/positions.hpp"
#include "tools/certify/shapes.hpp"
#include "tools/certify/sweep.hpp"

namespace rope::certify {

std::span<const Kind> kinds() {
  static constexpr Kind rows[] = {
      {"positions", "every position of every pair", propose_positions, position_parts},
      {"shapes", "sizes along lines where the others are small, and arrangements in memory", propose_shapes, shape_parts},
  };
  return rows;
}

const Kind& kind_called(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  if (found != kinds().end()) return *found;
  std::vector<std::string_view> known;
  for (const Kind& kind : kinds()) known.push_back(kind.name);
  throw InputError(fmt::format("--sweep: \"{}\" is not known; {}use {}", name, did_you_mean(name, known),
                               fmt::join(known, ", ")));
}

std::string words_of(const Sweep& sweep) {
  const Case& c = sweep.base;
  std::string text = fmt::format("{} of {}", sweep.kind, name(c.dtype));
  if (c.out_dtype != c.dtype) text += fmt::format(" to {}", name(c.out_dtype));
  text += fmt::format(", {}", name(c.source));
  if (c.source != AngleSource::computed) text += fmt::format(" in {}", name(c.given));
  if (c.full_tables) text += ", full width";
  text += fmt::format(", {}, head_dim {}", name(c.spec.pairing), c.spec.head_dim);
  if (c.spec.rotary_dim != c.spec.head_dim) text += fmt::format(", rotary_dim {}", c.spec.rotary_dim);
  if (kind_of(c.spec.scaling) != scaling::None::kind) text += fmt::format(", {}", kind_of(c.spec.scaling));
  return text;
}

}  // namespace rope::certify
