// The kernel for CUDA devices, run by the grid on the CPU. Tests of all kernels are in kernels_test.cpp, not here.
#include "impls/cuda/on_cpu.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "tests/unit/impls/test_call.hpp"

namespace rope::cuda {
namespace {

using test::TestCall;
using test::TestTensor;

const rope_kernel& fast_kernel(const rope_call& call) {
  return call.pairing == ROPE_HALF_SPLIT ? half_split_kernel() : interleaved_kernel();
}

Plan plan_for_cpu(const rope_call& call) { return plan_of(call, cut_for_cpu, widest_chunk(call)); }

TEST_CASE("a divisor divides") {
  for (std::uint32_t by = 1; by < 70000; by += by < 2100 ? 1 : 997) {
    const Divisor divisor(by);
    for (std::uint32_t n = 0; n < 40000 && std::uint64_t{n} * by < std::uint64_t{1} << 32; n += n < 300 ? 1 : 313) {
      if (divisor.quotient(n) != n / by) FAIL(n << " / " << by);
    }
  }
  CHECK(Divisor(65536).quotient(65535) == 0);
}

TEST_CASE("it gives the same bits as the plain loops, in vectors and one by one") {
  rc::prop("whatever is asked for", [] {
    const auto dtype = *rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16);
    const int half =
        *rc::gen::oneOf(rc::gen::inRange(1, 50), rc::gen::map(rc::gen::inRange(1, 9), [](int n) { return 8 * n; }),
                        rc::gen::element(136, 260));  // theta of 136 pairs has no room in the job
    const int passing = *rc::gen::element(0, 0, 1, 2, 16);
    const int heads = *rc::gen::inRange(1, 6);
    const auto pairing = *rc::gen::element<std::int32_t>(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
    TestCall t(dtype, dtype, *rc::gen::inRange(1, 4), *rc::gen::inRange(1, 9), heads, 2 * half + passing, pairing);
    t.q.fill(*rc::gen::arbitrary<unsigned>());
    t.call.rotary_dim = 2 * half;
    t.call.attention_factor = *rc::gen::element(1.0, 1.25);
    t.call.direction = *rc::gen::element<std::int32_t>(ROPE_FORWARD, ROPE_BACKWARD);
    t.call.positions.offset = *rc::gen::inRange(0, 100000);
    if (*rc::gen::arbitrary<bool>()) {
      t.call.positions.offset = 1;
      t.give_tables(10, *rc::gen::arbitrary<bool>());
    }
    RC_ASSERT(fast_kernel(t.call).apply(&t.call) == ROPE_OK);
    const auto expected = t.out.bytes;
    std::fill(t.out.bytes.begin(), t.out.bytes.end(), std::byte{0xa5});
    RC_ASSERT(cuda_on_cpu_kernel().apply(&t.call) == ROPE_OK);
    RC_ASSERT(t.out.bytes == expected);
    const Plan one_by_one = plan_of(t.call, {32, 7}, 1);
    grid::Launch launch = launch_of(one_by_one);
    launch.reversed = true;
    std::fill(t.out.bytes.begin(), t.out.bytes.end(), std::byte{0xa5});
    RC_ASSERT(!run_on_cpu<AsIntended>(one_by_one, launch));
    RC_ASSERT(t.out.bytes == expected);
  });
}

TEST_CASE("it takes vectors only where addresses, strides and rotary_dim allow") {
  const auto width = [](DType dtype, int head_dim, auto change) {
    TestCall t(dtype, dtype, 2, 3, 4, head_dim);
    change(t.call);
    return widest_chunk(t.call);
  };
  const auto as_it_is = [](rope_call&) {};
  CHECK(width(DType::bf16, 128, as_it_is) == 8);
  CHECK(width(DType::f16, 16, as_it_is) == 8);
  CHECK(width(DType::f32, 128, as_it_is) == 4);
  CHECK(width(DType::f64, 4, as_it_is) == 2);
  CHECK(width(DType::bf16, 72, as_it_is) == 1);
  CHECK(width(DType::f32, 128, [](rope_call& c) { c.q.data = static_cast<float*>(c.q.data) + 1; }) == 1);
  CHECK(width(DType::f32, 128, [](rope_call& c) { c.q_out.data = static_cast<float*>(c.q_out.data) + 2; }) == 1);
  CHECK(width(DType::f32, 128, [](rope_call& c) { c.q.strides[2] += 2; }) == 1);
  CHECK(width(DType::f32, 128, [](rope_call& c) { c.q.strides[2] += 4; }) == 4);
  CHECK(width(DType::f32, 128, [](rope_call& c) { c.q_out.strides[3] = 2; }) == 1);
  CHECK(width(DType::f32, 128, [](rope_call& c) { c.rotary_dim = 64; }) == 4);
  CHECK(width(DType::f32, 128, [](rope_call& c) { c.rotary_dim = 4; }) == 1);
  CHECK(width(DType::f32, 130, [](rope_call& c) { c.rotary_dim = 64; }) == 1);
  CHECK(width(DType::f32, 128, [](rope_call& c) {
          c.k = c.q;
          c.k_out = c.q_out;
          c.k.strides[1] += 1;
        }) == 1);
}

TEST_CASE("a unit never needs more shared memory than every device has") {
  for (const int head_dim : {2, 64, 128, 130, 2046, 4096, 65536}) {
    for (const int heads : {1, 40, 5000}) {
      TestCall t(DType::f64, DType::f64, 1, 1, 1, head_dim);
      t.give_tables(1, true);
      t.call.q.shape[2] = t.call.q_out.shape[2] = heads;  // nothing is read here
      for (const Cut& cut : {cut_for_cpu, Cut{128, 768}, Cut{16, 1}}) {
        const Plan plan = plan_of(t.call, cut, widest_chunk(t.call));
        INFO(head_dim << ' ' << heads);
        CHECK(plan.shared_bytes <= 32768);
        CHECK(plan.job.units * plan.job.unit_tokens * plan.job.unit_heads * plan.job.unit_chunks.value() >=
              std::int64_t{heads} * head_dim / 2 / plan.job.width);
      }
    }
  }
}

// check_call refuses such a call; a device cannot check it first.
TEST_CASE("a position without a row in the tables gives NaN, and is not looked up") {
  TestCall t(DType::f32, DType::f32, 1, 3, 2, 16);
  t.give_tables(2, false);
  t.call.rotary_dim = 8;
  t.call.table.width = 4;
  const std::int64_t positions[] = {1, 2, -1};
  t.call.positions = {positions, ROPE_I64, 1, 0, 0, 1, 0};
  const Plan plan = plan_for_cpu(t.call);
  CHECK_FALSE(run_on_cpu<AsIntended>(plan, launch_of(plan)));
  for (std::int64_t i = 0; i < t.out.size(); ++i) {
    const bool turned = i % 16 < 8;
    CHECK(std::isnan(t.out.at(i)) == (turned && i >= 32));
    if (!turned) CHECK(t.out.at(i) == t.q.at(i));
  }
}

TEST_CASE("several host threads call it at once") {
  std::vector<std::thread> hosts;
  std::vector<int> right(4);
  for (std::size_t host = 0; host < right.size(); ++host) {
    hosts.emplace_back([&, host] {
      TestCall t(DType::f16, DType::f16, 2, 5, 3, 32 + 2 * static_cast<int>(host));
      t.q.fill(static_cast<unsigned>(host));
      half_split_kernel().apply(&t.call);
      const auto expected = t.out.bytes;
      for (int i = 0; i < 20; ++i) {
        std::fill(t.out.bytes.begin(), t.out.bytes.end(), std::byte{0});
        right[host] += cuda_on_cpu_kernel().apply(&t.call) == ROPE_OK && t.out.bytes == expected;
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  CHECK(right == std::vector<int>{20, 20, 20, 20});
}

}  // namespace
}  // namespace rope::cuda
