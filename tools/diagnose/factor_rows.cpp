#include "tools/diagnose/factor_rows.hpp"

#include <algorithm>
#include <cmath>

#include "reference/scaling/kept_frequencies.hpp"

namespace rope::diagnosis {
namespace {

double table_value(const Tensor& table, DType dtype, std::int64_t element, bool& outside) {
  const std::int64_t at = element * static_cast<std::int64_t>(size_of(dtype));
  if (at < 0 || at + static_cast<std::int64_t>(size_of(dtype)) > static_cast<std::int64_t>(table.bytes.size())) {
    outside = true;
    return 0;
  }
  return rope::load(dtype, table.bytes.data() + at);
}

long double on(const std::vector<long double>& positions, int axis) {
  return positions[static_cast<std::size_t>(std::clamp<int>(axis, 0, static_cast<int>(positions.size()) - 1))];
}

void note(const RowContext& spot, OutsideAccess access) {
  if (spot.outside != nullptr && !*spot.outside) *spot.outside = std::move(access);
}

}  // namespace

Row FactorRows::made(const RowContext& spot) {
  const auto features = static_cast<std::size_t>(params_.rotary_dim);
  Row row{std::vector<double>(features), std::vector<double>(features), std::vector<double>(features), false};
  if (params_.source == AngleSource::tables) {
    read_tables(spot, row);
  } else {
    compute(spot, row);
  }
  return row;
}

std::vector<long double> FactorRows::theta(const RowContext& spot) const {
  std::vector<long double> theta;
  if (params_.source == AngleSource::frequencies) {
    for (int p = 0; p < params_.rotary_dim / 2; ++p) {
      bool outside = false;
      theta.push_back(table_value(*call_.theta, call_.theta->dtype, p, outside));
    }
  } else {
    theta = kept_frequencies(params_.scaling,
                             {params_.head_dim, params_.rotary_dim, params_.base, params_.sequence_length});
  }
  if (change_.theta) change_.theta(spot, theta);
  return theta;
}

std::vector<long double> FactorRows::positions_of(const RowContext& spot) const {
  const std::vector<std::int64_t>& given = positions_.of(spot.batch, spot.seq);
  std::vector<long double> all(given.begin(), given.end());
  if (!change_.position) return all;
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    all[axis] = change_.position(spot, static_cast<int>(axis), all[axis]);
  }
  return all;
}

int FactorRows::pair_of(int feature) const {
  const int half = std::max(params_.rotary_dim / 2, 1);
  const int p = params_.pairing == Pairing::interleaved ? feature / 2 : feature % half;
  return change_.pair_of ? change_.pair_of(params_, feature, p) : p;
}

int FactorRows::axis_of(int pair) const {
  const auto p = static_cast<std::size_t>(pair);
  return p < params_.axis.size() ? params_.axis[p] : 0;
}

void FactorRows::compute(const RowContext& spot, Row& row) {
  if (theta_.empty()) theta_ = theta(spot);
  const auto count = static_cast<std::size_t>(params_.rotary_dim / 2);
  struct Turn {
    double cos, sin, angle;
  };
  const std::vector<long double> given = positions_of(spot);
  const bool exact = call_.q.dtype == DType::f64;
  const auto turn_of = [&](std::size_t p, int axis) {
    long double m = on(given, axis);
    if (std::isnan(m)) {
      row.any = true;
      m = 0;
    }
    const long double t = p < theta_.size() ? theta_[p] : 0;
    const long double phi = change_.angle ? change_.angle(spot, m, t, m * t) : m * t;
    Turn turn{0, 0, static_cast<double>(phi)};
    turn.cos = exact ? static_cast<double>(std::cos(phi)) : std::cos(turn.angle);
    turn.sin = exact ? static_cast<double>(std::sin(phi)) : std::sin(turn.angle);
    if (change_.turn) change_.turn(params_, turn.cos, turn.sin);
    return turn;
  };
  std::vector<Turn> of_pair;
  for (std::size_t p = 0; p < count; ++p) of_pair.push_back(turn_of(p, axis_of(static_cast<int>(p))));
  for (int f = 0; f < params_.rotary_dim; ++f) {
    const auto p = static_cast<std::size_t>(std::clamp<int>(pair_of(f), 0, static_cast<int>(count) - 1));
    const int axis = axis_of(static_cast<int>(p));
    const int own = change_.axis_of ? change_.axis_of(params_, f, axis) : axis;
    const Turn turn = own == axis ? of_pair[p] : turn_of(p, own);
    const auto i = static_cast<std::size_t>(f);
    row.cos[i] = turn.cos;
    row.sin[i] = turn.sin;
    row.phi[i] = turn.angle;
  }
}

void FactorRows::read_tables(const RowContext& spot, Row& row) const {
  const Tensor& cosine = *call_.cos;
  const bool full = cosine.shape[1] == call_.rotary_dim;
  const DType dtype = change_.table_dtype ? change_.table_dtype(call_, cosine.dtype) : cosine.dtype;
  const std::vector<long double> all = positions_of(spot);
  for (int f = 0; f < params_.rotary_dim; ++f) {
    const int p = pair_of(f);
    const int axis = change_.axis_of ? change_.axis_of(params_, f, axis_of(p)) : axis_of(p);
    const long double given = on(all, axis);
    if (std::isnan(given)) {
      row.any = true;
      continue;
    }
    // A position that was read as another type may be any number. Beyond 2^40 no table has a row, and up to it the
    // products of rows and strides do not overflow.
    constexpr long double far_beyond = 0x1p40L;
    const auto m = static_cast<std::int64_t>(std::llround(std::clamp(given, -far_beyond, far_beyond)));
    const auto value = [&](const Tensor& table, bool sine) {
      std::int64_t at = m, column = full ? f : p;
      if (change_.table) change_.table(call_, sine, at, column);
      bool outside = false;
      const double v = table_value(table, dtype, at * table.strides[0] + column, outside);
      if (outside) {
        row.any = true;
        note(spot, {sine ? "sin" : "cos", false, at * table.strides[0] + column});
      }
      return v;
    };
    row.cos[static_cast<std::size_t>(f)] = value(cosine, false);
    row.sin[static_cast<std::size_t>(f)] = value(*call_.sin, true);
  }
}

}  // namespace rope::diagnosis
