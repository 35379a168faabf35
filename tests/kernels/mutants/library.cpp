// mutants.so: the right kernel as `none`, then every mutant under its id.
#include <string>
#include <vector>

#include "tests/kernels/exports.hpp"
#include "tests/kernels/mutants/cuda.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct Library {
  std::vector<Mutant> mutants;
  std::vector<std::string> descriptions;
  std::vector<rope_kernel> kernels;
};

Library collect() {
  const Mutant none = mutant<Kernel>("none", "no bug", "what is asked for");
  std::vector<Mutant> all{none};
  for (const Mutants& kind : {row_mutants(), scaling_mutants(), precision_mutants(), position_mutants(), cache_mutants(),
                              memory_mutants(), read_mutants(), repetition_mutants(), value_mutants(),
                              refusal_mutants(), last_bit_mutants(), angle_mutants(), rotation_mutants(),
                              shortcut_mutants(), sequence_mutants()}) {
    all.insert(all.end(), kind.begin(), kind.end());
  }
  Library library;
  for (const Mutant& m : all) library.descriptions.push_back(std::string(m.bug_class) + ": " + m.sentence);
  for (std::size_t i = 0; i < all.size(); ++i) {
    library.kernels.push_back(
        {sizeof(rope_kernel), ROPE_KERNEL_ABI, all[i].id, library.descriptions[i].c_str(), all[i].apply, claims()});
  }
  for (const CudaMutant& m : cuda_mutants()) {
    library.kernels.push_back({sizeof(rope_kernel), ROPE_KERNEL_ABI, m.id, m.description, m.apply, claims()});
  }
  library.mutants = std::move(all);
  if (const rope_kernel* both = combined_kernel(library.mutants)) library.kernels.push_back(*both);
  return library;
}

const Library& library() {
  static const Library result = collect();
  return result;
}

}  // namespace
}  // namespace rope::mutants

std::vector<rope::Kernels> rope::exported_kernels() { return {rope::mutants::library().kernels}; }
