// Within every bound, but with different bits where they should be equal. Only a requirement that compares bits shows
// these, and only if it is demanded.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

// Two code paths of one kernel: one works in double, the other in f32.
class TwoPaths : public Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const Values x = values(at, pair);
    if (at.in().dtype == ROPE_F64 || !single(at, x)) return Kernel::rotate(at, pair, row);
    store(at, pair.first, in_single(x.first, row.cos(pair.first), -x.second, row.sin(pair.first)));
    store(at, pair.second, in_single(x.second, row.cos(pair.second), x.first, row.sin(pair.second)));
  }
  static double in_single(double a, double cosine, double b, double sine) {
    const auto first = static_cast<float>(a) * static_cast<float>(cosine);
    const auto second = static_cast<float>(b) * static_cast<float>(sine);
    return first + second;
  }
  virtual bool single(const Place& at, Values x) const = 0;
};

struct OneTokenInSingle : TwoPaths {
  bool single(const Place& at, Values) const override { return at.in().shape[1] == 1; }
};

struct SeveralBatchesInSingle : TwoPaths {
  bool single(const Place& at, Values) const override { return at.in().shape[0] > 1; }
};

struct WithKeyInSingle : TwoPaths {
  bool single(const Place& at, Values) const override { return at.call.k.data != nullptr; }
};

struct LastHeadInSingle : TwoPaths {
  bool single(const Place& at, Values) const override { return at.head + 1 == at.in().shape[2]; }
};

struct InPlaceInSingle : TwoPaths {
  bool single(const Place& at, Values) const override { return at.in_place(); }
};

struct LargeInSingle : TwoPaths {
  bool single(const Place&, Values x) const override { return std::hypot(x.first, x.second) > 1; }
};

struct NegativeInSingle : TwoPaths {
  bool single(const Place&, Values x) const override { return x.first < 0; }
};

}  // namespace

Mutants last_bit_mutants() {
  static const Mutant all[] = {
      mutant<OneTokenInSingle>("PREC-09", "precision", "one token: a rounding to f32 that longer calls do not have"),
      mutant<SeveralBatchesInSingle>("BIT-BATCHES", "precision", "several batches: products rounded to f32"),
      mutant<WithKeyInSingle>("BIT-KEY", "precision", "with k in the call: products rounded to f32"),
      mutant<LastHeadInSingle>("BIT-LAST-HEAD", "precision", "the last head: products rounded to f32"),
      mutant<InPlaceInSingle>("BIT-IN-PLACE", "precision", "in place: products rounded to f32"),
      mutant<LargeInSingle>("BIT-LARGE", "precision", "pairs longer than 1: products rounded to f32"),
      mutant<NegativeInSingle>("BIT-NEGATIVE", "precision", "first feature negative: products rounded to f32"),
  };
  return all;
}

}  // namespace rope::mutants
