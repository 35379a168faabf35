// The committed golden files: complete, undamaged, and as their manifest describes them.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "golden/input_generator.hpp"
#include "golden/manifest.hpp"
#include "golden/recompute.hpp"
#include "reference/rotation_plan.hpp"
#include "tests/unit/golden/committed.hpp"

namespace {

using rope::committed;

double value_at(const rope::NpyArray& array, rope::DType dtype, std::size_t index) {
  return rope::load(dtype, array.bytes.data() + index * rope::size_of(dtype));
}

}  // namespace

TEST_CASE("golden files: every array is there, and no file beside them", "[golden]") {
  const rope::Manifest& manifest = committed();
  CHECK(manifest.cases.size() >= 60);
  std::set<std::filesystem::path> named;
  for (const rope::GoldenCase& golden : manifest.cases) {
    for (const rope::GoldenArray& array : golden.arrays) {
      CHECK_NOTHROW(rope::load(manifest, golden, array));
      named.insert(manifest.folder / array.file);
    }
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(manifest.folder / "arrays")) {
    if (entry.is_regular_file()) CHECK(named.contains(entry.path()));
  }
}

TEST_CASE("golden files: generated inputs are the same bits here as in Python", "[golden]") {
  const rope::Manifest& manifest = committed();
  int compared = 0;
  for (const rope::GoldenCase& golden : manifest.cases) {
    for (const rope::GoldenArray& array : golden.arrays) {
      if (!array.seed) continue;
      const rope::NpyArray stored = rope::load(manifest, golden, array);
      const std::size_t count = stored.bytes.size() / rope::size_of(array.dtype);
      INFO(golden.id << " " << array.name);
      CHECK(rope::generate_input(*array.seed, count, array.dtype) == stored.bytes);
      ++compared;
    }
  }
  CHECK(compared >= 100);
}

TEST_CASE("golden files: outputs follow bit for bit from tables, inputs and the rounding rule", "[golden]") {
  const rope::Manifest& manifest = committed();
  std::set<std::pair<rope::DType, rope::GoldenRounding>> seen;
  for (const rope::GoldenCase& golden : manifest.cases) {
    if (golden.rounding == rope::GoldenRounding::printed) continue;
    for (const char* input : {"q", "k"}) {
      if (golden.find(input) == nullptr) continue;
      INFO(golden.id << " " << input);
      CHECK(rope::recompute_output(manifest, golden, input).bytes ==
            rope::load(manifest, golden, std::string(input) + "_out").bytes);
      seen.insert({golden.dtype, golden.rounding});
    }
  }
  CHECK(seen.size() >= 8);  // f32, bf16 and f16, each by more than one rule
}

// Ties a case's spec to what the source computed: a wrong factor, kind or length would be off by far more.
TEST_CASE("golden files: frequencies and lambda are the spec's, within the C of the case", "[golden]") {
  const rope::Manifest& manifest = committed();
  for (const rope::GoldenCase& golden : manifest.cases) {
    if (!golden.conforms || golden.find("theta") == nullptr || golden.theta_is_given) continue;
    INFO(golden.id);
    const rope::GoldenArray& array = *golden.find("theta");
    const rope::NpyArray theta = rope::load(manifest, golden, array);
    const rope::RotationPlan plan = rope::compile(golden.spec, golden.sequence_length);
    CHECK(golden.attention_factor == Approx(plan.lambda).epsilon(1e-14));
    double worst = 0;
    for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
      const double given = value_at(theta, array.dtype, p);
      const double exact = plan.pairs[p].theta.to_double();
      if (array.print) {
        CHECK(std::fabs(given - exact) <= array.print->half_unit(given));
      } else if (exact == 0) {
        CHECK(given == 0);
      } else {
        worst = std::max(worst, std::fabs(given / golden.position_divisor / exact - 1) / 0x1p-24);
      }
    }
    if (golden.c) {
      INFO("C measured " << worst << ", declared " << *golden.c);
      CHECK(worst <= *golden.c);
      if (std::getenv("SHOW_C") != nullptr) WARN(golden.id << " C measured " << worst << ", declared " << *golden.c);
    }
  }
}

TEST_CASE("golden files: the printed worked example is what labml computes", "[golden]") {
  const rope::Manifest& manifest = committed();
  const rope::GoldenCase& printed = *manifest.find("published/worked-example");
  const rope::GoldenCase& computed = *manifest.find("labml/worked-d4");
  CHECK(rope::load(manifest, printed, "q").bytes == rope::load(manifest, computed, "q").bytes);
  const rope::NpyArray on_paper = rope::load(manifest, printed, "q_out");
  const rope::NpyArray run = rope::load(manifest, computed, "q_out");
  for (std::size_t i = 0; i < 12; ++i) {
    const double value = value_at(on_paper, rope::DType::f64, i);
    CHECK(std::fabs(value - value_at(run, rope::DType::f32, i)) <= printed.find("q_out")->print->half_unit(value));
  }
}
