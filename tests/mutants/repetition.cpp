// Right once, different the next time.
#include <atomic>
#include <cstdint>

#include "tests/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

class NowAndThenNotStored : public Kernel {
  void store(const Place& at, int feature, double value) const override {
    const bool lost_the_race = ++stores_ % 127 == 0;  // 0.8 %, as measured on the real one
    Kernel::store(at, feature, lost_the_race ? load(at, feature) : value);
  }
  mutable std::atomic<std::uint64_t> stores_ = 0;
};

// Each result alone is within any bound: only the repetition shows it.
class EverySecondCallNarrower : public Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.in().dtype == ROPE_F64 || at.key || at.batch + at.seq > 0 || ++calls_ % 2 == 0) return result;
    for (int feature = 0; feature < result.features(); ++feature) {
      result.cos(feature) = static_cast<float>(result.cos(feature));
      result.sin(feature) = static_cast<float>(result.sin(feature));
    }
    return result;
  }
  mutable std::atomic<std::uint64_t> calls_ = 0;
};

}  // namespace

Mutants repetition_mutants() {
  static const Mutant all[] = {
      mutant<NowAndThenNotStored>("NAN-03", "special-values", "0.8 % of the features unrotated, others each time"),
      mutant<EverySecondCallNarrower>("DET-LAST-BIT", "special-values",
                                      "every second call turns the first token of q by factors rounded to f32"),
  };
  return all;
}

}  // namespace rope::mutants
