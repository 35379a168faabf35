#include "impls/each_token.hpp"

#include <algorithm>
#include <exception>
#include <type_traits>
#include <vector>

#include "impls/element_rows.hpp"
#include "impls/line_vector.hpp"

namespace rope {
namespace {

constexpr std::int64_t block_elements = 512;  // handed to the rotation loop at a time, prefetched one block ahead

DType dtype_of(const rope_tensor& tensor) { return static_cast<DType>(tensor.dtype); }

std::byte* head_of(const rope_tensor& tensor, std::int64_t batch, std::int64_t seq, std::int64_t head) {
  const std::int64_t element = batch * tensor.strides[0] + seq * tensor.strides[1] + head * tensor.strides[2];
  return static_cast<std::byte*>(tensor.data) + element * static_cast<std::int64_t>(size_of(dtype_of(tensor)));
}

// Asks for the lines that are written next. Stores wait for their lines to be read from memory; asked for in time, they
// make the rotation as fast as memcpy, also where the output is not aligned to a line (there 4.1 ms became 2.4).
// A prefetch never faults, so it may run past the end of the tensor.
void prefetch_for_writing(const std::byte* first, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(first + i, 1);
}

// The machine reads ahead by itself while it is reading, but not while a block is being converted and turned: f16 went
// from 2.06 to 1.79 ms. Two blocks ahead; one is too late, four too many.
void prefetch_for_reading(const std::byte* first, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(first + i);
}

template <class T>
using Rotate = void (*)(const Heads<T>&, const Turns<T>&);
using RotateBfloat16 = void (*)(const Heads<Bfloat16>&, const Turns<float>&);

// One tensor of a call with its result: q with q_out, or k with k_out.
template <class T>
class Turner {
 public:
  Turner(const rope_tensor& in, const rope_tensor& out, int rotary_dim, Rotate<T> rotate, RotateBfloat16 rotate_bf16)
      : in_(in), out_(out), rotary_dim_(rotary_dim), rotate_(rotate), rotate_bf16_(rotate_bf16) {
    constexpr int working = std::is_same_v<T, float> ? ROPE_F32 : ROPE_F64;
    size_ = static_cast<std::int64_t>(size_of(dtype_of(out)));
    const bool contiguous = in.strides[3] == 1 && out.strides[3] == 1;
    direct_ = contiguous && in.dtype == working && out.dtype == working;
    direct_bf16_ = contiguous && in.dtype == ROPE_BF16 && out.dtype == ROPE_BF16 && rotate_bf16 != nullptr;
    block_ = std::clamp<std::int64_t>(block_elements / rotary_dim, 1, std::max<std::int64_t>(in.shape[2], 1));
    if (!direct_) rows_.resize(static_cast<std::size_t>(block_ * rotary_dim));
  }

  void turn(std::int64_t batch, std::int64_t seq, const Turns<T>& turns) {
    const std::int64_t heads = in_.shape[2];
    for (std::int64_t first = 0; first < heads; first += block_) {
      const std::int64_t n = std::min(block_, heads - first);
      if (!direct_ && !direct_bf16_ && heads_touch(in_)) {
        prefetch_for_reading(head_of(in_, batch, seq, first + 2 * n), block_ * rotary_dim_ * size_);
      }
      if (heads_touch(out_)) prefetch_for_writing(head_of(out_, batch, seq, first + n), block_ * rotary_dim_ * size_);
      if (direct_) {
        rotate_(heads_at<T>(batch, seq, first, n), turns);
      } else if (direct_bf16_) {
        if constexpr (std::is_same_v<T, float>) rotate_bf16_(heads_at<Bfloat16>(batch, seq, first, n), turns);
      } else {
        turn_block(batch, seq, first, n, turns);
      }
    }
    if (rotary_dim_ == in_.shape[3]) return;
    for (std::int64_t h = 0; h < heads; ++h) pass_through(head_of(in_, batch, seq, h), head_of(out_, batch, seq, h));
  }

 private:
  template <class E>
  Heads<E> heads_at(std::int64_t batch, std::int64_t seq, std::int64_t first, std::int64_t n) const {
    return {reinterpret_cast<const E*>(head_of(in_, batch, seq, first)), in_.strides[2],
            reinterpret_cast<E*>(head_of(out_, batch, seq, first)), out_.strides[2], n};
  }

