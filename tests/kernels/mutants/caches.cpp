// Tables: read at the wrong place, or kept from an earlier call.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

class CacheKeyedByLength : public Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.positions.data != nullptr || call.angle_source == ROPE_TABLES) return c;
    const std::lock_guard guard(lock_);
    c.positions.offset = first_offset_.try_emplace(call.q.shape[1], call.positions.offset).first->second;
    return c;
  }
  mutable std::mutex lock_;
  mutable std::map<std::int64_t, std::int64_t> first_offset_;  // by length
};

// The table of each set of frequencies grows to the longest length seen, and is stored in the dtype of the call that
// made it grow. Later calls round what they read to their own dtype.
class TableInTheTypeThatGrewIt : public Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    std::int64_t rows = 0;
    for (std::int64_t batch = 0; batch < call.q.shape[0]; ++batch) {
      for (std::int64_t seq = 0; seq < call.q.shape[1]; ++seq) {
        for (int p = 0; p < call.rotary_dim / 2; ++p) {
          rows = std::max(rows, position({call, false, batch, seq, 0}, axis(call, p)) + 1);
        }
      }
    }
    const std::lock_guard guard(lock_);
    Table& table = tables_[result];
    if (rows > table.rows) table = {rows, static_cast<DType>(call.q.dtype)};
    return result;
  }
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.call.angle_source == ROPE_TABLES) return result;
    const DType kept = [&] {
      const std::lock_guard guard(lock_);
      return tables_[theta].dtype;
    }();
    for (int feature = 0; feature < result.features(); ++feature) {
      std::uint64_t bits = 0;
      for (double* value : {&result.cos(feature), &result.sin(feature)}) {
        rope::store(kept, &bits, *value);
        *value = rope::load(kept, &bits);
      }
    }
    return result;
  }
  struct Table {
    std::int64_t rows = 0;
    DType dtype = DType::f64;
  };
  mutable std::mutex lock_;
  mutable std::map<std::vector<double>, Table> tables_;  // by theta
};

struct SineBehindThePaddedWidth : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    const Row right = Kernel::row(at, theta);
    Row wrong = right;
    const int pairs = at.call.rotary_dim / 2;
    const int shift = static_cast<int>(std::bit_ceil(static_cast<unsigned>(pairs))) - pairs;
    for (int feature = 0; feature < wrong.features(); ++feature) {
      const int source = pair_of(at.call, feature) + shift;
      wrong.sin(feature) = source < pairs ? right.sin(pair(at.call, source).first) : 0;
    }
    return wrong;
  }
};

struct BatchesOneAfterTheOther : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    if (at.call.angle_source != ROPE_TABLES || at.call.positions.data != nullptr) return m;
    return (m + at.batch * at.in().shape[1]) % at.call.table.rows;
  }
};

struct SecondHalfNotRead : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    for (int p = 0; p < at.call.rotary_dim / 2; ++p) {
      const auto [first, second] = pair(at.call, p);
      result.cos(second) = result.cos(first);
      result.sin(second) = result.sin(first);
    }
    return result;
  }
};

}  // namespace

Mutants cache_mutants() {
  static const Mutant all[] = {
      mutant<CacheKeyedByLength>("TAB-01", "table-cache", "a second call of the same length: offset of the first one"),
      mutant<SineBehindThePaddedWidth>("TAB-03", "table-cache",
                                       "sin read from where a power-of-two width would have put it; 0 past the end"),
      mutant<BatchesOneAfterTheOther>(
          "TAB-07", "table-cache",
          "tokens of all batches counted on through one table: batch b starts b seq rows further down"),
      mutant<SecondHalfNotRead>("TAB-HALVES", "table-cache", "full-width tables: the second feature gets the first's"),
      mutant<TableInTheTypeThatGrewIt>("TAB-GROWN-DTYPE", "table-cache",
                                       "the table grows in the dtype of the call that needs it longer, and stays so"),
  };
  return all;
}

}  // namespace rope::mutants
