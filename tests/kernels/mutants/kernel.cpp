#include "tests/kernels/mutants/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/contract.hpp"
#include "reference/dtype.hpp"
#include "reference/scaling/kept_frequencies.hpp"

namespace rope::mutants {
namespace {

double table_value(const rope_table& table, const void* values, std::int64_t row, int column) {
  const auto dtype = static_cast<DType>(table.dtype);
  // A mutant's wrong position must stay inside the table: the mutant is to show another bug.
  const std::int64_t element = std::clamp<std::int64_t>(row, 0, table.rows - 1) * table.row_stride + column;
  return rope::load(dtype, static_cast<const std::byte*>(values) + element * static_cast<std::int64_t>(size_of(dtype)));
}

}  // namespace

rope_capabilities claims() { return everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED)); }

std::int32_t Kernel::apply(const rope_call* call) const noexcept {
  try {
    const rope_status status = check(call);
    if (status == ROPE_OK) run(understood(*call));
    return status;
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
}

void Kernel::run(const rope_call& call) const {
  const std::vector<double> frequencies = call.angle_source == ROPE_TABLES ? std::vector<double>() : theta(call);
  for (const bool key : {false, true}) {
    if (key && call.k.data == nullptr) continue;
    Place at{call, key, 0, 0, 0};
    for (at.batch = 0; at.batch < at.in().shape[0]; ++at.batch) {
      for (at.seq = 0; at.seq < at.in().shape[1]; ++at.seq) {
        at.head = 0;
        Row factors = row(at, frequencies);
        direct(call, factors);
        for (; at.head < at.in().shape[2]; ++at.head) one_head(at, factors);
      }
    }
  }
}

void Kernel::one_head(const Place& at, const Row& row) const {
  for (int p = 0; p < at.call.rotary_dim / 2; ++p) rotate(at, pair(at.call, p), row);
  for (int feature = at.call.rotary_dim; feature < at.in().shape[3]; ++feature) pass(at, feature);
}

rope_status Kernel::check(const rope_call* call) const { return check_call(call, claims()); }

std::vector<double> Kernel::theta(const rope_call& call) const {
  if (call.angle_source == ROPE_FREQUENCIES) {
    std::vector<double> given;
    for (int p = 0; p < call.rotary_dim / 2; ++p) {
      given.push_back(call.theta_dtype == ROPE_F32 ? static_cast<const float*>(call.theta)[p]
                                                   : static_cast<const double*>(call.theta)[p]);
    }
    return given;
  }
  const RopeSpec spec = spec_of(call);
  // With 64 bits of precision, so that theta is exact when it is rounded to double.
  const std::vector<long double>& exact =
      kept_frequencies(spec.scaling, {spec.head_dim, spec.rotary_dim, spec.base, call.sequence_length});
  return {exact.begin(), exact.end()};
}

std::int64_t Kernel::position(const Place& at, int axis) const {
  return position_of(at.call, axis, at.batch, at.seq);
}

Pair Kernel::pair(const rope_call& call, int index) const {
  if (call.pairing == ROPE_INTERLEAVED) return {2 * index, 2 * index + 1};
  return {index, index + call.rotary_dim / 2};
}

int Kernel::pair_of(const rope_call& call, int feature) const {
  return call.pairing == ROPE_INTERLEAVED ? feature / 2 : feature % (call.rotary_dim / 2);
}

double Kernel::angle(const rope_call&, double position, double theta) const { return position * theta; }

Turn Kernel::turn(const rope_call&, double angle) const { return {std::cos(angle), std::sin(angle)}; }

Row Kernel::row(const Place& at, const std::vector<double>& theta) const {
  Row result(at.call.rotary_dim);
  if (at.call.angle_source == ROPE_TABLES) {
    read_tables(at, result);
  } else {
    compute(at, theta, result);
  }
  for (int feature = 0; feature < result.features(); ++feature) {
    result.cos(feature) *= at.call.attention_factor;
    result.sin(feature) *= at.call.attention_factor;
  }
  return result;
}

void Kernel::read_tables(const Place& at, Row& row) const {
  const rope_table& table = at.call.table;
  const bool full = table.width == at.call.rotary_dim;
  for (int feature = 0; feature < row.features(); ++feature) {
    const int p = pair_of(at.call, feature);
    const std::int64_t m = position(at, axis(at.call, p));
    row.cos(feature) = table_value(table, table.cos, m, full ? feature : p);
    row.sin(feature) = table_value(table, table.sin, m, full ? feature : p);
  }
}

void Kernel::compute(const Place& at, const std::vector<double>& theta, Row& row) const {
  std::vector<Turn> turns;  // of each pair
  for (int p = 0; p < at.call.rotary_dim / 2; ++p) {
    const auto m = static_cast<double>(position(at, axis(at.call, p)));
    turns.push_back(turn(at.call, angle(at.call, m, theta[static_cast<std::size_t>(p)])));
  }
  for (int feature = 0; feature < row.features(); ++feature) {
    const auto [cosine, sine] = turns[static_cast<std::size_t>(pair_of(at.call, feature))];
    row.cos(feature) = cosine;
    row.sin(feature) = sine;
  }
}

void Kernel::direct(const rope_call& call, Row& row) const {
  if (call.direction == ROPE_FORWARD) return;
  for (int p = 0; p < call.rotary_dim / 2; ++p) {
    const auto [first, second] = pair(call, p);
    std::swap(row.sin(first), row.sin(second));
    row.sin(first) = -row.sin(first);
    row.sin(second) = -row.sin(second);
  }
}

int Kernel::place_in_head(const Place& at, int feature) {
  const auto dim = static_cast<int>(at.in().shape[3]);
  const int shifted = feature + at.call.rotary_offset;
  return feature < dim && shifted >= dim ? shifted - dim : shifted;
}

std::int64_t Kernel::element(const Place& at, const rope_tensor& tensor, int feature) const {
  return at.batch * tensor.strides[0] + at.seq * tensor.strides[1] + at.head * tensor.strides[2] +
         place_in_head(at, feature) * tensor.strides[3];
}

std::byte* Kernel::address(const rope_tensor& tensor, std::int64_t element) {
  return static_cast<std::byte*>(tensor.data) +
         element * static_cast<std::int64_t>(size_of(static_cast<DType>(tensor.dtype)));
}

double Kernel::load(const Place& at, int feature) const {
  return rope::load(static_cast<DType>(at.in().dtype), address(at.in(), element(at, at.in(), feature)));
}

Values Kernel::turned(Values x, Pair pair, const Row& row) {
  return {x.first * row.cos(pair.first) - x.second * row.sin(pair.first),
          x.second * row.cos(pair.second) + x.first * row.sin(pair.second)};
}

void Kernel::rotate(const Place& at, Pair pair, const Row& row) const {
  const Values y = turned(values(at, pair), pair, row);
  store(at, pair.first, y.first);
  store(at, pair.second, y.second);
}

void Kernel::store(const Place& at, int feature, double value) const {
  rope::store(static_cast<DType>(at.out().dtype), address(at.out(), element(at, at.out(), feature)), value);
}

void Kernel::pass(const Place& at, int feature) const {
  if (at.in().dtype != at.out().dtype) return Kernel::store(at, feature, Kernel::load(at, feature));
  std::memmove(address(at.out(), element(at, at.out(), feature)), address(at.in(), element(at, at.in(), feature)),
               size_of(static_cast<DType>(at.in().dtype)));
}

}  // namespace rope::mutants
