#include "tests/conformance/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference/did_you_mean.hpp"
#include "reference/input_error.hpp"

namespace rope {

std::span<const Family> families() {
  static constexpr Family table[] = {
      {"ROT", "Rotation", "How one pair of features is rotated, whichever way the kernel is called."},
      {"BWD", "Backward", "The backward pass is the transpose of the forward one."},
      {"REL", "Relative position", "Attention sees the distance between two tokens, and nothing else."},
      {"ANG", "Angles", "Frequencies, scaling rules, tables and axes, pair by pair and at every length."},
      {"OFF", "Rotary offset", "Features that rotate, and do not come first in the head."},
      {"POS", "Positions", "Which position each token is rotated by."},
      {"DET", "Determinism", "The same call gives the same bits."},
      {"STA", "State", "Earlier calls do not matter."},
      {"SHP", "Shapes", "Sizes beyond the limits of launches, blocks and index types."},
      {"MEM", "Memory", "Which memory is read and written."},
      {"SPC", "Special values", "NaN, infinities, zeros and subnormals."},
      {"ERR", "Errors", "Calls that a kernel has to refuse."},
      {"GLD", "Golden files", "Results that widely used packages computed."},
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

std::vector<Requirement> all_requirements() {
  std::vector<Requirement> all;
  for (const auto family :
       {rotation_requirements(), linearity_requirements(), rounding_requirements(), backward_requirements(),
        relative_requirements(), angle_requirements(), offset_requirements(), position_requirements(),
        memory_requirements(), shape_requirements(), determinism_requirements(), state_requirements(),
        special_requirements(), error_requirements(), golden_requirements()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  // A family may be written in several files.
  for (auto from = all.begin(); from != all.end();) {
    const auto to =
        std::find_if(from, all.end(), [&](const Requirement& r) { return family_id(r.id) != family_id(from->id); });
    std::sort(from, to, [](const Requirement& a, const Requirement& b) { return a.id < b.id; });
    from = to;
  }
  return all;
}

std::span<const RequirementPriority> most_telling_first() {
  static constexpr RequirementPriority ids[] = {
      {"ROT-01", 30}, {"SHP-01"}, {"ANG-04"}, {"ERR-04"}, {"MEM-06"}, {"SPC-01"}, {"ROT-12"}, {"ERR-02"},
      {"ERR-03"},     {"MEM-01"}, {"SPC-04"}, {"ERR-01"}, {"ERR-05"}, {"ROT-03"}, {"ROT-09"}, {"ROT-13"},
      {"SHP-04"},     {"SHP-06"}, {"DET-02"}, {"DET-03"}, {"ROT-11"}, {"BWD-02"}, {"ANG-01"}, {"ANG-02"},
      {"ANG-03"},     {"POS-02"}, {"POS-03"}, {"POS-05"}, {"MEM-05"}, {"SHP-02"}, {"SHP-07"}, {"SHP-08"},
      {"STA-01"},     {"SPC-03"}, {"ERR-06"}, {"MEM-03"}, {"POS-06"}, {"ANG-05"}};
  return ids;
}

const Requirement& requirement_called(std::string_view id) {
  static const std::vector<Requirement> all = all_requirements();
  std::vector<std::string_view> known;
  for (const Requirement& requirement : all) {
    if (same_word(requirement.id, id)) return requirement;
    known.push_back(requirement.id);
  }
  throw InputError(fmt::format("requirement \"{}\" is not known; {}known are {}", id, did_you_mean(id, known),
                               fmt::join(known, ", ")));
}

}  // namespace rope
