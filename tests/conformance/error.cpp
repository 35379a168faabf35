// ERR: calls that are wrong.
#include "tests/conformance/faults.hpp"

namespace rope {
namespace {

// Wrong positions in one batch, and in the second of two, whose positions are its own. With tables, also on the second
// of two axes; without, a kernel may turn by the negative angle, which only one axis can show.
template <FaultKind kind>
void with_wrong_positions(CaseList& list) {
  for_each_fault(list, kind, [&](Case wrong) {
    list.add(wrong);
    const bool has_tables = wrong.source == AngleSource::tables, gives = has_need(wrong.fault, FaultNeed::positions);
    if (gives && has_tables && wrong.spec.rotary_dim >= 4) {
      Case second_axis = wrong;
      second_axis.spec.axes.sections = {wrong.spec.rotary_dim / 2 - 1, 1};
      list.add(second_axis);
    }
    wrong.batch = 2;
    wrong.form = gives ? PositionForm::per_batch : PositionForm::seqlen_offsets;
    list.add(wrong);
  });
}

void rotary_dim_cases(CaseList& list) {
  with_faults<FaultKind::rotary_dim>(list);
  // One above what the tables and frequencies are for, so that they have as many columns as rotary_dim/2 says.
  list.for_each_variant(64, [&](Case c) {
    if (!list.representative().is_type_of(c) || !turn_half(c.spec)) return;
    if (!list.representative().is_output_type_of(c) || !list.representative().is_given_type_of(c)) return;
    c.fault = Fault::odd_rotary_dim;
    list.add(c);
  });
}

}  // namespace

std::span<const Requirement> error_requirements() {
  static constexpr Requirement requirements[] = {
      {"ERR-01", "A rotary_dim that is odd, negative or larger than head_dim SHOULD be refused.", "FREQ-11, MEM-11",
       "what was written before the refusal", rotary_dim_cases, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-02", "A call that lacks a tensor SHOULD be refused.", "TAB-05", "pointers that are wrong and not NULL",
       with_faults<FaultKind::pointer>, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-03", "A position without a row in the tables SHOULD be refused.", "POS-13, SCALE-05, TAB-05",
       "calls without tables, where every position has an angle; the starts of packed sequences",
       with_wrong_positions<FaultKind::position>, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-04", "Types and shapes that do not match SHOULD be refused.", "MEM-11, TAB-05, TAB-07",
       "strides that make elements overlap", with_faults<FaultKind::shape>, refused, mask(Demand::robust), nullptr,
       by_status},
      {"ERR-05", "A value outside its enumeration SHOULD be refused.", "PAIR-01", "values that a later version adds",
       with_faults<FaultKind::enumerator>, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-06", "Without tables, a negative position SHOULD be refused, or turn by its negative angle.", "POS-13",
       "sums of several negative positions", with_wrong_positions<FaultKind::negative_angle>, refused,
       mask(Demand::robust), nullptr, by_status},
  };
  return requirements;
}

}  // namespace rope
