// Every built-in kernel gives eight threads the bits that it gives one. Lanes call a kernel from several threads, so
// what it shares between calls, such as a library's buffer, must be safe.
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "impls/builtin.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/run/kernel_subject.hpp"

namespace rope {
namespace {

// Calls of unlike sizes and kinds, as far as the kernel claims them.
std::vector<Case> unlike_cases(const Claims& claims) {
  std::vector<Case> cases;
  for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
    if ((claims.capabilities.pairings >> static_cast<int>(pairing) & 1u) == 0) continue;
    for (const int head_dim : {32, 64}) {
      for (const AngleSource source : {AngleSource::computed, AngleSource::tables}) {
        Case c;
        c.spec.head_dim = c.spec.rotary_dim = head_dim;
        c.spec.pairing = pairing;
        c.source = source;
        c.seq = 48;  // many products in a call: two must meet within a hundred nanoseconds
        c.heads = 3;
        c.start = 17 * static_cast<std::int64_t>(cases.size());
        c.seed = cases.size() + 1;
        cases.push_back(c);
      }
    }
  }
  return cases;
}

std::vector<std::byte> result_of(const rope_kernel& kernel, Call call) {
  rope_call bound = bind(call);
  if (kernel.apply(&bound) != ROPE_OK) return {};
  const std::byte* first = call.q_out->data();
  return {first, first + static_cast<std::size_t>(call.q_out->count()) * size_of(call.q_out->dtype)};
}

}  // namespace

TEST_CASE("built-in kernels: eight threads get the bits of one") {
  constexpr std::size_t threads = 8;
  constexpr int rounds = 300;
  for (const rope_kernel* kernel : builtin_kernels()) {
    INFO(kernel->name);
    if (kernel->claims.device != ROPE_CPU) continue;
    Oracles oracles;
    const std::vector<Case> cases = unlike_cases(claims_of(kernel->claims));
    std::vector<Call> calls;
    std::vector<std::vector<std::byte>> expected;
    for (std::size_t i = 0; i < threads; ++i) {
      calls.push_back(build_call(cases[i % cases.size()], oracles));
      expected.push_back(result_of(*kernel, calls.back()));
      REQUIRE_FALSE(expected.back().empty());
    }
    std::vector<int> wrong(threads, 0);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        for (int round = 0; round < rounds; ++round) wrong[i] += result_of(*kernel, calls[i]) != expected[i] ? 1 : 0;
      });
    }
    for (std::thread& thread : running) thread.join();
    CHECK(wrong == std::vector<int>(threads, 0));
  }
}

}  // namespace rope
