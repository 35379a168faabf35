// A hypothesis: one change of the model that is a bug of a known class.
#pragma once

#include <string>
#include <vector>

#include "tools/diagnose/model.hpp"
#include "tools/bugs/bug_class.hpp"

namespace rope::diagnosis {

struct Hypothesis {
  BugClass bug_class{};
  std::string sentence = {};  // what the kernel computes instead
  Change change = {};
  // Deducted in a comparison with an equal fit, for hypotheses that explain much by being vague.
  double cost = 0;
  std::function<bool(const Call&)> applies = {};  // calls in which it can make a difference; empty: any
  bool unrotated = false;                    // says only that the output is the input, which has many causes
  bool turns_again = false;                  // turns whole rows again, which in place has another cause
  bool short_table = false;                  // would follow if the kernel's own table had too few rows
  bool several_rules = false;                // the same change of several scaling rules, each of which has its own
};

using Hypotheses = std::vector<Hypothesis>;

// The rows of the table of bugs.
void add_edit_hypotheses(Hypotheses& all);
// The other families. Each covers a part of the space of bugs.
void add_position_hypotheses(Hypotheses& all);
void add_tile_hypotheses(Hypotheses& all);            // part of them
void add_given_position_hypotheses(Hypotheses& all);  // part of them
void add_sequence_hypotheses(Hypotheses& all);        // part of them
void add_kept_row_hypotheses(Hypotheses& all);
void add_theta_hypotheses(Hypotheses& all);
void add_scaling_hypotheses(Hypotheses& all);
void add_ramp_hypotheses(Hypotheses& all);    // part of them
void add_length_hypotheses(Hypotheses& all);  // part of them
void add_factor_hypotheses(Hypotheses& all);
void add_pairing_hypotheses(Hypotheses& all);
void add_axis_hypotheses(Hypotheses& all);
void add_partial_hypotheses(Hypotheses& all);
void add_head_hypotheses(Hypotheses& all);
void add_stride_hypotheses(Hypotheses& all);
void add_layout_hypotheses(Hypotheses& all);
void add_memory_hypotheses(Hypotheses& all);
void add_launch_hypotheses(Hypotheses& all);
void add_table_hypotheses(Hypotheses& all);
void add_precision_hypotheses(Hypotheses& all);
void add_quadrant_hypotheses(Hypotheses& all);

const Hypotheses& all_hypotheses();

// All that make rows of factors, once for cos only and once for sin only. They are looked at if no other fits well.
const Hypotheses& one_sided_hypotheses();

}  // namespace rope::diagnosis
