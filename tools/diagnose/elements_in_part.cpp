#include "tools/diagnose/elements_in_part.hpp"

namespace rope::diagnosis {

void ElementsInPart::add(const SeenRow& row, const Prediction& said) {
  const Observation& seen = *row.seen;
  for (int feature = 0; feature < seen.head_dim; ++feature) {
    const std::size_t i = row.row * static_cast<std::size_t>(seen.head_dim) + static_cast<std::size_t>(feature);
    const bool is_as_said = agrees(seen, said, i), is_wrong = seen.wrong_elements[i] != 0;
    if (is_as_said != is_wrong) continue;  // the cause says what the specification says, or it does not explain it
    SeenRow& one = (is_wrong ? as_said_ : otherwise_)[{seen.head_dim, seen.c.spec.rotary_dim, seen.c.spec.pairing,
                                                       feature}];
    one = {row.seen, row.row, one.seen == nullptr ? row.weight : one.weight + row.weight, false, feature};
  }
}

std::vector<SeenRow> ElementsInPart::listed(const Places& places) {
  std::vector<SeenRow> all;
  for (const auto& [place, element] : places) all.push_back(element);
  return all;
}

}  // namespace rope::diagnosis
