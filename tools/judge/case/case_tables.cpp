#include "tools/judge/case/case_tables.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tools/judge/call/sparse_memory.hpp"
#include "tools/judge/case/build_call.hpp"

namespace rope {
namespace {

// A table with the rows of another one, and room for more. What lies between rows holds what no row holds.
Tensor longer_table(const Tensor& before, std::int64_t rows, TensorMemory* memory) {
  Tensor table = before;
  table.shape[0] = rows;
  const std::int64_t stride = table.strides[0];
  const std::size_t kept = before.bytes.size(), size = static_cast<std::size_t>(rows * stride) * size_of(table.dtype);
  std::byte* bytes = table.renew(size, memory);
  if (kept > 0) std::memcpy(bytes, before.bytes.data(), kept);
  if (stride > table.shape[1]) std::fill(bytes + kept, bytes + size, input_canary);
  return table;
}

// Which numbers of the pairs make a row of a table.
class TableRow {
 public:
  TableRow(const Case& c, std::int64_t stride)
      : dtype_(c.given),
        stride_(static_cast<std::size_t>(stride)),
        pairs_(static_cast<std::size_t>(c.spec.rotary_dim / 2)),
        full_(c.full_tables),
        split_(c.spec.pairing == Pairing::half_split),
        to_second_(c.unequal_halves ? pairs_ : 0) {}

  std::size_t pairs() const { return pairs_; }

  // `numbers`: of the pairs at position m, and behind them those at the next position.
  template <class T>
  void write(Tensor& table, std::int64_t m, const T* numbers) {
    std::byte* const row = table.bytes.data() + static_cast<std::size_t>(m) * stride_ * size_of(dtype_);
    if (!full_ || split_) put(row, numbers, pairs_);
    if (full_ && split_) put(row + pairs_ * size_of(dtype_), numbers + to_second_, pairs_);
    if (!full_ || split_) return;
    std::vector<T>& neighbours = std::get<std::vector<T>>(neighbours_);
    neighbours.resize(2 * pairs_);
    for (std::size_t p = 0; p < pairs_; ++p) {
      neighbours[2 * p] = numbers[p];
      neighbours[2 * p + 1] = numbers[p + to_second_];
    }
    put(row, neighbours.data(), neighbours.size());
  }

 private:
  template <class T>
  void put(std::byte* to, const T* numbers, std::size_t count) {
    if constexpr (std::is_same_v<T, float>) {
      std::memcpy(to, numbers, count * sizeof(float));
    } else {
      store(dtype_, to, 1, count, numbers);
    }
  }

  DType dtype_;
  std::size_t stride_, pairs_;
  bool full_, split_;
  std::size_t to_second_;  // with unequal halves, the second feature of a pair gets the next position's angle
  std::tuple<std::vector<float>, std::vector<double>> neighbours_;
};

// In blocks that stay in the cache, with one row more for the next position's angle.
template <class T>
void fill_rows(Oracle& oracle, TableRow& row, std::int64_t first, std::int64_t end, Oracles::Tables& tables) {
  constexpr std::int64_t block = 64;
  const std::size_t pairs = row.pairs();
  std::vector<T> cosine((block + 1) * pairs), sine(cosine.size());
  for (std::int64_t begin = first; begin < end; begin += block) {
    const std::int64_t count = std::min(block, end - begin);
    const std::size_t numbers = static_cast<std::size_t>(count + 1) * pairs;
    oracle.fill(begin, count + 1, std::span(cosine).first(numbers), std::span(sine).first(numbers));
    for (std::int64_t i = 0; i < count; ++i) {
      row.write(tables.first, begin + i, cosine.data() + static_cast<std::size_t>(i) * pairs);
      row.write(tables.second, begin + i, sine.data() + static_cast<std::size_t>(i) * pairs);
    }
  }
}

// `before`: its first rows, if there are any.
Oracles::Tables make_tables(const Case& c, bool padded_rows, const Oracles::Tables& before, std::int64_t rows,
                            Oracles& oracles, TensorMemory* memory) {
  const std::int64_t width = c.full_tables ? c.spec.rotary_dim : c.spec.rotary_dim / 2;
  const std::int64_t stride = padded_rows ? 2 * width + 3 : width;
  Tensor empty;
  empty.dtype = c.given;
  empty.shape = {0, width};
  empty.strides = {stride, 1};
  const std::int64_t made = before.first.shape.empty() ? 0 : before.first.shape[0];
  Oracles::Tables tables{longer_table(made == 0 ? empty : before.first, rows, memory),
                         longer_table(made == 0 ? empty : before.second, rows, memory)};
  TableRow row(c, stride);
  Oracle& oracle = oracles.of(c.spec, sequence_length(c));
  if (c.given == DType::f32) {  // at a third of the cost
    fill_rows<float>(oracle, row, made, rows, tables);
  } else {
    fill_rows<double>(oracle, row, made, rows, tables);
  }
  return tables;
}

// Without memory for the rows before the smallest position.
Oracles::Tables late_tables(const Case& c, std::int64_t rows, Oracles& oracles) {
  const std::int64_t width = c.full_tables ? c.spec.rotary_dim : c.spec.rotary_dim / 2;
  Tensor table = Tensor::without_bytes(c.given, {rows, width});
  table.absent_rows = smallest_position(c);
  const auto row = static_cast<std::size_t>(table.strides[0]) * size_of(c.given);
  const auto bytes = [&] {
    return sparse_bytes(static_cast<std::size_t>(rows) * row, static_cast<std::size_t>(table.absent_rows) * row);
  };
  Oracles::Tables tables{table, table};
  tables.first.bytes = bytes();
  tables.second.bytes = bytes();
  TableRow written(c, table.strides[0]);
  fill_rows<double>(oracles.of(c.spec, sequence_length(c)), written, table.absent_rows, rows, tables);
  return tables;
}

Tensor first_rows(const Tensor& table, std::int64_t rows) {
  Tensor result = table;
  result.shape[0] = rows;
  result.bytes = table.bytes.first(static_cast<std::size_t>(rows * table.strides[0]) * size_of(table.dtype));
  return result;
}

}  // namespace

Oracles::Tables case_tables(const Case& c, bool padded_rows, std::int64_t rows, Oracles& oracles,
                            TensorMemory* memory) {
  if (c.layout == Layout::late_rows) return late_tables(c, rows, oracles);
  const Oracles::TableKind kind{c.given, c.full_tables, c.unequal_halves, padded_rows};
  const Oracles::Tables& tables =
      oracles.tables(c.spec, sequence_length(c), kind, rows, [&](const Oracles::Tables& before, std::int64_t wanted) {
        return make_tables(c, padded_rows, before, wanted, oracles, memory);
      });
  return {first_rows(tables.first, rows), first_rows(tables.second, rows)};
}

}  // namespace rope
