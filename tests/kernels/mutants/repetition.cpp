// Right at the first call, different at the next one or beside a concurrent one.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

class NowAndThenNotStored : public Kernel {
  void store(const Place& at, int feature, double value) const override {
    const bool lost_the_race = ++stores_ % 127 == 0;  // 0.8 %, as measured on the real one
    Kernel::store(at, feature, lost_the_race ? load(at, feature) : value);
  }
  mutable std::atomic<std::uint64_t> stores_ = 0;
};

// Each single result is within every bound: only a repeated call shows the bug.
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

// Static scratch memory, as in an engine that was written for one thread. Atomic, so that it has the intended bug and
// not undefined behaviour.
class OneRowForAllCalls : public Kernel {
 protected:
  void direct(const rope_call& call, Row& row) const override {
    Kernel::direct(call, row);
    for (int feature = 0; feature < std::min(row.features(), room); ++feature) {
      cos_[static_cast<std::size_t>(feature)] = row.cos(feature);
      sin_[static_cast<std::size_t>(feature)] = row.sin(feature);
    }
  }
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    if (row.features() > room) return Kernel::rotate(at, pair, row);
    const auto first = static_cast<std::size_t>(pair.first), second = static_cast<std::size_t>(pair.second);
    const Values x = values(at, pair);
    store(at, pair.first, x.first * cos_[first] - x.second * sin_[first]);
    store(at, pair.second, x.second * cos_[second] + x.first * sin_[second]);
  }

 private:
  static constexpr int room = 512;
  mutable std::array<std::atomic<double>, room> cos_{};
  mutable std::array<std::atomic<double>, room> sin_{};
};

class OneRowForAllGradients : public OneRowForAllCalls {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const bool backward = at.call.direction == ROPE_BACKWARD;
    backward ? OneRowForAllCalls::rotate(at, pair, row) : Kernel::rotate(at, pair, row);
  }
};

}  // namespace

Mutants repetition_mutants() {
  static const Mutant all[] = {
      mutant<NowAndThenNotStored>("NAN-03", "special-values", "0.8 % of the features unrotated, others each time"),
      mutant<OneRowForAllCalls>("DET-SCRATCH", "table-cache",
                                "the row of cosines and sines stands in memory that all calls share"),
      mutant<OneRowForAllGradients>("DET-SCRATCH-BWD", "table-cache",
                                    "the row of cosines and sines of a gradient stands in memory that all calls share"),
      mutant<EverySecondCallNarrower>("DET-LAST-BIT", "strides-memory-race",
                                      "every second call turns the first token of q by factors rounded to f32"),
  };
  return all;
}

}  // namespace rope::mutants
