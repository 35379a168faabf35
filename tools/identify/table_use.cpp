#include "tools/identify/table_use.hpp"

#include <array>
#include <cmath>

namespace rope {
namespace {

// Three digits of this base, each plus one. They are exact in every type, also after a factor that is rounded.
constexpr std::int64_t digit_base = 16;
constexpr int digits = 3;

// The contents of one call's tables: 1; 1 in cos and 2 in sin; a digit of the column; a digit of the row.
constexpr int unit = 0, table = 1, column = 2, row = column + digits, codes = row + digits;

std::int64_t digit_of(std::int64_t value, int digit) {
  while (digit-- > 0) value /= digit_base;
  return value % digit_base;
}

double coded(int code, bool of_sin, std::int64_t at_row, std::int64_t at_column) {
  if (code == unit) return 1;
  if (code == table) return of_sin ? 2 : 1;
  return static_cast<double>(1 + (code < row ? digit_of(at_column, code - column) : digit_of(at_row, code - row)));
}

void write_codes(int code, Call& call) {
  call.attention_factor = 1;
  for (const bool of_sin : {false, true}) {
    Tensor& entries = of_sin ? *call.sin : *call.cos;
    const std::size_t size = size_of(entries.dtype);
    for (std::int64_t m = 0; m < entries.shape[0]; ++m) {
      for (std::int64_t j = 0; j < entries.shape[1]; ++j) {
        store(entries.dtype,
              entries.data() + static_cast<std::size_t>(m * entries.strides[0] + j * entries.strides[1]) * size,
              coded(code, of_sin, m, j));
      }
    }
  }
}

using Readings = std::array<double, codes>;

TableEntry decoded(const Readings& seen) {
  TableEntry entry;
  if (seen[unit] == 0) return entry;
  entry.sign = seen[unit] < 0 ? -1 : 1;
  entry.factor = std::fabs(seen[unit]);
  const auto value = [&](int code) { return std::llround(seen[static_cast<std::size_t>(code)] / seen[unit]); };
  entry.from = value(table) == 1   ? TableEntry::From::cos
               : value(table) == 2 ? TableEntry::From::sin
                                   : TableEntry::From::other;
  if (entry.from == TableEntry::From::other) return entry;
  entry.column = 0;
  entry.row = 0;
  for (int digit = digits; digit-- > 0;) {
    entry.column = static_cast<int>(entry.column * digit_base + value(column + digit) - 1);
    entry.row = entry.row * digit_base + value(row + digit) - 1;
  }
  return entry;
}

}  // namespace

std::vector<TableUse> measure_table_use(Prober& prober, const Structure& structure,
                                        const std::vector<std::int64_t>& positions) {
  std::vector<Prober::Position> asked;
  for (const std::int64_t m : positions) asked.push_back(prober.on_all_axes(m));
  const std::size_t pairs = structure.pairs.size();
  const auto dim = static_cast<std::size_t>(prober.head_dim());
  // Row 0: every first feature of a pair; row 1: every second. Pairs do not mix, so they share these rows.
  std::vector<double> rows(2 * dim);
  for (const FeaturePair& pair : structure.pairs) {
    rows[static_cast<std::size_t>(pair.first)] = 1;
    rows[dim + static_cast<std::size_t>(pair.second)] = 1;
  }
  struct Block4 {
    Readings aa{}, ab{}, ba{}, bb{};
  };
  std::vector<Block4> seen(positions.size() * pairs);
  const auto restore = prober.prepare;
  for (int code = 0; code < codes; ++code) {
    prober.prepare = [&](Call& call) { write_codes(code, call); };
    prober.ask(asked, rows, [&](std::size_t at, std::size_t which, std::span<const double> y) {
      for (std::size_t p = 0; p < pairs; ++p) {
        const FeaturePair& pair = structure.pairs[p];
        Block4& block = seen[at * pairs + p];
        (which == 0 ? block.aa : block.ab)[static_cast<std::size_t>(code)] = y[static_cast<std::size_t>(pair.out_first)];
        (which == 0 ? block.ba : block.bb)[static_cast<std::size_t>(code)] = y[static_cast<std::size_t>(pair.out_second)];
      }
    });
  }
  prober.prepare = restore;
  std::vector<TableUse> uses;
  for (std::size_t at = 0; at < positions.size(); ++at) {
    for (std::size_t p = 0; p < pairs; ++p) {
      const Block4& b = seen[at * pairs + p];
      uses.push_back({structure.pairs[p], positions[at], decoded(b.aa), decoded(b.ab), decoded(b.ba), decoded(b.bb)});
    }
  }
  return uses;
}

}  // namespace rope
