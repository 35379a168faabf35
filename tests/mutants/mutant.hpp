// How a mutant gets into the library: one line in the list at the end of the file of its kind.
#pragma once

#include <cstdint>
#include <span>

#include "tests/mutants/kernel.hpp"

namespace rope::mutants {

struct Mutant {
  const char* id;         // of the catalogue of real bugs, or a name of its own where the catalogue has none
  const char* bug_class;  // likewise
  const char* sentence;   // what it computes instead
  std::int32_t (*apply)(const rope_call* call);
};

template <class Edit>
Mutant mutant(const char* id, const char* bug_class, const char* sentence) {
  return {id, bug_class, sentence, [](const rope_call* call) {
            static const Edit kernel;  // lives as long as the library: some bugs are a memory of earlier calls
            return kernel.apply(call);
          }};
}

using Mutants = std::span<const Mutant>;

Mutants pairing_mutants();
Mutants frequency_mutants();
Mutants scaling_mutants();
Mutants precision_mutants();
Mutants position_mutants();
Mutants cache_mutants();
Mutants partial_mutants();
Mutants head_mutants();
Mutants memory_mutants();
Mutants backward_mutants();
Mutants repetition_mutants();

}  // namespace rope::mutants
