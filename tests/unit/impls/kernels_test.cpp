// Requirements of every built-in kernel, judged by the formula of rope_kernel.h in long double.
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <cstring>

#include "impls/builtin.hpp"
#include "reference/xtensor.hpp"
#include "tests/unit/impls/test_call.hpp"

namespace rope {
namespace {

using test::kernels_for;
using test::TestCall;
using test::TestTensor;

constexpr std::int32_t pairings[] = {ROPE_HALF_SPLIT, ROPE_INTERLEAVED};

using Array = xt::xtensor<long double, 4>;  // [batch, seq, heads, features or pairs]

Array array_of(TestTensor& tensor) {
  Array values = Array::from_shape(tensor.view.shape);
  std::int64_t i = 0;
  for (long double& value : values) value = tensor.at(i++);
  return values;
}

// phi = m theta in radians, [batch, seq, 1, pairs], theta = base^(-2p/rotary_dim).
Array angles_of(const rope_call& c) {
  const xt::xtensor<long double, 1> exponent = -2.0L * xt::arange<long double>(c.rotary_dim / 2) / c.rotary_dim;
  Array position =
      Array::from_shape({static_cast<std::size_t>(c.q.shape[0]), static_cast<std::size_t>(c.q.shape[1]), 1, 1});
  for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < c.q.shape[1]; ++s) position(b, s, 0, 0) = position_of(c, 0, b, s);
  }
  return position * xt::pow(static_cast<long double>(c.base), exponent);
}

// Largest |y - exact| over the bound u(out) + 4 u(working type) times the pair's norm; at most 1 for a good kernel. The
// second term covers two roundings of the table and two of the arithmetic.
double error_over_bound(TestCall& t) {
  const rope_call& c = t.call;
  const int pairs = c.rotary_dim / 2;
  const bool split = c.pairing == ROPE_HALF_SPLIT;
  const auto firsts = [&](const Array& x) -> Array {
    return xt::view(x, xt::all(), xt::all(), xt::all(), split ? xt::range(0, pairs, 1) : xt::range(0, 2 * pairs, 2));
  };
  const auto seconds = [&](const Array& x) -> Array {
    return xt::view(x, xt::all(), xt::all(), xt::all(),
                    split ? xt::range(pairs, 2 * pairs, 1) : xt::range(1, 2 * pairs, 2));
  };
  const Array x = array_of(t.q), y = array_of(t.out), phi = angles_of(c);
  const Array a = firsts(x), b = seconds(x);
  const long double lambda = c.attention_factor;
  const Array first = lambda * (a * xt::cos(phi) - b * xt::sin(phi));
  const Array second = lambda * (b * xt::cos(phi) + a * xt::sin(phi));
  const double work = unit_roundoff(t.out.dtype == DType::f64 ? DType::f64 : DType::f32);
  const Array bound =
      std::fabs(lambda) * xt::hypot(a, b) * (unit_roundoff(t.out.dtype) + 4 * work) + smallest_subnormal(t.out.dtype);
  const Array error = xt::maximum(xt::abs(firsts(y) - first), xt::abs(seconds(y) - second));
  return static_cast<double>(xt::amax(error / bound)());
}

TEST_CASE("the worked example, half-split, d = 4") {
  const double expected[] = {1,
                             2,
                             3,
                             4,
                             -2.88761668537482,
                             4.92975116874416,
                             6.60769777444042,
                             7.04964916958749,
                             -11.0967046972611,
                             7.79841338639929,
                             2.61976045885549,
                             10.1579894002124};
  for (const rope_kernel* kernel : kernels_for(ROPE_HALF_SPLIT)) {
    INFO(kernel->name);
    TestCall t(DType::f64, DType::f64, 1, 3, 1, 4);
    for (std::int64_t i = 0; i < 12; ++i) t.q.set(i, static_cast<double>(1 + i % 4 + 3 * (i / 4)));
    REQUIRE(kernel->apply(&t.call) == ROPE_OK);
    for (std::int64_t i = 0; i < 12; ++i) CHECK(t.out.at(i) == Approx(expected[i]).epsilon(1e-14));
  }
}

