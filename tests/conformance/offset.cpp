// Rotary features that do not come first in the head.
#include <algorithm>

#include "tests/conformance/faults.hpp"

namespace rope {
namespace {

struct Part {
  int rotary_dim, rotary_offset;
};

// At the end, in the middle, one pair after the first feature, and all but one pair.
std::vector<Part> parts_of(int dim) {
  return {{dim / 2, dim / 2}, {dim / 4 / 2 * 2, dim / 2}, {dim / 4 / 2 * 2, 2}, {dim - 2, 2}};
}

void rotary_offset_cases(CaseList& list) {
  if (!list.claims().has(ROPE_FEATURE_ROTARY_OFFSET)) return;
  std::size_t turn = 0;
  for (int dim : {128, 64, 256}) {
    list.for_each_variant(dim, [&](Case c) {
      c.start = 3;
      std::vector<Case> parts;
      for (const Part& part : parts_of(c.spec.head_dim / 8 * 8)) {
        parts.push_back(c);
        parts.back().spec.rotary_dim = std::max(part.rotary_dim, 2);
        parts.back().spec.rotary_offset = part.rotary_offset;
        keep_in_head(parts.back().spec);
      }
      // One of them with k, and one in place.
      Case& with_key = parts[turn % parts.size()];
      if (list.claims().has(ROPE_FEATURE_KEY)) with_key.key_heads = with_key.heads;
      parts[(turn + 1) % parts.size()].in_place = list.claims().has(ROPE_FEATURE_IN_PLACE) && c.dtype == c.out_dtype;
      const bool all = list.level() != Level::quick || dim == 64;
      all ? list.add_in_turn(turn++, std::move(parts)) : list.add_one_in_turn(turn++, std::move(parts));
    });
  }
  // Latent attention: the last 64 features of a head turn.
  for (int dim : {192, 512, 576}) {
    list.for_each_variant(dim, [&](Case c) {
      if (c.spec.head_dim != dim || !list.representative().is_output_type_of(c)) return;
      if (list.level() == Level::quick && !list.representative().is_type_of(c)) return;
      c.spec.rotary_dim = 64;
      c.spec.rotary_offset = dim - 64;
      c.start = 33;
      list.add(c);
    });
  }
  list.add_random(
      20,
      [](Case& c) {
        c.spec.axes = {};
        c.spec.scaling = scaling::None{};
        c.spec.rotary_dim = std::max(c.spec.head_dim / 4 * 2, 2);
        c.spec.rotary_offset = (c.spec.head_dim - c.spec.rotary_dim) / 4 * 2;
      },
      [](const Case& c) { return c.spec.rotary_offset > 0; });
}

}  // namespace

std::span<const Requirement> offset_requirements() {
  static constexpr Requirement requirements[] = {
      {"OFF-01", "Exactly the rotary_dim features from rotary_offset on MUST turn; all others MUST be copied.",
       "PART, PAIR", "offsets other than those tried", rotary_offset_cases, accuracy},
      {"OFF-02", "A rotary_offset that is odd, negative or too large for the head SHOULD be refused.", "PART",
       "what was written before the refusal", with_faults<FaultKind::rotary_offset>, refused, mask(Demand::robust), nullptr,
       by_status},
  };
  return requirements;
}

}  // namespace rope
