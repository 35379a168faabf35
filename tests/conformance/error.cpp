// ERR: calls that are wrong.
#include <functional>

#include "tests/conformance/requirements.hpp"

namespace rope {
namespace {

// Every claimed pairing and angle source, in one dtype: the fault does not depend on more.
void for_each_fault(CaseList& list, std::initializer_list<Fault> faults, const std::function<void(Case)>& add) {
  list.for_each_way(64, [&](Case c) {
    const Representative& representative = list.representative();
    if (!representative.is_type_of(c) && list.level() == Level::quick) return;
    if (!representative.is_output_type_of(c) || (!representative.is_given_type_of(c) && c.given != c.dtype)) return;
    for (Fault fault : faults) {
      Case wrong = c;
      wrong.fault = fault;
      wrong.start = 9;
      if (needs_positions(fault)) {
        wrong.form = PositionForm::shared;
        wrong.position_dtype = needs_wide_positions(fault) ? DType::i64 : list.claims().position_dtype();
      }
      const bool of_key = fault == Fault::other_key || fault == Fault::other_key_type || fault == Fault::no_key_output;
      if (of_key) wrong.key_heads = wrong.heads;
      add(wrong);
    }
  });
}

void with_faults(CaseList& list, std::initializer_list<Fault> faults) {
  for_each_fault(list, faults, [&](const Case& wrong) { list.add(wrong); });
}

// Wrong positions in one batch, and in the second of two, whose positions are its own. With tables, also on the second
// of two axes; without, a kernel may turn by the negative angle, which only one axis can show.
void with_wrong_positions(CaseList& list, std::initializer_list<Fault> faults) {
  for_each_fault(list, faults, [&](Case wrong) {
    list.add(wrong);
    const bool has_tables = wrong.source == AngleSource::tables;
    if (needs_positions(wrong.fault) && has_tables && wrong.spec.rotary_dim >= 4) {
      Case second_axis = wrong;
      second_axis.spec.axes.sections = {wrong.spec.rotary_dim / 2 - 1, 1};
      list.add(second_axis);
    }
    wrong.batch = 2;
    wrong.form = needs_positions(wrong.fault) ? PositionForm::per_batch : PositionForm::seqlen_offsets;
    list.add(wrong);
  });
}

void rotary_dim_cases(CaseList& list) {
  with_faults(list, {Fault::odd_rotary_dim, Fault::wide_rotary_dim, Fault::negative_rotary_dim});
  // One above what the tables and frequencies are for, so that they have as many columns as rotary_dim/2 says.
  list.for_each_way(64, [&](Case c) {
    if (!list.representative().is_type_of(c) || !turn_half(c.spec)) return;
    if (!list.representative().is_output_type_of(c) || !list.representative().is_given_type_of(c)) return;
    c.fault = Fault::odd_rotary_dim;
    list.add(c);
  });
}
void null_cases(CaseList& list) {
  with_faults(list,
              {Fault::no_input, Fault::no_output, Fault::no_cos, Fault::no_sin, Fault::no_theta, Fault::no_key_output});
}
void position_cases(CaseList& list) {
  with_wrong_positions(list, {Fault::offset_beyond_table, Fault::position_beyond_table, Fault::negative_position,
                              Fault::inner_position_beyond_table, Fault::inner_negative_position,
                              Fault::negative_offset, Fault::wrapping_position, Fault::wrapping_offset});
}
void negative_angle_cases(CaseList& list) {
  with_wrong_positions(list, {Fault::position_below_0, Fault::offset_below_0});
}
void mismatch_cases(CaseList& list) {
  with_faults(list, {Fault::integer_input, Fault::narrow_output, Fault::longer_output, Fault::other_key,
                     Fault::other_key_type, Fault::float_positions, Fault::odd_table, Fault::wide_table});
}
void enumerator_cases(CaseList& list) {
  with_faults(list, {Fault::unknown_pairing, Fault::unknown_direction, Fault::unknown_source});
}

Finding refused(const Case& c, Examiner& examiner) { return examiner.refusal(c); }

constexpr Handling by_status{.shown_by = ShownBy::status};

}  // namespace

std::span<const Requirement> error_requirements() {
  static constexpr Requirement requirements[] = {
      {"ERR-01", "A rotary_dim that is odd, negative or larger than head_dim SHOULD be refused.", "FREQ-11, MEM-11",
       "what was written before the refusal", rotary_dim_cases, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-02", "A call that lacks a tensor SHOULD be refused.", "TAB-05", "pointers that are wrong and not NULL",
       null_cases, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-03", "A position without a row in the tables SHOULD be refused.", "POS-13, SCALE-05, TAB-05",
       "calls without tables, where every position has an angle; the starts of packed sequences", position_cases,
       refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-04", "Types and shapes that do not match SHOULD be refused.", "MEM-11, TAB-05, TAB-07",
       "strides that make elements overlap", mismatch_cases, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-05", "A value outside its enumeration SHOULD be refused.", "PAIR-01", "values that a later version adds",
       enumerator_cases, refused, mask(Demand::robust), nullptr, by_status},
      {"ERR-06", "Without tables, a negative position SHOULD be refused, or turn by its negative angle.", "POS-13",
       "sums of several negative positions", negative_angle_cases, refused, mask(Demand::robust), nullptr, by_status},
  };
  return requirements;
}

}  // namespace rope
