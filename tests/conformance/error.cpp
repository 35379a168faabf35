// ERR: calls that are wrong.
#include <functional>

#include "tests/conformance/requirements.hpp"

namespace rope {
namespace {

// Every claimed pairing and angle source, in one dtype: the fault does not depend on more.
void for_each_fault(CaseList& list, FaultKind kind, const std::function<void(Case)>& add) {
  list.for_each_variant(64, [&](Case c) {
    const Representative& representative = list.representative();
    if (!representative.is_type_of(c) && list.level() == Level::quick) return;
    if (!representative.is_output_type_of(c) || (!representative.is_given_type_of(c) && c.given != c.dtype)) return;
    for (const FaultRow& row : fault_rows()) {
      if (row.kind != kind) continue;
      Case wrong = c;
      wrong.fault = row.fault;
      wrong.start = 9;
      if (has_need(row.fault, FaultNeed::positions)) {
        wrong.form = PositionForm::shared;
        wrong.position_dtype = has_need(row.fault, FaultNeed::i64) ? DType::i64 : list.claims().position_dtype();
      }
      if (has_need(row.fault, FaultNeed::key)) wrong.key_heads = wrong.heads;
      add(wrong);
    }
  });
}

template <FaultKind kind>
void with_faults(CaseList& list) {
  for_each_fault(list, kind, [&](const Case& wrong) { list.add(wrong); });
}

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

Finding refused(const Case& c, Examiner& examiner) { return examiner.refusal(c); }

constexpr RunnerTraits by_status{.shown_by = ShownBy::status};

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
