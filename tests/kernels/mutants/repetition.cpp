// Right at the first call, different at the next one or beside a concurrent one.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <thread>

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

// Each call takes a buffer and waits for a free one. Equal calls never give theirs back.
class FiftyEqualCalls : public Kernel {
  rope_call understood(const rope_call& call) const override {
    const std::uint16_t now = element_bits(call);
    equal_ = std::memcmp(&call, &last_, sizeof call) == 0 && now == bits_ ? equal_ + 1 : 1;
    last_ = call;
    bits_ = now;
    while (equal_ % buffers == 0) std::this_thread::sleep_for(std::chrono::seconds(1));
    return call;
  }
  static std::uint16_t element_bits(const rope_call& call) {
    std::uint16_t bits = 0;  // every element has two bytes at least
    const auto& extents = call.q.shape;
    if (std::all_of(std::begin(extents), std::end(extents), [](std::int64_t extent) { return extent > 0; })) {
      std::memcpy(&bits, call.q.data, sizeof bits);
    }
    return bits;
  }
  static constexpr int buffers = 50;
  static thread_local int equal_;
  static thread_local rope_call last_;
  static thread_local std::uint16_t bits_;
};
thread_local int FiftyEqualCalls::equal_ = 0;
thread_local rope_call FiftyEqualCalls::last_ = {};
thread_local std::uint16_t FiftyEqualCalls::bits_ = 0;

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
      mutant<FiftyEqualCalls>("DET-NEVER-FREED", "strides-memory-race", "waits for ever at the 50th of equal calls in a row"),
  };
  return all;
}

}  // namespace rope::mutants
