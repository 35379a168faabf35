// The classes of the bug catalogue. Code compares enumerators; the words are for reports.
#pragma once

#include <span>
#include <string_view>

namespace rope {

enum class BugClass {
  frequency_base,
  position_offset,
  pairing_layout,
  sign_direction,
  partial_passthrough,
  scaling_config,
  precision,
  table_cache,
  heads_batch_qk,
  strides_memory_race,
  launch_limits,
  special_values,
  bad_arguments,
  backward,
  multi_axis,
  varlen_packing_cp,
  pipeline,
  exception,
  phase,
  count  // the number of classes, not a class
};

struct BugClassWord {
  BugClass bug_class;
  std::string_view word;
};

// Every class and its name in reports and the catalogue: "pairing-layout".
std::span<const BugClassWord> bug_class_words();

std::string_view word_of(BugClass bug_class);

}  // namespace rope
