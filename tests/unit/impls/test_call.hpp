// A rope_call with its own storage, for the tests of impls/: valid at first, with every field open to change.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "impls/builtin.hpp"
#include "impls/contract.hpp"
#include "reference/dtype.hpp"

namespace rope::test {

struct TestTensor {
  DType dtype = DType::f32;
  std::vector<std::byte> bytes;
  rope_tensor view{};

  TestTensor(DType type, std::int64_t batch, std::int64_t seq, std::int64_t heads, std::int64_t head_dim)
      : dtype(type), bytes(static_cast<std::size_t>(batch * seq * heads * head_dim) * size_of(type), std::byte{0xa5}) {
    view = {bytes.data(),
            static_cast<std::int32_t>(type),
            0,
            {batch, seq, heads, head_dim},
            {seq * heads * head_dim, heads * head_dim, head_dim, 1}};
  }
  std::byte* element(std::int64_t i) { return bytes.data() + static_cast<std::size_t>(i) * size_of(dtype); }
  double at(std::int64_t i) { return load(dtype, element(i)); }
  void set(std::int64_t i, double value) { store(dtype, element(i), value); }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes.size() / size_of(dtype)); }
  void fill(unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < size(); ++i) set(i, normal(engine));
  }
};

// Only q, forward, half-split, theta computed from base 10000. Move nothing: the call points into this object.
struct TestCall {
  TestTensor q;
  TestTensor out;
  std::vector<float> cos;
  std::vector<float> sin;
  rope_call call{};

  TestCall(DType in, DType result, std::int64_t batch, std::int64_t seq, std::int64_t heads, std::int64_t head_dim,
           std::int32_t pairing = ROPE_HALF_SPLIT)
      : q(in, batch, seq, heads, head_dim), out(result, batch, seq, heads, head_dim) {
    q.fill(7);
    call.struct_size = sizeof call;
    call.abi = ROPE_KERNEL_ABI;
    call.q = q.view;
    call.q_out = out.view;
    call.positions.axes = 1;
    call.rotary_dim = static_cast<std::int32_t>(head_dim);
    call.pairing = pairing;
    call.angle_source = ROPE_COMPUTED;
    call.attention_factor = 1;
    call.base = 10000;
    call.sequence_length = seq;
  }
  TestCall(const TestCall&) = delete;
  TestCall& operator=(const TestCall&) = delete;

  // Replaces the source by tables of base 10000 for positions 0 .. rows-1. Full width has the pairing's columns.
  void give_tables(std::int64_t rows, bool full) {
    const int half = call.rotary_dim / 2;
    const int width = full ? 2 * half : half;
    for (std::int64_t m = 0; m < rows; ++m) {
      for (int column = 0; column < width; ++column) {
        const int pair = !full ? column : call.pairing == ROPE_HALF_SPLIT ? column % half : column / 2;
        const double phi = static_cast<double>(m) * std::pow(10000.0, -1.0 * pair / half);
        cos.push_back(static_cast<float>(std::cos(phi)));
        sin.push_back(static_cast<float>(std::sin(phi)));
      }
    }
    call.angle_source = ROPE_TABLES;
    call.table = {cos.data(), sin.data(), ROPE_F32, width, rows, width};
  }
};

// The kernels that claim the pairing.
inline std::vector<const rope_kernel*> kernels_for(std::int32_t pairing) {
  std::vector<const rope_kernel*> result;
  for (const rope_kernel* kernel : builtin_kernels()) {
    if ((kernel->claims.pairings >> pairing & 1) != 0) result.push_back(kernel);
  }
  return result;
}

}  // namespace rope::test
