#include "impls/each_token.hpp"

#include <algorithm>
#include <exception>
#include <type_traits>
#include <vector>

#include "impls/contract.hpp"
#include "impls/element_rows.hpp"
#include "impls/line_vector.hpp"

namespace rope {
namespace {

constexpr std::int64_t block_elements = 256;  // converted and given to the rotation loop at a time

DType dtype_of(const rope_tensor& tensor) { return static_cast<DType>(tensor.dtype); }

std::byte* head_of(const rope_tensor& tensor, std::int64_t batch, std::int64_t seq, std::int64_t head) {
  const std::int64_t element = batch * tensor.strides[0] + seq * tensor.strides[1] + head * tensor.strides[2];
  return static_cast<std::byte*>(tensor.data) + element * static_cast<std::int64_t>(size_of(dtype_of(tensor)));
}

// The kernel's loop over elements of E, and their dtype.
template <class E>
struct Loop {
  Rotate<E> rotate;
  std::int32_t dtype;
};

// Gives `use` each loop whose working type is T.
template <class T, class Use>
bool any_loop(const Rotation& rotation, const Use& use) {
  if constexpr (std::is_same_v<T, double>) {
    return use(Loop<double>{rotation.f64, ROPE_F64});
  } else {
    return use(Loop<float>{rotation.f32, ROPE_F32}) || use(Loop<Bfloat16>{rotation.bf16, ROPE_BF16}) ||
           use(Loop<Half>{rotation.f16, ROPE_F16});
  }
}

// One tensor of a call with its result: q with q_out, or k with k_out.
template <class T>
class Turner {
 public:
  Turner(const rope_tensor& in, const rope_tensor& out, const rope_call& call, const Rotation& rotation)
      : in_(in), out_(out), rotary_dim_(call.rotary_dim), rotary_offset_(call.rotary_offset), rotation_(rotation) {
    block_ = std::clamp<std::int64_t>(block_elements / rotary_dim_, 1, std::max<std::int64_t>(in.shape[2], 1));
  }

  void turn(std::int64_t batch, std::int64_t seq, const Turns<T>& turns) {
    const auto in_one_pass = [&](const auto& loop) { return turn_in_one_pass(loop, batch, seq, turns); };
    if (!any_loop<T>(rotation_, in_one_pass)) turn_by_way_of_rows(batch, seq, turns);
    if (rotary_dim_ == in_.shape[3]) return;
    for (std::int64_t h = 0; h < in_.shape[2]; ++h) {
      const std::byte* in = head_of(in_, batch, seq, h);
      std::byte* out = head_of(out_, batch, seq, h);
      pass_through(in, out, 0, rotary_offset_);
      pass_through(in, out, rotary_offset_ + rotary_dim_, in_.shape[3]);
    }
  }

 private:
  // Returns false if the loop is not for these tensors.
  template <class E>
  bool turn_in_one_pass(const Loop<E>& loop, std::int64_t batch, std::int64_t seq, const Turns<T>& turns) const {
    if (loop.rotate == nullptr || in_.dtype != loop.dtype || out_.dtype != loop.dtype || in_.strides[3] != 1 ||
        out_.strides[3] != 1) {
      return false;
    }
    loop.rotate({reinterpret_cast<const E*>(turning(in_, batch, seq, 0)), in_.strides[2],
                 reinterpret_cast<E*>(turning(out_, batch, seq, 0)), out_.strides[2], in_.shape[2]},
                turns);
    return true;
  }

  void turn_by_way_of_rows(std::int64_t batch, std::int64_t seq, const Turns<T>& turns) {
    rows_.resize(static_cast<std::size_t>(block_ * rotary_dim_));
    T* rows = rows_.data();
    for (std::int64_t first = 0; first < in_.shape[2]; first += block_) {
      const std::int64_t n = std::min(block_, in_.shape[2] - first);
      for (std::int64_t h = 0; h < n; ++h) {
        load_row(dtype_of(in_), turning(in_, batch, seq, first + h), in_.strides[3], rows + h * rotary_dim_,
                 rotary_dim_);
      }
      const Heads<T> heads{rows, rotary_dim_, rows, rotary_dim_, n};
      if constexpr (std::is_same_v<T, float>) {
        rotation_.f32(heads, turns);
      } else {
        rotation_.f64(heads, turns);
      }
      for (std::int64_t h = 0; h < n; ++h) {
        store_row(dtype_of(out_), rows + h * rotary_dim_, turning(out_, batch, seq, first + h), out_.strides[3],
                  rotary_dim_);
      }
    }
  }

  // The first feature that turns.
  std::byte* turning(const rope_tensor& tensor, std::int64_t batch, std::int64_t seq, std::int64_t head) const {
    return head_of(tensor, batch, seq, head) +
           rotary_offset_ * tensor.strides[3] * static_cast<std::int64_t>(size_of(dtype_of(tensor)));
  }

  // Uses the working type only if the dtype changes: a conversion would quiet a signalling NaN.
  void pass_through(const std::byte* in, std::byte* out, std::int64_t from, std::int64_t to) {
    const auto size = static_cast<std::int64_t>(size_of(dtype_of(in_)));
    const auto out_size = static_cast<std::int64_t>(size_of(dtype_of(out_)));
    in += from * in_.strides[3] * size;
    out += from * out_.strides[3] * out_size;
    const std::int64_t rest = to - from;
    if (in == out || rest == 0) return;
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
  int rotary_dim_, rotary_offset_;
  const Rotation& rotation_;
  std::int64_t block_;  // heads that are turned at a time
  LineVector<T> rows_;
  std::vector<T> passing_;
};

template <class T>
void rotate(const rope_call& call, const Rotation& rotation) {
  AngleRows<T> angles(call);
  std::vector<Turner<T>> turners;
  turners.emplace_back(call.q, call.q_out, call, rotation);
  if (call.k.data != nullptr) turners.emplace_back(call.k, call.k_out, call, rotation);
  for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
    Turns<T> turns{};
    for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
      if (b == 0 || !angles.shared_by_batches()) turns = angles.at(b, s);
      for (Turner<T>& turner : turners) turner.turn(b, s, turns);
    }
  }
}

}  // namespace

rope_status rotate_each_token(const rope_call& call, const Rotation& rotation) noexcept {
  try {
    if (works_in_double(call)) {
      rotate<double>(call, rotation);
    } else {
      rotate<float>(call, rotation);
    }
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
  return ROPE_OK;
}

}  // namespace rope