TEST_CASE("every dtype, both pairings, computed") {
  const std::pair<DType, DType> types[] = {{DType::f64, DType::f64},   {DType::f32, DType::f32},
                                           {DType::f16, DType::f16},   {DType::f16, DType::f32},
                                           {DType::bf16, DType::bf16}, {DType::bf16, DType::f32}};
  for (const auto& [in, out] : types) {
    for (const std::int32_t pairing : pairings) {
      for (const rope_kernel* kernel : kernels_for(pairing)) {
        INFO(kernel->name << ' ' << name(in) << " to " << name(out));
        TestCall t(in, out, 2, 3, 5, 22, pairing);
        t.call.positions.offset = 1000;
        t.call.attention_factor = 1.25;
        REQUIRE(kernel->apply(&t.call) == ROPE_OK);
        CHECK(error_over_bound(t) < 1);
      }
    }
  }
}

TEST_CASE("tables of every dtype and width turn like computed angles, within their precision") {
  for (const std::int32_t pairing : pairings) {
    for (const bool full : {false, true}) {
      for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        for (const rope_kernel* kernel : kernels_for(pairing)) {
          INFO(kernel->name << ' ' << name(dtype) << (full ? " full" : " half"));
          TestCall t(DType::f32, DType::f32, 1, 4, 2, 16, pairing);
          REQUIRE(kernel->apply(&t.call) == ROPE_OK);
          const auto computed = t.out;
          t.give_tables(4, full);
          TestTensor cos(dtype, 1, 1, 4, t.call.table.width);
          TestTensor sin = cos;
          for (std::int64_t i = 0; i < cos.size(); ++i) {
            cos.set(i, static_cast<double>(t.cos[static_cast<std::size_t>(i)]));
            sin.set(i, static_cast<double>(t.sin[static_cast<std::size_t>(i)]));
          }
          t.call.table.cos = cos.bytes.data();
          t.call.table.sin = sin.bytes.data();
          t.call.table.dtype = static_cast<std::int32_t>(dtype);
          REQUIRE(kernel->apply(&t.call) == ROPE_OK);
          const double tolerance = dtype == DType::f64 || dtype == DType::f32 ? 1e-6 : 8 * unit_roundoff(dtype);
          for (std::int64_t i = 0; i < t.out.size(); ++i) {
            const double expected = load(DType::f32, computed.bytes.data() + i * 4);
            CHECK(t.out.at(i) == Approx(expected).epsilon(0).margin(tolerance));
          }
        }
      }
    }
  }
}

TEST_CASE("the three fast kernels agree bit for bit") {
  rc::prop("under the permutation of features", [] {
    const auto dtype = *rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16);
    const int half = *rc::gen::inRange(1, 40);
    const int heads = *rc::gen::inRange(1, 9);
    const auto seed = *rc::gen::arbitrary<unsigned>();
    TestCall split(dtype, dtype, 1, 3, heads, 2 * half, ROPE_HALF_SPLIT);
    TestCall inter(dtype, dtype, 1, 3, heads, 2 * half, ROPE_INTERLEAVED);
    split.q.fill(seed);
    const auto place = [half](std::int64_t i) {  // of half-split feature i in an interleaved head
      const std::int64_t j = i % (2 * half);
      return i - j + (j < half ? 2 * j : 2 * (j - half) + 1);
    };
    for (std::int64_t i = 0; i < split.q.size(); ++i) inter.q.set(place(i), split.q.at(i));
    RC_ASSERT(half_split_kernel().apply(&split.call) == ROPE_OK);
    RC_ASSERT(interleaved_kernel().apply(&inter.call) == ROPE_OK);
    for (std::int64_t i = 0; i < split.q.size(); ++i) {
      RC_ASSERT(std::memcmp(split.out.element(i), inter.out.element(place(i)), size_of(dtype)) == 0);
    }
    const auto split_bytes = split.out.bytes;
    const auto inter_bytes = inter.out.bytes;
    RC_ASSERT(complex_kernel().apply(&split.call) == ROPE_OK);
    RC_ASSERT(complex_kernel().apply(&inter.call) == ROPE_OK);
    RC_ASSERT(split.out.bytes == split_bytes);
    RC_ASSERT(inter.out.bytes == inter_bytes);
  });
}

