#include <fmt/format.h>

#include "reference/input_error.hpp"
#include "tests/conformance/requirement.hpp"

namespace rope {

std::vector<Requirement> all_requirements() {
  std::vector<Requirement> all;
  for (const auto family :
       {rotation_requirements(), backward_requirements(), relative_requirements(), angle_requirements(),
        position_requirements(), determinism_requirements(), shape_requirements(), golden_requirements()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

const Requirement& requirement_called(std::string_view id) {
  static const std::vector<Requirement> all = all_requirements();
  std::vector<std::string_view> known;
  for (const Requirement& requirement : all) {
    if (requirement.id == id) return requirement;
    known.push_back(requirement.id);
  }
  throw InputError(fmt::format("requirement \"{}\" is not known; known are {}", id, fmt::join(known, ", ")));
}

}  // namespace rope
