#include "impls/angles.hpp"

#include <limits>
#include <utility>

#include "impls/contract.hpp"
#include "impls/element_rows.hpp"
#include "impls/turn.hpp"

namespace rope {

template <class T>
AngleRows<T>::AngleRows(const rope_call& call)
    : call_(call),
      pairs_(call.rotary_dim / 2),
      two_rows_(call.angle_source == ROPE_TABLES && call.table.width == call.rotary_dim) {
  for (int p = 0; p < pairs_; ++p) {
    const int axis = call.axis == nullptr ? 0 : call.axis[p];
    if (runs_.empty() || runs_.back().axis != axis) runs_.push_back({p, p, axis});
    runs_.back().end = p + 1;
  }
  if (call.angle_source != ROPE_TABLES) theta_ = theta_of(call);
  constexpr std::size_t line = cache_line / sizeof(T);
  row_size_ = (static_cast<std::size_t>(pairs_) + line - 1) / line * line;
  rows_.resize(row_size_ * (two_rows_ ? 4 : 2));
}

template <class T>
bool AngleRows<T>::shared_by_batches() const {
  return batches_share_positions(call_);
}

template <class T>
void AngleRows<T>::read_tables(const Run& run, std::int64_t position) {
  const rope_table& table = call_.table;
  const auto dtype = static_cast<DType>(table.dtype);
  const bool alternating = two_rows_ && call_.pairing == ROPE_INTERLEAVED;
  const std::int64_t stride = alternating ? 2 : 1;
  const int second = alternating ? 1 : pairs_;  // the column of the second feature of pair 0
  const auto read = [&](const void* source, std::int64_t column, T* target) {
    const std::int64_t element = position * table.row_stride + column + run.begin * stride;
    const auto* bytes = static_cast<const std::byte*>(source) + element * static_cast<std::int64_t>(size_of(dtype));
    load_row(dtype, bytes, stride, target + run.begin, run.end - run.begin);
  };
  read(table.cos, 0, row(0));
  read(table.sin, 0, row(1));
  if (!two_rows_) return;
  read(table.cos, second, row(2));
  read(table.sin, second, row(3));
}

template <class T>
void AngleRows<T>::compute(const Run& run, std::int64_t position) {
  const double sign = call_.direction == ROPE_BACKWARD ? -1 : 1;
  for (int p = run.begin; p < run.end; ++p) {
    const auto i = static_cast<std::size_t>(p);
    const CosSin turned = turn(static_cast<double>(position), theta_.high[i], theta_.low[i]);
    row(0)[p] = static_cast<T>(call_.attention_factor * turned.cos);
    row(1)[p] = static_cast<T>(sign * call_.attention_factor * turned.sin);
  }
}

template <class T>
Turns<T> AngleRows<T>::at(std::int64_t batch, std::int64_t seq) {
  const bool given = call_.angle_source == ROPE_TABLES;
  for (const Run& run : runs_) {
    const std::int64_t position = position_of(call_, run.axis, batch, seq);
    given ? read_tables(run, position) : compute(run, position);
  }
  if (given && call_.attention_factor != 1) {
    const T factor = static_cast<T>(call_.attention_factor);
    for (T& value : rows_) value *= factor;
  }
  for (T& value : rows_) value = value == value ? value : std::numeric_limits<T>::quiet_NaN();

  Turns<T> turns{row(0), row(1), row(two_rows_ ? 2 : 0), row(two_rows_ ? 3 : 1), pairs_};
  if (given && call_.direction == ROPE_BACKWARD) {  // the transpose: the features of a pair exchange their sines
    for (int sines = 1; sines < (two_rows_ ? 4 : 2); sines += 2) {
      for (int p = 0; p < pairs_; ++p) row(sines)[p] = -row(sines)[p];
    }
    std::swap(turns.sin_first, turns.sin_second);
  }
  return turns;
}

template class AngleRows<float>;
template class AngleRows<double>;

}  // namespace rope