TEST_CASE("in place, strided and out of place give the same bits, and canaries survive") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const std::int32_t pairing : pairings) {
      for (const rope_kernel* kernel : kernels_for(pairing)) {
        INFO(kernel->name << ' ' << name(dtype));
        TestCall t(dtype, dtype, 2, 3, 5, 26, pairing);
        t.call.rotary_dim = 22;
        REQUIRE(kernel->apply(&t.call) == ROPE_OK);
        const auto plain = t.out.bytes;

        // A layout [heads, batch, head_dim, seq] with every dimension padded, on both sides.
        const std::int64_t strides[] = {27 * 4, 1, 2 * 27 * 4, 4};
        TestTensor wide_in(dtype, 1, 5, 2, 27 * 4);
        TestTensor wide_out(dtype, 1, 5, 2, 27 * 4);
        std::copy_n(strides, 4, wide_in.view.strides);
        std::copy_n(strides, 4, wide_out.view.strides);
        std::copy_n(t.call.q.shape, 4, wide_in.view.shape);
        std::copy_n(t.call.q.shape, 4, wide_out.view.shape);
        const auto size = size_of(dtype);
        const auto each = [&](auto visit) {  // (index in the plain tensor, index in the wide one)
          for (std::int64_t i = 0; i < t.q.size(); ++i) {
            visit(i, i / 390 * strides[0] + i / 130 % 3 * strides[1] + i / 26 % 5 * strides[2] + i % 26 * strides[3]);
          }
        };
        each([&](std::int64_t i, std::int64_t w) { std::memcpy(wide_in.element(w), t.q.element(i), size); });
        rope_call wide = t.call;
        wide.q = wide_in.view;
        wide.q_out = wide_out.view;
        REQUIRE(kernel->apply(&wide) == ROPE_OK);
        auto expected = std::vector<std::byte>(wide_out.bytes.size(), std::byte{0xa5});
        each([&](std::int64_t i, std::int64_t w) {
          std::memcpy(expected.data() + static_cast<std::size_t>(w) * size,
                      plain.data() + static_cast<std::size_t>(i) * size, size);
        });
        CHECK(wide_out.bytes == expected);

        t.call.q_out = t.call.q;
        REQUIRE(kernel->apply(&t.call) == ROPE_OK);
        CHECK(t.q.bytes == plain);
      }
    }
  }
}

TEST_CASE("a slice at an offset is the same slice of the whole, and a batch is its parts") {
  for (const std::int32_t pairing : pairings) {
    for (const rope_kernel* kernel : kernels_for(pairing)) {
      INFO(kernel->name);
      TestCall whole(DType::f32, DType::f32, 1, 9, 3, 24, pairing);
      TestCall tail(DType::f32, DType::f32, 1, 4, 3, 24, pairing);
      REQUIRE(kernel->apply(&whole.call) == ROPE_OK);
      const std::size_t start = 5 * 3 * 24 * 4;
      std::copy(whole.q.bytes.begin() + start, whole.q.bytes.end(), tail.q.bytes.begin());
      tail.call.positions.offset = 5;
      REQUIRE(kernel->apply(&tail.call) == ROPE_OK);
      CHECK(std::equal(tail.out.bytes.begin(), tail.out.bytes.end(), whole.out.bytes.begin() + start));

      TestCall batch(DType::f32, DType::f32, 2, 2, 3, 24, pairing);  // positions of its own for each batch
      const std::int64_t positions[] = {7, 8, 5, 6};
      batch.call.positions = {positions, ROPE_I64, 1, 0, 2, 1, 0};
      const std::size_t token = 3 * 24 * 4;
      for (std::size_t i = 0; i < 4; ++i) {
        std::copy_n(whole.q.bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(positions[i]) * token),
                    token, batch.q.bytes.begin() + static_cast<std::ptrdiff_t>(i * token));
      }
      REQUIRE(kernel->apply(&batch.call) == ROPE_OK);
      for (std::size_t i = 0; i < 4; ++i) {
        const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(positions[i]) * token);
        CHECK(std::equal(batch.out.bytes.begin() + static_cast<std::ptrdiff_t>(i * token),
                         batch.out.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * token),
                         whole.out.bytes.begin() + at));
      }
    }
  }
}

