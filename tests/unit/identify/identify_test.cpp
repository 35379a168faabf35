// What identification recovers from right kernels, in every dtype, from every angle source.
#include <catch2/catch.hpp>

#include "reference/rotation_plan.hpp"
#include "tests/unit/identify/identified.hpp"
#include "tests/unit/reference/random_spec.hpp"
#include "tools/identify/phase.hpp"

namespace rope {
namespace {

using test::identified;
using test::way_of;

// Relative, up to whole turns. A kernel's theta is itself rounded, to 2^-46 of itself at most
// (reference/error_model.md: grade A). If a pair has hardly turned at the largest position,
// theta is off by 8 roundoffs over that position. Two angles are off by 4 each.
void same_theta(const ExecutedPair& pair, double theta, double promised, DType dtype) {
  const double off = std::fabs(wrapped(pair.theta - theta));
  const double least_error = 8 * unit_roundoff(dtype) / static_cast<double>(pair.reached);
  RC_ASSERT(off <= pair.theta_error + 0x1p-46 * std::fabs(theta));
  RC_ASSERT(off <= std::max(promised * std::min(1.0, std::fabs(theta)), least_error));
}

// Compares the executed plan with the spec's plan, and the recovered spec with the spec.
void same_plan(const ExecutedPlan& plan, const RopeSpec& spec, double promised) {
  RC_LOG() << to_flags(spec) << "\n" << test::in_words(plan);
  RC_ASSERT(plan.problem == "");
  const RotationPlan exact = compile(spec, plan.sequence_length);
  std::size_t turning = 0;
  for (const RotatedPair& wanted : exact.pairs) {
    const auto found = std::find_if(plan.pairs.begin(), plan.pairs.end(),
                                    [&](const ExecutedPair& pair) { return pair.features.first == wanted.first; });
    const double theta = wanted.theta.to_double();
    if (theta == 0) continue;
    ++turning;
    RC_ASSERT(found != plan.pairs.end());
    RC_ASSERT(found->features.second == wanted.second);
    RC_ASSERT(found->features.kind == BlockKind::rotation);
    same_theta(*found, theta, promised, plan.way.dtype);
    RC_ASSERT(found->reached > std::int64_t{1} << 32);
    RC_ASSERT(found->axis == wanted.axis);
  }
  RC_ASSERT(differences(plan).empty());
  if (turning == 0) return;  // rope that changes nothing cannot be told from another such rope
  RC_ASSERT(plan.pairs.size() >= turning);
  RC_ASSERT(plan.predicted > 0);
  RC_ASSERT(plan.predicted_right == plan.predicted);
  RC_ASSERT(plan.spec.has_value());
  RopeSpec seen = *plan.spec;
  const RotationPlan again = compile(seen, plan.sequence_length);
  RC_ASSERT(std::fabs(again.lambda - exact.lambda) <= promised * exact.lambda);
  // Everything else as it was written: base, rule and every parameter, axes.
  seen.attention_factor = spec.attention_factor;
  RC_ASSERT(test::same(seen, spec));
}

TEST_CASE("identify: the spec of a right kernel is recovered", "[identify]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const auto wrong = test::counterexample(
        [&] {
          RopeSpec spec = test::any_spec();
          spec.head_dim += spec.head_dim % 2;  // the contract has only even ones
          const ExecutedPlan plan = identified(way_of(spec, dtype), test::right_pairing);
          same_plan(plan, spec, test::promised(dtype));
        },
        test::spec_count());
    INFO(name(dtype));
    INFO(wrong.value_or(""));
    CHECK_FALSE(wrong.has_value());
  }
}

// Features that pass through are not multiplied by lambda. Near 1 its effect is as small as roundings of the type.
TEST_CASE("identify: pass-through features are told from a lambda that is nearly 1", "[identify]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    for (const double lambda : {0.9845, 1.0036, 1.0}) {
      INFO(name(dtype) << " " << lambda);
      RopeSpec spec;
      spec.head_dim = 32;
      spec.rotary_dim = 20;
      spec.attention_factor = lambda;
      const ExecutedPlan plan = identified(way_of(spec, dtype), test::right_pairing);
      CHECK(plan.problem == "");
      CHECK(plan.pairs.size() == 10);
      REQUIRE(plan.spec.has_value());
      CHECK(plan.spec->rotary_dim == 20);
      CHECK(differences(plan).empty());
    }
  }
}

