// The answers of identification to kernels that are wrong in a known way.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "tests/unit/places.hpp"
#include "tools/identify/describe.hpp"
#include "tools/worker/client/library_subject.hpp"

namespace rope {
namespace {

struct Wrong {
  const char* mutant;
  const char* says;
};

// Part of a head turns, at a base that is not built in.
Case way(Pairing pairing) {
  Case c;
  c.spec.head_dim = 64;
  c.spec.rotary_dim = 48;
  c.spec.base = 500'000;
  c.spec.pairing = pairing;
  c.source = AngleSource::computed;
  return c;
}

std::string all_differences(const std::string& mutant, const Case& c) {
  const auto subject = open_library(build_folder() / "mutants.so", mutant);
  Oracles oracles;
  std::string text;
  for (const Difference& difference : differences(identify(*subject, c, oracles))) text += difference.words + "\n";
  return text;
}

void check_says(const std::vector<Wrong>& wrong, const Case& c) {
  CHECK(all_differences("none", c).empty());
  for (const auto& [mutant, says] : wrong) {
    INFO(mutant);
    CHECK_THAT(all_differences(mutant, c), Catch::Contains(says));
  }
}

TEST_CASE("identify: for a wrong kernel it says what the kernel computes", "[identify]") {
  check_says({{"PAIR-01", "rotates pairs (i, i+24) for i = 0 .. 23 where (2i, 2i+1) for i = 0 .. 23 is specified"},
              {"PAIR-03", "the two features of a pair turn by different angles"},
              {"SIGN-01", "the inverse rotation: every angle has the other sign"},
              {"SIGN-03", "cos and sin are exchanged"},
              {"SIGN-REFLECTION", "the minus is missing"},
              {"FREQ-01", "frequencies are others: base 10000"},
              {"FREQ-03", "base 500000 with the exponent of pair p -1"},
              {"FREQ-05", "base 500000 with exponent +2p/r, its sign lost"},
              {"FREQ-WITHOUT-TWO", "base 500000 with exponent -p/r, the 2 lost"},
              {"FREQ-OVER-HEAD-DIM", "exponents over head_dim 64, not rotary_dim 48"},
              {"PREC-01", "theta is rounded to bf16"},
              {"PREC-F16-THETA", "theta is rounded to f16"},
              {"PREC-05", "rounded to bf16"},
              {"PREC-BF16-POSITIONS", "positions are rounded to bf16: 257 is 256"},
              {"PREC-F32-POSITIONS", "positions are rounded to f32: 16777217 is 16777216"},
              {"POS-03", "given positions are ignored: every token is one further than the one before"},
              {"POS-07", "are taken for others: 11, 11, 11, 11, 12, 12, 12, 12 for 11, 12, 13, 14, 15, 23, 40, 47"},
              {"POS-11", "are taken for others: 11, 0, 12, 0, 13, 0, 14, 0 for"},
              {"POS-FROM-ONE", "positions begin at 1"},
              {"TAB-09", "positions start again at 0 from 2048 on"},
              {"PART-01", "(2i, 2i+1) for i = 0 .. 31 where (2i, 2i+1) for i = 0 .. 23 is specified"},
              {"PART-03", "nothing is rotated"},
              {"PART-05", "(2i, 2i+1) for i = 8 .. 31 where"},
              {"PART-UNWRITTEN", "features 48 .. 63 are not written"},
              {"PIPE-01", "as where rope is applied twice"},
              {"PIPE-05", "times log2(e)"},
              {"CUDA-REFILL", "positions are taken as given in a call of 8 tokens, and not in a longer one"},
              {"MEM-INPUT-WRITTEN", "wrote to the input q"}},
             way(Pairing::interleaved));
}

TEST_CASE("identify: wrong factors and axes", "[identify]") {
  Case c = way(Pairing::half_split);
  c.spec.rotary_dim = 64;
  c.spec.base = 10'000;
  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 4096;
  yarn.truncate = false;
  c.spec.scaling = yarn;
  c.spec.axes.sections = {8, 12, 12};
  c.spec.axes.order = AxisLayout::Order::interleaved;
  check_says({{"SCALE-FACTOR-IGNORED", "the attention factor is ignored"},
              {"PIPE-01", "the attention factor squared"},
              {"SCALE-YARN-TRUNCATE", "beta_fast 32, beta_slow 1, truncated, base 10000"},
              {"AXIS-01", "22 of 32 pairs follow another axis: pair 1 follows axis 0 where axis 1 is specified"},
              {"AXIS-03", "pair 1 follows axis 2 where axis 1 is specified"},
              {"AXIS-IGNORED", "21 of 32 pairs follow another axis"}},
             c);
}

TEST_CASE("identify: misuse of given tables", "[identify]") {
  Case c = way(Pairing::interleaved);
  c.source = AngleSource::tables;
  check_says({{"PAIR-03", "(other columns): pair 0 at position 0 is given sin[0][1] where sin[0][0] is specified"},
              {"PAIR-05", "sin where cos belongs"},
              {"SIGN-01", "(other signs)"},
              {"SIGN-03", "is given sin[0][0] where cos[0][0] is specified"},
              {"POS-FROM-ONE", "(other rows): pair 0 at position 0 is given cos[1][0] where cos[0][0] is specified"},
              {"TAB-09", "is given cos[1][0] where cos[2049][0] is specified"}},
             c);
  c.full_tables = true;
  c.spec.pairing = Pairing::half_split;
  check_says({{"TAB-HALVES", "pair 0 at position 0 is given sin[0][0] where sin[0][24] is specified"}}, c);
}

// Pairs (i, i+4) of a head of 8, with the frequencies of base 10000 times `scale`, and this angle at position 0.
ExecutedPlan measured_plan(double scale, double intercept) {
  ExecutedPlan plan;
  plan.way.spec.head_dim = plan.way.spec.rotary_dim = 8;
  plan.way.source = AngleSource::computed;
  plan.angle_noise = 1e-6;
  for (int p = 0; p < 4; ++p) {
    ExecutedPair pair;
    pair.features = {p, p + 4, p, p + 4, BlockKind::rotation};
    pair.theta = scale * std::pow(10000.0, -p / 4.0);
    pair.theta_error = 1e-9;
    pair.intercept = intercept;
    plan.pairs.push_back(pair);
    plan.structure.pairs.push_back(pair.features);
  }
  return plan;
}

TEST_CASE("identify: a constant added to every angle is a phase error", "[identify]") {
  CHECK(differences(measured_plan(1, 0)).empty());
  const std::vector<Difference> found = differences(measured_plan(1, 0.3));
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].bug_class == BugClass::phase);
  CHECK(found[0].words == "0.3 radians are added to every angle");
}

TEST_CASE("identify: a rule that most elements contradict is not named", "[identify]") {
  ExecutedPlan plan = measured_plan(0.9, 0);
  FrequencyRule rule;
  rule.spec = plan.way.spec;
  rule.spec.base = 20000;
  rule.words = "yarn, factor 0.1367962459";
  plan.rules.push_back(rule);
  plan.predicted = plan.predicted_right = 1536;
  CHECK_THAT(differences(plan).front().words, Catch::Contains("yarn"));
  plan.predicted_right = 25;
  const std::vector<Difference> found = differences(plan);
  CHECK(found[0].bug_class == BugClass::phase);
  for (const Difference& difference : found) CHECK_THAT(difference.words, !Catch::Contains("yarn"));
}

}  // namespace
}  // namespace rope
