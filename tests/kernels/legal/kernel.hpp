// The loop of every legal kernel: for each token it computes the factors of its pairs, then it rotates each head. The
// kernels differ in the two classes that the loop uses, one of angles.hpp and one of rotation.hpp, and in their
// claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/legal/claims.hpp"
#include "tests/kernels/legal/element.hpp"
#include "tests/kernels/legal/rotation.hpp"

namespace rope::legal {

template <class W, class Angles, class Arithmetic>
class Kernel {
 public:
  explicit Kernel(const rope_call& call)
      : call_(call), angles_(call), pairs_(static_cast<std::size_t>(call.rotary_dim / 2)) {
    for (std::vector<W>* values : {&a_, &b_, &ya_, &yb_}) values->resize(pairs_);
    for (auto* factors : {&row_.cos_first, &row_.sin_first, &row_.cos_second, &row_.sin_second}) {
      factors->resize(pairs_);
    }
  }

  void run() {
    const std::int64_t tokens = call_.q.shape[0] * call_.q.shape[1];
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::int64_t batch = token / call_.q.shape[1];
      const std::int64_t seq = token % call_.q.shape[1];
      make_row(batch, seq);
      in_block_ = token < tokens / 4 * 4;
      for (std::int64_t h = 0; h < call_.q.shape[2]; ++h) rotate(call_.q, call_.q_out, batch, seq, h);
      if (call_.k.data == nullptr) continue;
      for (std::int64_t h = 0; h < call_.k.shape[2]; ++h) rotate(call_.k, call_.k_out, batch, seq, h);
    }
  }

 private:
  int first(std::size_t pair) const {
    const auto p = static_cast<int>(pair);
    return call_.pairing == ROPE_HALF_SPLIT ? p : 2 * p;
  }
  int second(std::size_t pair) const {
    const auto p = static_cast<int>(pair);
    return call_.pairing == ROPE_HALF_SPLIT ? p + call_.rotary_dim / 2 : 2 * p + 1;
  }

  void make_row(std::int64_t batch, std::int64_t seq) {
    for (std::size_t p = 0; p < pairs_; ++p) {
      const std::int64_t position = position_of(call_, call_.axis == nullptr ? 0 : call_.axis[p], batch, seq);
      if (call_.angle_source == ROPE_TABLES) {
        read_tables(p, position);
      } else {
        const auto turn = angles_.at(position, p);
        row_.cos_first[p] = row_.cos_second[p] = turn.cos;
        row_.sin_first[p] = row_.sin_second[p] = turn.sin;
      }
      if (call_.direction == ROPE_FORWARD) continue;
      row_.sin_first[p] = -std::exchange(row_.sin_second[p], -row_.sin_first[p]);
    }
    Arithmetic::prepare(row_, static_cast<W>(call_.attention_factor), call_.q.dtype);
  }

  void read_tables(std::size_t p, std::int64_t position) {
    const rope_table& table = call_.table;
    const bool full = table.width == call_.rotary_dim;
    const auto value = [&](const void* data, int feature) {
      const std::int64_t element = position * table.row_stride + (full ? feature : static_cast<int>(p));
      return load<W>(table.dtype, static_cast<const std::byte*>(data) + element * size_of(table.dtype));
    };
    row_.cos_first[p] = value(table.cos, first(p));
    row_.sin_first[p] = value(table.sin, first(p));
    row_.cos_second[p] = value(table.cos, second(p));
    row_.sin_second[p] = value(table.sin, second(p));
  }

  void rotate(const rope_tensor& in, const rope_tensor& out, std::int64_t batch, std::int64_t seq, std::int64_t head) {
    const auto address = [&](const rope_tensor& t, int feature) {
      const std::int64_t element =
          batch * t.strides[0] + seq * t.strides[1] + head * t.strides[2] + feature * t.strides[3];
      return static_cast<std::byte*>(t.data) + element * size_of(t.dtype);
    };
    for (std::size_t p = 0; p < pairs_; ++p) {
      a_[p] = load<W>(in.dtype, address(in, first(p)));
      b_[p] = load<W>(in.dtype, address(in, second(p)));
    }
    Arithmetic::rotate(Head<W>{pairs_, a_.data(), b_.data(), ya_.data(), yb_.data(), row_,
                               static_cast<W>(call_.attention_factor), in.dtype, out.dtype, in_block_});
    for (std::size_t p = 0; p < pairs_; ++p) {
      store(out.dtype, address(out, first(p)), ya_[p]);
      store(out.dtype, address(out, second(p)), yb_[p]);
    }
    for (int j = call_.rotary_dim; j < in.shape[3]; ++j) {
      if (in.dtype == out.dtype) {
        std::memmove(address(out, j), address(in, j), static_cast<std::size_t>(size_of(in.dtype)));
      } else {
        store(out.dtype, address(out, j), load<W>(in.dtype, address(in, j)));
      }
    }
  }

  const rope_call& call_;
  Angles angles_;
  std::size_t pairs_;
  Row<W> row_;
  std::vector<W> a_, b_, ya_, yb_;
  bool in_block_ = false;
};

// A call outside the claims is refused, so that the suite cannot make one unnoticed.
template <template <class> class Angles, class Arithmetic, auto check_call = check>
std::int32_t apply(const rope_call* call, const rope_capabilities& claims) {
  try {
    const rope_status status = check_call(call, claims);
    if (status != ROPE_OK) return status;
    if (call->q.dtype == ROPE_F64) {
      Kernel<double, Angles<double>, Arithmetic>(*call).run();
    } else {
      Kernel<float, Angles<float>, Arithmetic>(*call).run();
    }
    return ROPE_OK;
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
}

}  // namespace rope::legal