TEST_CASE("identify: rotary features behind others are as specified, whatever gives the angles", "[identify]") {
  RopeSpec spec;
  spec.head_dim = 32;
  spec.rotary_dim = 16;
  for (const int offset : {2, 8, 16}) {
    for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
      for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
        for (const bool full : {false, true}) {
          spec.rotary_offset = offset;
          spec.pairing = pairing;
          Case way = way_of(spec, DType::f32, source);
          way.full_tables = full && source == AngleSource::tables;
          const ExecutedPlan plan = identified(way, test::right_pairing);
          INFO(test::in_words(plan));
          CHECK(plan.rotary_dim == 16);
          CHECK(differences(plan).empty());
        }
      }
    }
  }
}

TEST_CASE("identify: a narrow claim is probed as far as it goes", "[identify]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 32;
  for (const bool offsets : {true, false}) {
    Claims claims = test::narrow_claims();
    if (!offsets) claims.capabilities.features = 0;
    std::int64_t unclaimed = 0;
    test::Fake subject(claims, [&](Call& call) {
      unclaimed += call.positions.has_value() || (!offsets && call.position_offset != 0) ? 1 : 0;
      return test::right_pairing(call);
    });
    Oracles oracles;
    const ExecutedPlan plan = identify(subject, way_of(spec, DType::f32), oracles);
    CHECK(unclaimed == 0);
    CHECK(plan.problem.empty());
    CHECK(differences(plan).empty());
    REQUIRE(plan.spec.has_value());
    CHECK(plan.spec->base == 10'000);
  }
}

TEST_CASE("identify: right kernels in their own precision, from frequencies and from tables", "[identify]") {
  RopeSpec spec;
  spec.head_dim = 96;
  spec.rotary_dim = 64;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const AngleSource source : {AngleSource::frequencies, AngleSource::tables}) {
      for (const bool full : {false, true}) {
        for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
          spec.pairing = pairing;
          Case way = way_of(spec, dtype, source);
          way.full_tables = full;
          way.direction = full ? Direction::backward : Direction::forward;
          const ExecutedPlan plan = identified(way, test::right_pairing);
          INFO(called(plan));
          CHECK(differences(plan).empty());
          REQUIRE(plan.spec.has_value());
          CHECK(plan.spec->pairing == pairing);
          CHECK(plan.spec->rotary_dim == 64);
        }
      }
    }
  }
}

TEST_CASE("identify: what tables hold in a narrower type than the tensors was not rounded by the kernel",
          "[identify]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 64;
  Case way = way_of(spec, DType::f64, AngleSource::tables);
  way.given = DType::f32;
  CHECK(differences(identified(way, test::right_pairing)).empty());
  way.given = DType::f64;
  const ExecutedPlan narrow = identified(way, [](Call& call) {
    const Reply reply = test::right_pairing(call);
    if (reply.status != ROPE_OK) return reply;
    for_each_row(*call.q_out, [&](const RowIndex&, std::byte* row) {
      for (std::size_t j = 0; j < 64; ++j) {
        std::byte* element = row + 8 * j;
        store(DType::f64, element, static_cast<double>(static_cast<float>(load(DType::f64, element))));
      }
    });
    return reply;
  });
  CHECK(differences(narrow).at(0).words == "cos and sin, or results, are rounded to f32");
}

TEST_CASE("identify: each kernel that does not rotate pairs gets its own sentence", "[identify]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 16;
  const auto says = [&](std::function<void(std::vector<double>&)> change) {
    const ExecutedPlan plan = identified(way_of(spec, DType::f32), [&](Call& call) {
      const Reply reply = test::right_pairing(call);
      if (reply.status != ROPE_OK) return reply;
      for_each_row(*call.q_out, [&](const RowIndex&, std::byte* row) {
        std::vector<double> values;
        for (std::size_t j = 0; j < 16; ++j) values.push_back(load(DType::f32, row + 4 * j));
        change(values);
        for (std::size_t j = 0; j < 16; ++j) store(DType::f32, row + 4 * j, values[j]);
      });
      return reply;
    });
    return differences(plan).at(0).words;
  };
  CHECK(says([](auto& y) { std::swap_ranges(y.begin(), y.begin() + 8, y.begin() + 8); }) ==
        "the two features of each pair come out exchanged");
  CHECK(says([](auto& y) {
          const auto x = y;
          for (std::size_t i = 0; i < 8; ++i) y[2 * i] = x[i], y[2 * i + 1] = x[i + 8];
        }) == "the output is permuted: the pair of features 0 and 8 comes out in 0 and 1");
  CHECK(says([](auto& y) { y[3] = 0; }) == "features 3 depend on no input feature");
  CHECK(says([](auto& y) { y[2] = std::nan(""); }) == "features 2 are not written, or never a number");
  CHECK(says([](auto& y) { y[0] += y[1]; }) == "features 0 .. 1, 8 .. 9 mix, where only two of a pair should");
}

}  // namespace
}  // namespace rope
