// SPC: values that arithmetic treats specially.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/judge.hpp"

namespace rope {
namespace {

void non_finite_cases(CaseList& list) {
  for (int dim : {64, 22}) {  // 11 pairs: vectors of two, four and eight leave some over
    list.for_each_variant(dim, [&](Case c) {
      // At position 0 a kernel may leave the input as it is; then nothing spreads within a pair.
      c.start = 5;
      list.add(c);
      c.in_place = true;
      list.add(c);
      c.in_place = false;
      if (turn_half(c.spec)) list.add(c);
    });
  }
  // No position 0, as above, and no pair that a rule leaves as it is.
  list.add_random(
      60,
      [&](Case& c) {
        c.spec.scaling = scaling::None{};
        if (c.pattern == PositionPattern::scattered) c.pattern = PositionPattern::repeated;
        c.start = std::max<std::int64_t>(c.start, 5);
      },
      [](const Case& c) { return c.start > 0; });
}

void put(Tensor& tensor, const RowIndex& row, int feature, double value) {
  store(tensor.dtype, row_data(tensor, row) + feature * feature_step(tensor), value);
}

// A quiet NaN of all ones: rounding it to a narrower type as if it were a number makes it a zero or an infinity.
void put_nan(Tensor& tensor, const RowIndex& row, int feature) {
  const std::size_t size = size_of(tensor.dtype);
  const std::uint64_t bits = ~std::uint64_t{0} >> (65 - 8 * size);
  std::memcpy(row_data(tensor, row) + feature * feature_step(tensor), &bits, size);
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// A value that is put into one feature of a pair.
struct Plant {
  RowIndex row;
  std::size_t pair;
  std::array<int, 2> features;  // of the pair
  int planted;                  // the one of them that holds the value
  double value;
};

// The last feature that does not turn.
std::optional<int> passed_feature(const Case& c) {
  if (c.spec.rotary_dim == c.spec.head_dim) return std::nullopt;
  const bool ends_with_pairs = c.spec.rotary_offset + c.spec.rotary_dim == c.spec.head_dim;
  return ends_with_pairs ? c.spec.rotary_offset - 1 : c.spec.head_dim - 1;
}

std::vector<Plant> plants_of(const RowIndex& row, const Expectation& layout) {
  const std::size_t pairs = layout.pairs();
  const auto at = static_cast<std::size_t>(row.seq * 5 + row.head * 3 + row.batch);
  const auto plant = [&](std::size_t pair, bool in_first, double value) {
    const std::array<int, 2> features{layout.first(pair), layout.second(pair)};
    return Plant{row, pair, features, in_first ? features[0] : features[1], value};
  };
  if (pairs <= 5) return {plant(at % pairs, true, nan)};  // short heads have room for one
  return {plant(at % pairs, true, nan), plant((at + 2) % pairs, true, infinity),
          plant((at + 4) % pairs, false, -infinity)};
}

std::vector<Plant> plant_in(Tensor& tensor, std::optional<int> passed, const Expectation& layout) {
  std::vector<Plant> plants;
  const int first_passed = layout.turns(0) ? static_cast<int>(2 * layout.pairs()) : 0;  // it does not turn
  for_each_row(tensor, [&](const RowIndex& row, std::byte*) {
    for (const Plant& plant : plants_of(row, layout)) plants.push_back(plant);
    if (!passed) return;
    // Judged as a copy. If there is only one such feature, it holds the NaN.
    put(tensor, row, first_passed, infinity);
    put_nan(tensor, row, *passed);
  });
  for (const Plant& plant : plants) {
    if (std::isnan(plant.value)) {
      put_nan(tensor, plant.row, plant.planted);
    } else {
      put(tensor, plant.row, plant.planted, plant.value);
    }
  }
  return plants;
}

Element hidden_in(const char* name, const Tensor& output, const Plant& plant, int feature) {
  Element e;
  e.tensor = name;
  e.row = plant.row;
  e.feature = feature;
  e.pair = plant.pair;
  e.dtype = output.dtype;
  e.expected = plant.value;
  e.actual = value_at(output, plant.row, feature);
  store(e.dtype, &e.actual_bits, e.actual);
  e.error = infinity;
  return e;
}

// Both results of a pair must show what was planted in it.
void look_for_plants(Finding& finding, const char* name, const std::vector<Plant>& plants, const Tensor& output) {
  for (const Plant& plant : plants) {
    for (const int feature : plant.features) {
      const double y = value_at(output, plant.row, feature);
      const bool shows = std::isnan(plant.value) ? std::isnan(y) : !std::isfinite(y);
      ++finding.compared;
      if (shows || finding.wrong++ > 0) continue;
      finding.kind = FailureKind::relation;
      finding.use = infinity;
      finding.element = hidden_in(name, output, plant, feature);
    }
  }
}

Finding told_of_plants(Finding finding) {
  if (finding.kind != FailureKind::relation) return finding;
  const Element& e = *finding.element;
  finding.message = fmt::format(
      "{} of {} results do not show the NaN or infinity of their pair; the first is feature {}: {} where the "
      "pair holds {}",
      finding.wrong, finding.compared, e.feature, value_with_bits(e.dtype, e.actual), e.expected);
  return finding;
}

// Without the planted pairs, the rest is judged like any other result.
void clear_plants(const std::vector<Plant>& plants, std::optional<int> passed, Tensor& input, Tensor& output) {
  for (const Plant& plant : plants) {
    for (const int feature : plant.features) {
      put(input, plant.row, feature, 0);
      put(output, plant.row, feature, 0);
    }
  }
  if (!passed) return;
  for_each_row(input, [&](const RowIndex& row, std::byte*) {
    // If it is not a NaN now, it stays as it is, to be seen.
    if (!std::isnan(value_at(output, row, *passed))) return;
    put(input, row, *passed, 0);
    put(output, row, *passed, 0);
  });
}

// In every row of q and k one pair holds a NaN, one an infinity in its first feature, one in its second. The last
// pass-through feature holds a NaN, the first an infinity. The results of these pairs must show it; all else must be as
// without them. The NaN that passes through may become any NaN: a copy by way of another type may change its sign and
// payload (IEEE 754-2019, 6.2.3 and 6.3).
Finding contained(const Case& c, Examiner& examiner) {
  Call call = examiner.build(c);
  const std::optional<int> passed = passed_feature(c);
  const Expectation layout = examiner.expectation(c, call);
  const std::vector<Plant> in_q = plant_in(call.q, passed, layout);
  const std::vector<Plant> in_k = call.k ? plant_in(*call.k, passed, layout) : std::vector<Plant>{};
  const Trial trial = examiner.run(std::move(call));
  if (!trial.ok()) return trial.problem;
  Expectation expected = examiner.expectation(c, trial.call);
  Finding finding;
  const auto examine = [&](const char* name, const std::vector<Plant>& plants, Tensor input, Tensor output) {
    look_for_plants(finding, name, plants, output);
    if (!finding.passed()) return;
    clear_plants(plants, passed, input, output);
    finding.merge(judge_tensor(name, input, output, expected));
  };
  examine("q", in_q, trial.q, trial.call.q_result());
  if (trial.k && finding.passed()) examine("k", in_k, *trial.k, trial.call.k_result());
  return told_of_plants(finding);
}

void cases_with(CaseList& list, InputKind input) {
  for (int dim : {22, 128}) {
    list.for_each_variant(dim, [&](Case c) {
      c.input = input;
      c.start = 7;
      list.add(c);
    });
  }
  list.add_random(60, [&](Case& c) { c.input = input; });
}

void huge_cases(CaseList& list) { cases_with(list, InputKind::huge); }
void zero_cases(CaseList& list) { cases_with(list, InputKind::zero); }
void subnormal_cases(CaseList& list) { cases_with(list, InputKind::subnormal); }

void flushable_cases(CaseList& list) {
  list.for_each_variant(22, [&](Case c) {
    c.input = InputKind::subnormal;
    c.start = 7;
    list.add(c);
  });
  list.add_random(20, [](Case& c) { c.input = InputKind::subnormal; });
}

// The output with the exact results in the place of zeros.
Tensor without_flushed(const Tensor& input, Tensor output, Expectation& expected) {
  for_each_row(input, [&](const RowIndex& row, const std::byte*) {
    const auto mend = [&](int feature, double exact) {
      if (value_at(output, row, feature) == 0) put(output, row, feature, exact);
    };
    const std::vector<PairAngle>& angles = expected.angles(row.batch, row.seq);
    for (std::size_t p = 0; p < angles.size(); ++p) {
      const double a = value_at(input, row, expected.first(p)), b = value_at(input, row, expected.second(p));
      const ExactPair exact = rotate_exact(a, b, angles[p], expected.lambda(), expected.backward());
      mend(expected.first(p), exact.first.hi);
      mend(expected.second(p), exact.second.hi);
    }
    for (int j = 0; j < input.shape[3]; ++j) {
      if (!expected.turns(j)) mend(j, value_at(input, row, j));
    }
  });
  return output;
}

// A kernel that flushes makes every product here zero, so a result is the rotation or zero, and nothing between.
Finding rotated_or_flushed(const Case& c, Examiner& examiner) {
  const Trial trial = examiner.run(c);
  if (!trial.ok()) return trial.problem;
  Expectation expected = examiner.expectation(c, trial.call);
  Finding finding =
      judge_tensor("q", trial.q, without_flushed(trial.q, trial.call.q_result(), expected), expected);
  if (trial.k && finding.passed()) {
    finding.merge(judge_tensor("k", *trial.k, without_flushed(*trial.k, trial.call.k_result(), expected), expected));
  }
  return finding;
}

}  // namespace

std::span<const Requirement> special_requirements() {
  static constexpr Requirement requirements[] = {
      {"SPC-01", "A NaN or an infinity MUST appear in both results of its pair, and nowhere else.", "NAN-01",
       "which NaN comes out, and the sign of an infinity", non_finite_cases, contained},
      {"SPC-02", "Inputs up to half the largest number of their type MUST NOT overflow.", "PREC",
       "inputs whose exact result is out of range", huge_cases, accuracy},
      {"SPC-03", "Zeros MUST give zeros.", "NAN-01, MEM", "the sign of a zero", zero_cases, accuracy},
      {"SPC-04", "Subnormal inputs SHOULD be rotated like all others, and not flushed to zero.", "PREC",
       "subnormals that arise inside the kernel", subnormal_cases, accuracy, mask(Demand::robust)},
      {"SPC-05", "Subnormal inputs MUST be rotated, or give zeros.", "PREC, NAN-01",
       "a kernel that flushes: see SPC-04", flushable_cases, rotated_or_flushed},
  };
  return requirements;
}

}  // namespace rope
