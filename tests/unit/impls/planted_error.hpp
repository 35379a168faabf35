// A built-in kernel with one small planted error, as a subject: a property must be able to see it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/run/kernel_subject.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope::test {

enum class PlantedError {
  none,
  angle,     // one pair turns 1e-3 rad too far at odd positions, as after one wrong row of a table
  norm,      // one pair comes out 1e-3 too long
  position,  // an odd position is taken for the even one below it, as rounding positions does
};
inline constexpr double planted_size = 1e-3;

inline std::string name(PlantedError error) {
  switch (error) {
    case PlantedError::angle: return "1e-3 rad in one pair";
    case PlantedError::norm: return "1e-3 of one pair's norm";
    case PlantedError::position: return "one unit of position";
    case PlantedError::none: break;
  }
  return "no error";
}

// If the angle were wrong at every position, q and k would move alike: no score would change. Hence the odd positions.
class WithPlantedError : public Subject {
 public:
  WithPlantedError(const rope_kernel& kernel, PlantedError error)
      : kernel_(kernel), error_(error), name_(std::string(kernel.name) + " with " + test::name(error)) {}

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return kernel_.claims(); }

  Reply apply(Call& call) override {
    if (error_ == PlantedError::position) return apply_at_even_positions(call);
    const Reply reply = kernel_.apply(call);
    if (error_ == PlantedError::none || reply.status != ROPE_OK) return reply;
    spoil(call, call.in_place ? call.q : *call.q_out);
    if (call.k) spoil(call, call.in_place ? *call.k : *call.k_out);
    return reply;
  }

 private:
  Reply apply_at_even_positions(Call& call) {
    Tensor even = Tensor::contiguous(DType::i64, {call.axes, call.q.shape[0], call.q.shape[1]});
    for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
      for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
        const std::vector<std::int64_t> position = token_position(call, b, s);
        for (std::int64_t axis = 0; axis < call.axes; ++axis) {
          const std::int64_t value = position[static_cast<std::size_t>(axis)] & ~std::int64_t{1};
          const std::int64_t at = axis * even.strides[0] + b * even.strides[1] + s * even.strides[2];
          std::memcpy(even.data() + at * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
        }
      }
    }
    const std::optional<Tensor> given = std::exchange(call.positions, even);
    const std::int64_t offset = std::exchange(call.position_offset, 0);
    const Reply reply = kernel_.apply(call);
    call.positions = given;
    call.position_offset = offset;
    return reply;
  }

  // The middle pair of each row, rounded once more to the dtype of the output.
  void spoil(const Call& call, Tensor& y) const {
    const int half = call.rotary_dim / 2;
    const int pair = half / 2;
    const int first = call.pairing == Pairing::half_split ? pair : 2 * pair;
    const int second = call.pairing == Pairing::half_split ? pair + half : 2 * pair + 1;
    for_each_row(y, [&](const RowIndex& row, std::byte* data) {
      const double a = value_at(y, row, first);
      const double b = value_at(y, row, second);
      const auto put = [&](int feature, double value) {
        store(y.dtype, data + feature * y.strides[3] * static_cast<std::int64_t>(size_of(y.dtype)), value);
      };
      if (error_ == PlantedError::norm) {
        put(first, a * (1 + planted_size));
        put(second, b * (1 + planted_size));
      } else if (position_of(call, row, pair) % 2 != 0) {
        put(first, a * std::cos(planted_size) - b * std::sin(planted_size));
        put(second, b * std::cos(planted_size) + a * std::sin(planted_size));
      }
    });
  }

  static std::int64_t position_of(const Call& call, const RowIndex& row, int pair) {
    std::int32_t axis = 0;
    if (call.axis) {
      const std::int64_t at = pair * call.axis->strides[0] * static_cast<std::int64_t>(sizeof axis);
      std::memcpy(&axis, call.axis->data() + at, sizeof axis);
    }
    return token_position(call, row.batch, row.seq)[static_cast<std::size_t>(axis)];
  }

  KernelSubject kernel_;
  PlantedError error_;
  std::string name_;
};

}  // namespace rope::test
