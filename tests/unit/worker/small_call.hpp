// The call that the tests of the workers make: [1, 8, 2, 64], f32, half-width tables of 32 rows.
#pragma once

#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/unit/places.hpp"
#include "tools/judge/call/call.hpp"
#include "tools/worker/client/library_subject.hpp"

namespace rope {

inline const std::filesystem::path misbehaving = build_folder() / "misbehaving.so";

// Debian's own Python where there is one: a version manager's python3 may be a script that takes a tenth of a second.
inline const std::string starts_quickly = std::filesystem::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

inline float& element(Tensor& tensor, std::int64_t index) { return reinterpret_cast<float*>(tensor.data())[index]; }

inline Call small_call() {
  Call call;
  call.q = Tensor::contiguous(DType::f32, {1, 8, 2, 64});
  call.q_out = Tensor::contiguous(DType::f32, {1, 8, 2, 64});
  call.cos = Tensor::contiguous(DType::f32, {32, 32});
  call.sin = Tensor::contiguous(DType::f32, {32, 32});
  call.rotary_dim = 64;
  call.sequence_length = 8;
  for (std::int64_t i = 0; i < call.q.count(); ++i) element(call.q, i) = 0.5F + static_cast<float>(i % 7);
  for (std::int64_t i = 0; i < call.cos->count(); ++i) {
    element(*call.cos, i) = std::cos(static_cast<float>(i));
    element(*call.sin, i) = std::sin(static_cast<float>(i));
  }
  std::ranges::fill(call.q_out->bytes, std::byte{0xee});
  return call;
}

// What kernel `right` of misbehaving.c computes, in this process.
inline bool is_right(Call& call) {
  for (std::int64_t row = 0; row < 16; ++row) {
    for (std::int64_t p = 0; p < 32; ++p) {
      const float a = element(call.q, row * 64 + p);
      const float b = element(call.q, row * 64 + p + 32);
      const float c = element(*call.cos, row / 2 * 32 + p);
      const float s = element(*call.sin, row / 2 * 32 + p);
      if (element(*call.q_out, row * 64 + p) != a * c - b * s) return false;
      if (element(*call.q_out, row * 64 + p + 32) != b * c + a * s) return false;
    }
  }
  return true;
}

}  // namespace rope