TEST_CASE("k with fewer heads is turned like q, and a broadcast input is read repeatedly") {
  for (const std::int32_t pairing : pairings) {
    for (const rope_kernel* kernel : kernels_for(pairing)) {
      INFO(kernel->name);
      TestCall t(DType::bf16, DType::bf16, 2, 3, 4, 12, pairing);
      t.call.q.strides[2] = 0;
      TestTensor k_out(DType::bf16, 2, 3, 1, 12);
      t.call.k = t.call.q;
      t.call.k.shape[2] = 1;
      t.call.k_out = k_out.view;
      REQUIRE(kernel->apply(&t.call) == ROPE_OK);
      for (std::int64_t row = 0; row < 6; ++row) {
        for (std::int64_t h = 0; h < 4; ++h) {
          CHECK(std::memcmp(t.out.element((row * 4 + h) * 12), k_out.element(row * 12), 24) == 0);
        }
      }
    }
  }
}

TEST_CASE("backward undoes forward, and NaN and infinity stay in their pair") {
  for (const std::int32_t pairing : pairings) {
    for (const rope_kernel* kernel : kernels_for(pairing)) {
      INFO(kernel->name);
      TestCall t(DType::f64, DType::f64, 1, 5, 2, 16, pairing);
      t.call.rotary_dim = 12;
      REQUIRE(kernel->apply(&t.call) == ROPE_OK);
      TestCall back(DType::f64, DType::f64, 1, 5, 2, 16, pairing);
      back.q.bytes = t.out.bytes;
      back.call.rotary_dim = 12;
      back.call.direction = ROPE_BACKWARD;
      REQUIRE(kernel->apply(&back.call) == ROPE_OK);
      for (std::int64_t i = 0; i < t.q.size(); ++i)
        CHECK(back.out.at(i) == Approx(t.q.at(i)).epsilon(1e-13).margin(1e-14));

      const auto clean = t.out;
      t.q.set(16, std::numeric_limits<double>::infinity());
      t.q.set(35, std::nan(""));
      REQUIRE(kernel->apply(&t.call) == ROPE_OK);
      int spoiled = 0;
      for (std::int64_t i = 0; i < t.out.size(); ++i) {
        if (std::isfinite(t.out.at(i))) {
          CHECK(t.out.at(i) == Approx(load(DType::f64, clean.bytes.data() + i * 8)).epsilon(1e-14));
        } else {
          ++spoiled;
        }
      }
      CHECK(spoiled == 4);
    }
  }
}

// element.hpp rounds to bfloat16 without a check for NaNs; a payload of ones must not be carried into a zero.
TEST_CASE("a NaN in a table is a NaN in the result") {
  for (const std::int32_t pairing : pairings) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      for (const rope_kernel* kernel : kernels_for(pairing)) {
        INFO(kernel->name << ' ' << name(dtype));
        TestCall t(dtype, dtype, 1, 1, 1, 64, pairing);
        t.give_tables(1, false);
        const std::uint32_t ones = 0xffffffff;
        for (float& value : t.cos) std::memcpy(&value, &ones, sizeof value);
        REQUIRE(kernel->apply(&t.call) == ROPE_OK);
        for (std::int64_t i = 0; i < t.out.size(); ++i) CHECK(std::isnan(t.out.at(i)));
      }
    }
  }
}

// Angles go up to 3,000 rad, and the rules hold pi to 53 bits: 3000 * 2^-53 = 3.3e-13.
TEST_CASE("every scaling rule is computed as the plan's compiler computes it") {
  for (int kind = 0; kind < static_cast<int>(scaling_kind_count); ++kind) {
    const double factors[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6};
    TestCall t(DType::f64, DType::f64, 1, 3, 1, 16);
    rope_scaling& scaling = t.call.scaling;
    scaling.kind = kind;
    scaling.factor = 4;
    scaling.original_max_position = 64;
    scaling.beta_fast = 32;
    scaling.beta_slow = scaling.low_freq_factor = 1;
    scaling.high_freq_factor = 4;
    scaling.proportion = 0.5;
    scaling.max_frequency = 10;
    scaling.short_factor = scaling.long_factor = factors;
    t.call.sequence_length = 200;
    t.call.positions.offset = 190;
    REQUIRE(half_split_kernel().apply(&t.call) == ROPE_OK);
    const auto fast = t.out;
    REQUIRE(naive_matrix_kernel().apply(&t.call) == ROPE_OK);
    for (std::int64_t i = 0; i < t.out.size(); ++i) {
      INFO("kind " << kind << " element " << i);
      CHECK(load(DType::f64, fast.bytes.data() + i * 8) == Approx(t.out.at(i)).epsilon(0).margin(4e-13));
    }
  }
}

}  // namespace
}  // namespace rope
