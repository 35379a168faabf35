// Every golden case that a package computed, against the definition: also cases that no rope_call can carry.
#include "tests/unit/golden/plain_rotation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "reference/oracle.hpp"
#include "reference/xtensor.hpp"
#include "tests/unit/golden/committed.hpp"
#include "tools/judge/case/golden_call.hpp"

using rope::committed;

TEST_CASE("golden files: every case that conforms is within the bound of its own rounding rule", "[golden]") {
  const rope::Manifest& manifest = committed();
  double worst = 0;
  for (const rope::GoldenCase& golden : manifest.cases) {
    if (!golden.conforms || golden.rounding == rope::GoldenRounding::printed) continue;
    INFO(golden.id);
    const double use = rope::worst_use(manifest, golden, rope::as_defined(manifest, golden));
    CHECK(use <= 1);
    worst = std::max(worst, use);
  }
  CHECK(worst > 0.5);  // a bound that no case comes near would miss much
}

TEST_CASE("golden files: every case within the contract is a call for a kernel, no other one is", "[golden]") {
  std::set<rope::BeyondContract> kinds;
  for (const rope::GoldenCase& golden : committed().cases) {
    INFO(golden.id);
    const bool computed = golden.rounding != rope::GoldenRounding::printed;
    CHECK(rope::case_of_golden(golden, rope::AngleSource::tables).has_value() ==
          (computed && golden.beyond_contract.empty()));
    if (golden.theta_is_given) CHECK(!rope::case_of_golden(golden, rope::AngleSource::computed));
    kinds.insert(golden.beyond_contract.begin(), golden.beyond_contract.end());
  }
  CHECK(kinds.size() == 4);
}

TEST_CASE("golden files: xPos is the oracle's rotation times its magnitude", "[golden]") {
  const rope::Manifest& manifest = committed();
  const rope::GoldenCase& golden = *manifest.find("lucidrains/xpos");
  rope::Oracle oracle(rope::compile(golden.spec, golden.sequence_length));
  for (const char* name : {"q", "k"}) {
    const bool key = name[0] == 'k';
    const rope::TokenArray x = rope::tokens_of(manifest, golden, name);
    const rope::TokenArray y = rope::tokens_of(manifest, golden, std::string(name) + "_out");
    rope::for_each_token(x, [&](const rope::Token& at) {
      const auto position = static_cast<std::int64_t>(at.seq);
      const std::vector<rope::PairAngle> angles = oracle.angles({&position, 1});
      for (std::size_t p = 0; p < angles.size(); ++p) {
        const double a = x(at.batch, at.seq, at.head, 2 * p), b = x(at.batch, at.seq, at.head, 2 * p + 1);
        const double size = oracle.magnitude(p, position, key);
        const rope::ExactPair exact = rope::rotate_exact(a, b, angles[p], size, false);
        // u r m ((C + 1) phi + 2.87 + 4 |e| + 4): error_model.md, and magnitude_error() in plain_rotation.cpp.
        const double exponent = std::fabs(static_cast<double>(position) - 4) / 512;
        const double bound =
            0x1p-24 * std::hypot(a, b) * size * ((*golden.c + 1) * angles[p].phi + 2.87 + 4 * exponent + 4);
        CHECK(std::fabs(y(at.batch, at.seq, at.head, 2 * p) - exact.first.hi) <= bound);
        CHECK(std::fabs(y(at.batch, at.seq, at.head, 2 * p + 1) - exact.second.hi) <= bound);
      }
    });
  }
}

TEST_CASE("golden files: the notebook's two caches and lucidrains agree at four tokens, not at 4096", "[golden]") {
  const rope::Manifest& manifest = committed();
  const auto all_close = [&](const char* id, const char* other, const char* array) {  // torch.allclose's defaults
    const rope::Vector a = rope::values_of(manifest, *manifest.find(id), array);
    const rope::Vector b = rope::values_of(manifest, *manifest.find(other), array);
    REQUIRE(a.size() == b.size());
    return xt::allclose(a, b, 1e-5, 1e-8);
  };
  CHECK(all_close("published/complex-notebook-naive", "published/complex-notebook-vectorised", "cos"));
  CHECK(all_close("published/complex-notebook-naive", "published/complex-notebook-vectorised", "sin"));
  CHECK(all_close("published/complex-notebook-vectorised", "lucidrains/complex-notebook", "q_out"));
  CHECK(!all_close("published/complex-notebook-naive-4096", "published/complex-notebook-vectorised-4096", "sin"));
}
