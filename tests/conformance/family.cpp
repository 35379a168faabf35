#include "tests/conformance/family.hpp"

namespace rope {

std::span<const Family> families() {
  static constexpr Family table[] = {
      {"ROT", "Rotation", "What is done to one pair of features, whichever way the kernel is called."},
      {"BWD", "Backward", "The backward pass is the transpose of the forward one."},
      {"REL", "Relative position", "What attention sees: the distance between two tokens and nothing else."},
      {"ANG", "Angles", "Frequencies, scaling rules, tables and axes, pair by pair and at every length."},
      {"POS", "Positions", "Which position each token is rotated by."},
      {"DET", "Determinism", "The same call gives the same bits."},
      {"STA", "State", "What was called before does not matter."},
      {"SHP", "Shapes", "Sizes at which launches, blocks and index types run out."},
      {"MEM", "Memory", "What is read and written, and nothing beside it."},
      {"SPC", "Special values", "NaN, infinities, zeros and subnormals."},
      {"ERR", "Errors", "Calls that a kernel has to refuse."},
      {"GLD", "Golden files", "What the packages that people train with computed."},
  };
  return table;
}

std::string_view family_id(std::string_view requirement) { return requirement.substr(0, requirement.find('-')); }

const Family* family_of(std::string_view requirement) {
  for (const Family& family : families()) {
    if (family.id == family_id(requirement)) return &family;
  }
  return nullptr;
}

}  // namespace rope
