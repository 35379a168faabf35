// How a mutant gets into the library: one line in the list at the end of the file of its kind.
#pragma once

#include <cstdint>
#include <span>

#include "tests/kernels/mutants/kernel.hpp"

namespace rope::mutants {

// Which stages an edit overrides, one bit for each. Overrides are public and the stages of Kernel are not, so
// &Edit::stage is valid only if the edit overrides the stage.
using Stages = std::uint32_t;
enum Stage : int {
  stage_check,
  stage_understood,
  stage_theta,
  stage_position,
  stage_axis,
  stage_pair,
  stage_pair_of,
  stage_angle,
  stage_turn,
  stage_row,
  stage_direct,
  stage_element,
  stage_load,
  stage_rotate,
  stage_store,
  stage_pass
};

template <class Edit>
constexpr Stages stages_of() {
  Stages stages = 0;
  const auto has = [&](Stage stage, bool is_own) { stages |= is_own ? Stages{1} << stage : 0; };
  has(
      stage_check, requires { &Edit::check; });
  has(
      stage_understood, requires { &Edit::understood; });
  has(
      stage_theta, requires { &Edit::theta; });
  has(
      stage_position, requires { &Edit::position; });
  has(
      stage_axis, requires { &Edit::axis; });
  has(
      stage_pair, requires { &Edit::pair; });
  has(
      stage_pair_of, requires { &Edit::pair_of; });
  has(
      stage_angle, requires { &Edit::angle; });
  has(
      stage_turn, requires { &Edit::turn; });
  has(
      stage_row, requires { &Edit::row; });
  has(
      stage_direct, requires { &Edit::direct; });
  has(
      stage_element, requires { &Edit::element; });
  has(
      stage_load, requires { &Edit::load; });
  has(
      stage_rotate, requires { &Edit::rotate; });
  has(
      stage_store, requires { &Edit::store; });
  has(
      stage_pass, requires { &Edit::pass; });
  return stages;
}

struct Mutant {
  const char* id;         // from the catalogue of real bugs; a new name if the catalogue has none
  const char* bug_class;  // likewise
  const char* sentence;   // what it computes instead
  std::int32_t (*apply)(const rope_call* call);
  const Kernel& (*kernel)();
  Stages stages;  // those it overrides
};

template <class Edit>
const Kernel& the_kernel() {
  static const Edit kernel;  // lives as long as the library: some bugs remember earlier calls
  return kernel;
}

template <class Edit>
Mutant mutant(const char* id, const char* bug_class, const char* sentence) {
  return {id,
          bug_class,
          sentence,
          [](const rope_call* call) { return the_kernel<Edit>().apply(call); },
          &the_kernel<Edit>,
          stages_of<Edit>()};
}

// One kernel with the two edits that the environment names, MUTANT_PAIR=ID+ID. They must override different stages.
// nullptr if it names none, or two that cannot be joined.
const rope_kernel* combined_kernel(std::span<const Mutant> all);

using Mutants = std::span<const Mutant>;

Mutants row_mutants();
Mutants scaling_mutants();
Mutants precision_mutants();
Mutants position_mutants();
Mutants cache_mutants();
Mutants memory_mutants();
Mutants repetition_mutants();
Mutants last_bit_mutants();
Mutants read_mutants();
Mutants refusal_mutants();
Mutants value_mutants();
Mutants angle_mutants();
Mutants rotation_mutants();
Mutants shortcut_mutants();
Mutants sequence_mutants();

}  // namespace rope::mutants
