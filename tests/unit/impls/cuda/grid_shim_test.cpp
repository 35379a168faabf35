#include "impls/cuda/grid_shim.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace rope::grid {
namespace {

using Catch::Contains;

Launch launch_of(unsigned blocks, unsigned threads, std::size_t shared_bytes = 0, bool reversed = false) {
  Launch launch;
  launch.grid.x = blocks;
  launch.block.x = threads;
  launch.shared_bytes = shared_bytes;
  launch.reversed = reversed;
  return launch;
}

std::size_t global_index() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

TEST_CASE("every thread of every block runs once, in all three dimensions") {
  Launch launch;
  launch.grid = {3, 2, 2};
  launch.block = {4, 3, 2};
  std::vector<int> runs(12 * 24);
  CHECK_FALSE(run(launch, [&] {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    ++runs[block * 24 + thread];
  }));
  CHECK(std::count(runs.begin(), runs.end(), 1) == 12 * 24);
}

TEST_CASE("a loop with the grid's stride visits everything once") {
  std::vector<int> visits(1000);
  CHECK_FALSE(run(launch_of(3, 32), [&] {
    for (std::size_t i = global_index(); i < visits.size(); i += std::size_t{gridDim.x} * blockDim.x) ++visits[i];
  }));
  CHECK(std::count(visits.begin(), visits.end(), 1) == 1000);
}

TEST_CASE("threads without a barrier share one stack, threads that wait do not") {
  for (const bool wait : {false, true}) {
    std::vector<const void*> frames(64);
    CHECK_FALSE(run(launch_of(1, 64), [&] {
      frames[threadIdx.x] = __builtin_frame_address(0);
      if (wait) __syncthreads();
    }));
    std::sort(frames.begin(), frames.end());
    const auto stacks = std::unique(frames.begin(), frames.end()) - frames.begin();
    CHECK(stacks == (wait ? 64 : 1));
  }
}

TEST_CASE("behind a barrier all earlier work is done; without it, later threads' work is not") {
  for (const bool reversed : {false, true}) {
    for (const bool wait : {false, true}) {
      int right = 0;
      CHECK_FALSE(run(launch_of(5, 96, 96 * sizeof(int), reversed), [&] {
        ROPE_SHARED_MEMORY(shared);
        auto* const values = reinterpret_cast<int*>(shared);
        for (int round = 0; round < 3; ++round) {
          values[threadIdx.x] = round;
          if (wait) __syncthreads();
          right += std::all_of(values, values + 96, [=](int value) { return value == round; });
          if (wait) __syncthreads();
        }
      }));
      if (wait) CHECK(right == 5 * 96 * 3);
      if (!wait) CHECK(right == 5);  // only the last thread, in the last round, finds it so
    }
  }
}

TEST_CASE("threads run in the order of the launch") {
  for (const bool reversed : {false, true}) {
    std::vector<unsigned> before;
    std::vector<unsigned> behind;
    CHECK_FALSE(run(launch_of(1, 4, 0, reversed), [&] {
      before.push_back(threadIdx.x);
      __syncthreads();
      behind.push_back(threadIdx.x);
    }));
    const std::vector<unsigned> expected =
        reversed ? std::vector<unsigned>{3, 2, 1, 0} : std::vector<unsigned>{0, 1, 2, 3};
    CHECK(before == expected);
    CHECK(behind == expected);
  }
}

TEST_CASE("shared memory belongs to a block, and begins as bytes of ones") {
  int fresh = 0;
  CHECK_FALSE(run(launch_of(7, 1, 16), [&] {
    ROPE_SHARED_MEMORY(shared);
    fresh += std::all_of(shared, shared + 16, [](std::byte b) { return b == std::byte{0xff}; });
    std::fill(shared, shared + 16, std::byte{0});
  }));
  CHECK(fresh == 7);
}

TEST_CASE("a barrier that only some threads reach ends the launch with a fault, and the next launch runs") {
  int behind = 0;
  const auto some = run(launch_of(2, 40), [&] {
    if (threadIdx.x != 3) __syncthreads();
    ++behind;
  });
  REQUIRE(some);
  CHECK_THAT(*some, Contains("block 0 x 0 x 0: thread 0 waits at the barrier of line"));
  CHECK_THAT(*some, Contains("thread 3 has ended"));
  CHECK(behind == 1);

  const auto two = run(launch_of(1, 2), [] {
    if (threadIdx.x == 0) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  });
  REQUIRE(two);
  CHECK_THAT(*two, Contains("thread 1 waits at the barrier of line"));

  const auto once_more = run(launch_of(1, 2), [] {
    for (unsigned i = 0; i < 1 + threadIdx.x; ++i) __syncthreads();
  });
  REQUIRE(once_more);
  CHECK_THAT(*once_more, Contains("thread 0 has ended"));

  behind = 0;
  CHECK_FALSE(run(launch_of(2, 40), [&] {
    __syncthreads();
    ++behind;
  }));
  CHECK(behind == 80);
}

TEST_CASE("shuffles take values from lanes of the same warp") {
  std::vector<unsigned> by_xor(64);
  std::vector<unsigned> across(64);
  std::vector<double> of_group(64);
  std::vector<unsigned> odd(64);
  CHECK_FALSE(run(launch_of(1, 64), [&] {
    const unsigned i = threadIdx.x;
    by_xor[i] = __shfl_xor_sync(0xffffffff, i, 5);
    across[i] = __shfl_xor_sync(0xffffffff, i, 32);
    of_group[i] = __shfl_sync(0xffffffff, i + 0.5, 3, 8);
    if (i % 2 == 1) odd[i] = __shfl_sync(0xaaaaaaaa, i, 7);
  }));
  for (unsigned i = 0; i < 64; ++i) {
    CHECK(by_xor[i] == (i ^ 5));
    CHECK(across[i] == i);
    CHECK(of_group[i] == i / 8 * 8 + 3.5);
    CHECK(odd[i] == (i % 2 == 0 ? 0 : i / 32 * 32 + 7));
  }
}

TEST_CASE("the only thread of a block waits for nobody") {
  std::vector<unsigned> done;
  std::vector<int> received;
  const auto fault = run({.grid = {3, 2}}, [&] {
    __syncthreads();
    received.push_back(__shfl_sync(1, 7, 0));
    __syncthreads();
    done.push_back(3 * blockIdx.y + blockIdx.x);
  });
  CHECK(!fault);
  CHECK(done == std::vector<unsigned>{0, 1, 2, 3, 4, 5});
  CHECK(received == std::vector<int>(6, 7));
  const auto invalid = run({}, [] { __shfl_sync(1, 7, 3); });
  REQUIRE(invalid);
  CHECK(invalid->find("a shuffle from lane 3, which takes no part in it") == 0);
}

TEST_CASE("an invalid shuffle is a fault") {
  const auto absent = run(launch_of(1, 32), [] { __shfl_sync(0x0000ffff, 1, 20); });
  REQUIRE(absent);
  CHECK_THAT(*absent, Contains("without its own lane") || Contains("lane 20, which takes no part"));
  const auto small_block = run(launch_of(1, 8), [] { __shfl_sync(0xffffffff, 1, 9); });
  REQUIRE(small_block);
  CHECK_THAT(*small_block, Contains("lane 9, which takes no part"));
  const auto never = run(launch_of(1, 32), [] {
    if (threadIdx.x != 4) __shfl_sync(0xffffffff, 1, 0);
  });
  REQUIRE(never);
  CHECK_THAT(*never, Contains("waits in a shuffle, thread 4 has ended"));
}

TEST_CASE("a launch that a device would refuse is refused, and nothing runs") {
  int runs = 0;
  const auto refused = [&](Dim3 grid, Dim3 block, std::size_t shared_bytes) {
    return run({grid, block, shared_bytes}, [&] { ++runs; }).value_or("");
  };
  CHECK_THAT(refused({1, 65536, 1}, {1, 1, 1}, 0), Contains("a grid of 1 x 65536 x 1"));
  CHECK_THAT(refused({1, 1, 65536}, {1, 1, 1}, 0), Contains("a grid of"));
  CHECK_THAT(refused({0, 1, 1}, {1, 1, 1}, 0), Contains("a grid of"));
  CHECK_THAT(refused({1, 1, 1}, {1025, 1, 1}, 0), Contains("a block of"));
  CHECK_THAT(refused({1, 1, 1}, {512, 3, 1}, 0), Contains("a block of"));
  CHECK_THAT(refused({1, 1, 1}, {1, 1, 65}, 0), Contains("a block of"));
  CHECK_THAT(refused({1, 1, 1}, {1, 1, 1}, 49153), Contains("49153 bytes of shared memory"));
  CHECK(runs == 0);
  CHECK(refused({1, 65535, 1}, {1, 1, 1}, 49152).empty());
  CHECK(runs == 65535);
}

TEST_CASE("an address that is not aligned is a fault, and the launch goes on") {
  alignas(16) std::byte bytes[32];
  int runs = 0;
  const auto fault = run(launch_of(2, 2), [&] {
    check_alignment(bytes + 8 * threadIdx.x, 16);
    ++runs;
  });
  REQUIRE(fault);
  CHECK_THAT(*fault, Contains("16 bytes") && Contains("in thread 1 x 0 x 0 of block 0 x 0 x 0"));
  CHECK(runs == 4);
}

TEST_CASE("several host threads launch at once") {
  std::vector<std::uint64_t> sums(8);
  std::vector<std::thread> hosts;
  for (std::size_t host = 0; host < sums.size(); ++host) {
    hosts.emplace_back([&sum = sums[host], host] {
      for (int launch = 0; launch < 20; ++launch) {
        const auto fault = run(launch_of(3, 33, 33 * sizeof(std::uint64_t)), [&] {
          ROPE_SHARED_MEMORY(shared);
          auto* const values = reinterpret_cast<std::uint64_t*>(shared);
          values[threadIdx.x] = host + threadIdx.x;
          __syncthreads();
          if (threadIdx.x == 0) {
            for (int i = 0; i < 33; ++i) sum += values[i];
          }
        });
        if (fault) sum += 1000000;
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  for (std::size_t host = 0; host < sums.size(); ++host) CHECK(sums[host] == 60 * (33 * host + 32 * 33 / 2));
}

}  // namespace
}  // namespace rope::grid
