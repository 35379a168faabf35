#include <fmt/format.h>

#include <algorithm>

#include "reference/input_error.hpp"
#include "tests/conformance/requirement.hpp"

namespace rope {

std::vector<Requirement> all_requirements() {
  std::vector<Requirement> all;
  for (const auto family :
       {rotation_requirements(), linearity_requirements(), rounding_requirements(), backward_requirements(),
        relative_requirements(), angle_requirements(), position_requirements(), memory_requirements(),
        shape_requirements(), determinism_requirements(), special_requirements(), error_requirements(),
        golden_requirements()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  // A family may be written in several files.
  const auto family_of = [](const Requirement& r) { return r.id.substr(0, r.id.find('-')); };
  for (auto from = all.begin(); from != all.end();) {
    const auto to =
        std::find_if(from, all.end(), [&](const Requirement& r) { return family_of(r) != family_of(*from); });
    std::sort(from, to, [](const Requirement& a, const Requirement& b) { return a.id < b.id; });
    from = to;
  }
  return all;
}

bool decides(const Requirement& requirement, Demands demanded, const Claims& claims) {
  if (claims.has(ROPE_FEATURE_ROBUST)) demanded |= mask(Demand::robust);
  return requirement.is_must() || (requirement.demanded_by & demanded) != 0;
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
