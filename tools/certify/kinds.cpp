#include <fmt/format.h>

#include <algorithm>

#include "reference/did_you_mean.hpp"
#include "reference/input_error.hpp"
#include "tools/certify/alignments.hpp"
#include "tools/certify/positions.hpp"
#include "tools/certify/roundings.hpp"
#include "tools/certify/shapes.hpp"
#include "tools/certify/states.hpp"
#include "tools/certify/sweep.hpp"
#include "tools/certify/values.hpp"

namespace rope::certify {

std::span<const Kind> kinds() {
  static constexpr Kind rows[] = {
      {"positions", "every position of every pair", propose_positions, position_parts},
      {"values", "every value of a 16-bit type in either feature", propose_values, position_parts, true},
      {"roundings",
       "every value of a 16-bit type times every number from -1 to 1 in its tables, and many times rows of f32 tables",
       propose_roundings, rounding_parts, true},
      {"shapes", "sizes along lines where the others are small, and arrangements in memory", propose_shapes,
       shape_parts},
      {"alignments", "every address of inputs and outputs modulo 64 bytes", propose_alignments, alignment_parts},
      {"states", "every ordered pair of a hundred unlike calls", propose_states, state_parts, false, true},
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
  std::string text = sweep.kind + (sweep.kind.starts_with(sweep.over) ? "" : " by " + sweep.over);
  if (sweep.kind != "states") text += fmt::format(" of {}", name(c.dtype));
  if (c.out_dtype != c.dtype) text += fmt::format(" to {}", name(c.out_dtype));
  text += fmt::format(", {}", name(c.source));
  if (c.source != AngleSource::computed) text += fmt::format(" in {}", name(c.given));
  if (c.full_tables) text += ", full width";
  text += fmt::format(", {}, head_dim {}", name(c.spec.pairing), c.spec.head_dim);
  if (c.spec.rotary_dim != c.spec.head_dim) text += fmt::format(", rotary_dim {}", c.spec.rotary_dim);
  if (kind_of(c.spec.scaling) != scaling::None::kind) text += fmt::format(", {}", kind_of(c.spec.scaling));
  return text;
}

bool has_words(const Sweep& sweep, std::string_view words) {
  return (" " + words_of(sweep)).find(fmt::format(" {}", words)) != std::string::npos;
}

}  // namespace rope::certify