  bool heads_touch(const rope_tensor& tensor) const {
    return rotary_dim_ == tensor.shape[3] && tensor.strides[2] == tensor.shape[3] && tensor.strides[3] == 1;
  }

  void turn_block(std::int64_t batch, std::int64_t seq, std::int64_t first, std::int64_t n, const Turns<T>& turns) {
    T* rows = rows_.data();
    if (heads_touch(in_)) {
      load_row(dtype_of(in_), head_of(in_, batch, seq, first), 1, rows, n * rotary_dim_);
    } else {
      for (std::int64_t h = 0; h < n; ++h) {
        load_row(dtype_of(in_), head_of(in_, batch, seq, first + h), in_.strides[3], rows + h * rotary_dim_,
                 rotary_dim_);
      }
    }
    rotate_({rows, rotary_dim_, rows, rotary_dim_, n}, turns);
    if (heads_touch(out_)) {
      store_row(dtype_of(out_), rows, head_of(out_, batch, seq, first), 1, n * rotary_dim_);
    } else {
      for (std::int64_t h = 0; h < n; ++h) {
        store_row(dtype_of(out_), rows + h * rotary_dim_, head_of(out_, batch, seq, first + h), out_.strides[3],
                  rotary_dim_);
      }
    }
  }

  // By way of the working type only where the dtype changes: a conversion would quiet a signalling NaN.
  void pass_through(const std::byte* in, std::byte* out) {
    const auto size = static_cast<std::int64_t>(size_of(dtype_of(in_)));
    const auto out_size = static_cast<std::int64_t>(size_of(dtype_of(out_)));
    in += rotary_dim_ * in_.strides[3] * size;
    out += rotary_dim_ * out_.strides[3] * out_size;
    const std::int64_t rest = in_.shape[3] - rotary_dim_;
    if (in == out) return;
    if (in_.dtype == out_.dtype) {
      copy_row(static_cast<std::size_t>(size), in, in_.strides[3], out, out_.strides[3], rest);
      return;
    }
    passing_.resize(static_cast<std::size_t>(rest));
    load_row(dtype_of(in_), in, in_.strides[3], passing_.data(), rest);
    store_row(dtype_of(out_), passing_.data(), out, out_.strides[3], rest);
  }

  const rope_tensor& in_;
  const rope_tensor& out_;
  int rotary_dim_;
  Rotate<T> rotate_;
  RotateBfloat16 rotate_bf16_;
  bool direct_;         // the rotation can read and write the tensors themselves, as T ..
  bool direct_bf16_;    // .. or as bfloat16
  std::int64_t block_;  // heads that are turned at a time
  std::int64_t size_;   // bytes of an output element
  LineVector<T> rows_;
  std::vector<T> passing_;
};

template <class T>
void rotate(const rope_call& call, Rotate<T> rotation, RotateBfloat16 bf16) {
  AngleRows<T> angles(call);
  std::vector<Turner<T>> turners;
  turners.emplace_back(call.q, call.q_out, call.rotary_dim, rotation, bf16);
  if (call.k.data != nullptr) turners.emplace_back(call.k, call.k_out, call.rotary_dim, rotation, bf16);
  for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
    Turns<T> turns{};
    for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
      if (b == 0 || !angles.shared_by_batches()) turns = angles.at(b, s);
      for (Turner<T>& turner : turners) turner.turn(b, s, turns);
    }
  }
}

// Double where the result is, and where f64 tables turn f32: rounding them to float first would cost what the error
// model allows for the arithmetic alone. For 16-bit results that rounding is far below the last one.
bool works_in_double(const rope_call& call) {
  const bool exact_tables = call.angle_source == ROPE_TABLES && call.table.dtype == ROPE_F64;
  return call.q_out.dtype == ROPE_F64 || (call.q_out.dtype == ROPE_F32 && exact_tables);
}

}  // namespace

rope_status rotate_each_token(const rope_call& call, const Rotation& rotation) noexcept {
  try {
    if (works_in_double(call)) {
      rotate<double>(call, rotation.f64, nullptr);
    } else {
      rotate<float>(call, rotation.f32, rotation.bf16);
    }
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
  return ROPE_OK;
}

}  // namespace rope
