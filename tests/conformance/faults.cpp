#include "tests/conformance/faults.hpp"

namespace rope {

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
      if (has_need(row.fault, FaultNeed::rotary_offset) && turn_half(wrong.spec)) wrong.spec.rotary_offset = 2;
      add(wrong);
    }
  });
}

}  // namespace rope
