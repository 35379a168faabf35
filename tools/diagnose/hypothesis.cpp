#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {

const Hypotheses& all_hypotheses() {
  static const Hypotheses all = [] {
    Hypotheses list;
    add_edit_hypotheses(list);
    add_position_hypotheses(list);
    add_kept_row_hypotheses(list);
    add_theta_hypotheses(list);
    add_scaling_hypotheses(list);
    add_factor_hypotheses(list);
    add_pairing_hypotheses(list);
    add_axis_hypotheses(list);
    add_partial_hypotheses(list);
    add_head_hypotheses(list);
    add_stride_hypotheses(list);
    add_layout_hypotheses(list);
    add_memory_hypotheses(list);
    add_launch_hypotheses(list);
    add_table_hypotheses(list);
    add_precision_hypotheses(list);
    add_quadrant_hypotheses(list);
    return list;
  }();
  return all;
}

const Hypotheses& one_sided_hypotheses() {
  static const Hypotheses all = [] {
    Hypotheses list;
    for (const Hypothesis& h : all_hypotheses()) {
      if (!makes_rows(h.change) || h.unrotated) continue;
      for (const Factors made : {Factors::sin, Factors::cos}) {
        Hypothesis sided = h;
        sided.sentence += made == Factors::sin ? "; in sin, while cos is right" : "; in cos, while sin is right";
        sided.change.makes = made;
        list.push_back(std::move(sided));
      }
    }
    return list;
  }();
  return all;
}

}  // namespace rope::diagnosis
