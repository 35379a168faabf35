// How a kernel computes cos and sin of position times theta, one class for each way. W is the type that the kernel
// works in, float or double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernels/legal/element.hpp"
#include "tests/kernels/legal/theta.hpp"

namespace rope::legal {

template <class W>
struct CosSin {
  W cos;
  W sin;
};

// Everything in W. A float cannot hold all positions above 2^24, so a kernel that does this claims none.
template <class W, class By>
class AnglesIn {
 public:
  explicit AnglesIn(const rope_call& call) {
    if (call.angle_source == ROPE_COMPUTED) theta_ = Theta<W, By>(call).all();
    if (call.angle_source != ROPE_FREQUENCIES) return;
    const std::int64_t size = call.theta_dtype == ROPE_F64 ? 8 : 4;
    for (int p = 0; p < call.rotary_dim / 2; ++p) {
      theta_.push_back(load<W>(call.theta_dtype, static_cast<const std::byte*>(call.theta) + p * size));
    }
  }

  CosSin<W> at(std::int64_t position, std::size_t pair) const {
    const W phi = static_cast<W>(position) * theta_[pair];
    return {std::cos(phi), std::sin(phi)};
  }

 private:
  std::vector<W> theta_;
};

template <class W>
using ByPower = AnglesIn<W, Power>;
template <class W>
using ByReciprocal = AnglesIn<W, Reciprocal>;
template <class W>
using ByExponential = AnglesIn<W, Exponential>;
template <class W>
using ByRecurrence = AnglesIn<W, Recurrence>;

// The given theta as a period, by which the position is divided.
template <class W>
class ByPeriod {
 public:
  explicit ByPeriod(const rope_call& call) {
    const std::int64_t size = call.theta_dtype == ROPE_F64 ? 8 : 4;
    for (int p = 0; p < call.rotary_dim / 2; ++p) {
      period_.push_back(W(1) / load<W>(call.theta_dtype, static_cast<const std::byte*>(call.theta) + p * size));
    }
  }

  CosSin<W> at(std::int64_t position, std::size_t pair) const {
    const W phi = static_cast<W>(position) / period_[pair];
    return {std::cos(phi), std::sin(phi)};
  }

 private:
  std::vector<W> period_;
};

// In double, cos and sin are as far off as vectorised ones may be: 4 ulp, in a direction that depends on the argument.
// A value is moved by ulps of its own size, so small values stay small, and cos(0) need not be 1. In float as
// `power`.
template <class W>
class LooseFunctions {
 public:
  explicit LooseFunctions(const rope_call& call) : angles_(call) {}

  CosSin<W> at(std::int64_t position, std::size_t pair) const {
    const CosSin<W> turn = angles_.at(position, pair);
    std::uint64_t bits = (static_cast<std::uint64_t>(position) * 0x9E3779B97F4A7C15u) ^ (pair * 0xD1B54A32D192ED03u);
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9u;
    return {moved(turn.cos, (bits >> 60 & 1u) != 0), moved(turn.sin, (bits >> 61 & 1u) != 0)};
  }

 private:
  // glibc is within 0.55 ulp, so three ulp more.
  static W moved(W value, bool up) {
    if (sizeof(W) == 4 || value == W(0)) return value;
    for (int i = 0; i < 3; ++i) value = std::nextafter(value, up ? W(2) : W(-2));
    return std::min(std::max(value, W(-1)), W(1));
  }

  ByPower<W> angles_;
};

// In double for every W, rounded once.
template <class W>
class Exact {
 public:
  explicit Exact(const rope_call& call) : angles_(call) {}

  CosSin<W> at(std::int64_t position, std::size_t pair) const {
    const CosSin<double> turn = angles_.at(position, pair);
    return {static_cast<W>(turn.cos), static_cast<W>(turn.sin)};
  }

 private:
  AnglesIn<double, Power> angles_;
};

}  // namespace rope::legal
