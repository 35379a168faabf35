// ROT: what a rotation is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "reference/norm.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

// head_dims that kernels are specialised for, and some far from any power of two.
constexpr int head_dims[] = {64, 128, 2, 4, 6, 32, 80, 96, 160, 256, 512};

void accuracy_cases(CaseList& list) {
  for (int dim : head_dims) {
    const bool quick = list.level() == Level::quick;
    if (quick && dim > 128) continue;
    // Level quick takes every way at the usual head_dims. At each other one it takes a third of them, each time another
    // third.
    const bool usual = dim == 64 || dim == 128;
    int way = dim / 2;
    list.for_each_variant(dim, [&](Case c) {
      if (quick && !usual && way++ % 3 != 0) return;
      c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? (list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 1 : 2) : 0;
      c.start = 5;
      list.add(c);
      if (dim != 64) return;
      Case chunk = c;  // of a prompt: longer than a tile of 64 tokens, and not from position 0
      chunk.batch = chunk.heads = 1;
      chunk.key_heads = 0;
      chunk.seq = 70;
      chunk.start *= 120;
      list.add(chunk);
    });
  }
  list.add_random(400, [](Case&) {});
  list.add_pairwise();
}

void identity_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    c.seq = 1;
    list.add(c);
  });
  list.add_random(30, [](Case& c) {
    c.start = 0;
    c.seq = 1;
    c.form = PositionForm::offset;
    c.pattern = PositionPattern::consecutive;
    c.unequal_halves = false;
    c.sequence_length = 0;
  });
}

// At position 0 the exact result is the input itself, times lambda, so this needs no oracle.
Finding identity(const Case& c, Examiner& examiner) {
  const Trial trial = examiner.run(c);
  if (!trial.ok()) return trial.problem;
  Expectation expected = examiner.expectation(c, trial.call);
  Finding finding;
  const auto compare = [&](const char* name, const Tensor& input, const Tensor& output) {
    for_each_row(input, [&](const RowIndex& row, const std::byte*) {
      const RelatedRow y = related_row(trial, input, output, row, expected);
      for (std::size_t p = 0; p < expected.pairs(); ++p) {
        if (y.lost[p]) continue;
        for (int feature : {expected.first(p), expected.second(p)}) {
          const double before = expected.lambda() * value_at(input, row, feature);
          relate(finding, name, row, feature, p, before, y.value[static_cast<std::size_t>(feature)], y.pair_bound[p]);
        }
      }
    });
  };
  compare("q", trial.q, trial.call.q_result());
  if (trial.k) compare("k", *trial.k, trial.call.k_result());
  return told(finding, "results", "the result at position 0", "the input times the attention factor");
}

// Where an error of the angle hides most, so that only the norm shows that cos and sin belong to no angle.
void large_angle_cases(CaseList& list) {
  const bool quick = list.level() == Level::quick;
  const std::int64_t most = list.claims().capabilities.max_position;
  list.for_each_variant(64, [&](Case c) {
    if (c.source == AngleSource::tables || (quick && !list.representative().is_output_type_of(c))) return;
    std::vector<std::int64_t> starts{std::int64_t{1} << 19, most - 4};
    if (!quick) starts.insert(starts.end(), {std::int64_t{1} << 13, std::int64_t{1} << 16, std::int64_t{1} << 24});
    for (const std::int64_t start : starts) {
      // No further than the exact angles are made quickly.
      c.start = std::clamp<std::int64_t>(start, 0, std::int64_t{1} << 31);
      list.add(c);
    }
  });
}

void norm_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    c.start = 300;
    list.add(c);
  });
  large_angle_cases(list);
  list.add_random(60, [](Case& c) { c.unequal_halves = false; });
}

Finding norm(const Case& c, Examiner& examiner) {
  const Trial trial = examiner.run(c);
  if (!trial.ok()) return trial.problem;
  Expectation expected = examiner.expectation(c, trial.call);
  Finding finding;
  const auto compare = [&](const char* name, const Tensor& input, const Tensor& output) {
    for_each_row(input, [&](const RowIndex& row, const std::byte*) {
      const RelatedRow y = related_row(trial, input, output, row, expected);
      for (std::size_t p = 0; p < expected.pairs(); ++p) {
        if (y.lost[p]) continue;
        const double length = norm_of(y.value[static_cast<std::size_t>(expected.first(p))],
                                      y.value[static_cast<std::size_t>(expected.second(p))]);
        relate(finding, name, row, expected.first(p), p, y.pair_norm[p], length, y.norm_bound[p]);
      }
    });
  };
  compare("q", trial.q, trial.call.q_result());
  if (trial.k) compare("k", *trial.k, trial.call.k_result());
  return told(finding, "norms of pairs", "the norm of the output", "the norm of the input times the attention factor");
}

void lonely_cases(CaseList& list) {
  for (int dim : {64, 72}) {  // 36 pairs: vectors leave some over
    list.for_each_variant(dim, [&](Case c) {
      if (dim != 64 && !list.representative().is_output_type_of(c)) return;
      c.input = InputKind::lonely;
      c.seq = 8;
      list.add(c);
    });
  }
  list.add_random(60, [](Case& c) { c.input = InputKind::lonely; });
}

// The second rotation of a composition, and the single rotation that equals both.
Case second_of(const Case& c) {
  Case later = c;
  later.start = c.start + 3;
  return later;
}

Case sum_of(const Case& c) {
  Case sum = c;
  sum.start = c.start + second_of(c).start;
  return sum;
}

void composition_cases(CaseList& list) {
  const auto wanted = [&](const Case& c) { return uncovered(sum_of(c), list.claims()).empty(); };
  const auto shape = [](Case& c) {
    c.form = PositionForm::offset;
    c.pattern = PositionPattern::consecutive;
    c.out_dtype = c.dtype;
    c.in_place = false;
    c.unequal_halves = false;
    c.seq = 1;
    c.key_heads = 0;
    // A rule that follows the length would turn the three calls by different frequencies.
    c.sequence_length = 3000;
  };
  for (std::int64_t start : {1, 37, 600}) {
    list.for_each_variant(64, [&](Case c) {
      shape(c);
      c.start = start;
      if (wanted(c)) list.add(c);
    });
  }
  list.add_random(
      60,
      [&](Case& c) {
        shape(c);
        c.start = 1 + c.start % 1000;
      },
      wanted);
}

// R(a) R(b) = lambda R(a + b), with b = a + 3.
Finding composition(const Case& c, Examiner& examiner) {
  const Case later = second_of(c);
  const Case sum = sum_of(c);
  const Trial once = examiner.run(c);
  if (!once.ok()) return once.problem;
  Call call = examiner.build(later);
  call.q = once.call.q_result();
  const Trial twice = examiner.run(std::move(call));
  if (!twice.ok()) return twice.problem;
  const Trial direct = examiner.run(sum);
  if (!direct.ok()) return direct.problem;

  Expectation at_a = examiner.expectation(c, once.call);
  Expectation at_b = examiner.expectation(later, twice.call);
  Expectation at_sum = examiner.expectation(sum, direct.call);
  Finding finding;
  for_each_row(once.q, [&](const RowIndex& row, const std::byte*) {
    const RelatedRow a = related_row(once, once.q, once.call.q_result(), row, at_a);
    const RelatedRow b = related_row(twice, twice.q, twice.call.q_result(), row, at_b);
    const RelatedRow s = related_row(direct, direct.q, direct.call.q_result(), row, at_sum);
    const double lambda = at_a.lambda();
    for (std::size_t p = 0; p < at_a.pairs(); ++p) {
      if (a.lost[p] || b.lost[p] || s.lost[p]) continue;
      // The second rotation turns the first one's error vector and multiplies it by lambda.
      const double bound =
          std::fabs(lambda) * (std::numbers::sqrt2 * a.pair_bound[p] + s.pair_bound[p]) + b.pair_bound[p];
      for (int feature : {at_a.first(p), at_a.second(p)}) {
        const auto j = static_cast<std::size_t>(feature);
        relate(finding, "q", row, feature, p, lambda * s.value[j], b.value[j], bound);
      }
    }
  });
  return told(finding, "results", fmt::format("the result of rotating by {} and then by {}", c.start, later.start),
              fmt::format("the result of rotating by {}, times the attention factor,", sum.start));
}

void partial_cases(CaseList& list) {
  for (int dim : {64, 128, 80}) {
    list.for_each_variant(dim, [&](Case c) {
      for (int rotary : {c.spec.head_dim / 2, c.spec.head_dim / 4, c.spec.head_dim - 1}) {
        c.spec.rotary_dim = std::max(rotary / 2 * 2, 2);
        c.start = 3;
        list.add(c);
        if (rotary != c.spec.head_dim / 2) continue;
        Case scaled = c;  // the factor is for features that rotate
        scaled.spec.attention_factor = 0.75;
        list.add(scaled);
      }
    });
  }
  // The last feature of an odd head has no partner.
  for (const std::int32_t dim : list.claims().head_dims) {
    if (dim % 2 != 0) list.for_each_variant(dim, [&](const Case& c) { list.add(c); });
  }
  // Heads of models with latent attention: 64 features turn, the rest is 128 or 512 wide.
  for (int dim : {192, 576}) {
    list.for_each_variant(dim, [&](Case c) {
      if (c.spec.head_dim != dim || !list.representative().is_output_type_of(c)) return;
      const bool bf16 = list.claims().capabilities.out_dtypes[ROPE_BF16] != 0;
      const bool seen = bf16 ? c.dtype == DType::bf16 : list.representative().is_type_of(c);
      if (list.level() == Level::quick && (!seen || dim != 192)) return;
      c.spec.rotary_dim = 64;
      c.start = 33;
      list.add(c);
    });
  }
  list.add_random(
      60,
      [](Case& c) {
        c.spec.axes = {};
        c.spec.scaling = scaling::None{};
        c.spec.rotary_dim = c.spec.head_dim;
        turn_half(c.spec);
      },
      [](const Case& c) { return c.spec.rotary_dim < c.spec.head_dim; });
}

// Only the pass-through features, with values that arithmetic would not keep, such as -0 and subnormals. If the output
// has another type, a kernel that flushes subnormals to zero does so here too.
Finding pass_through(const Case& c, Examiner& examiner) {
  Call call = examiner.build(c);
  int count = 0;
  const double smallest = smallest_subnormal(c.dtype);
  const double tiny = c.dtype == c.out_dtype ? smallest : smallest / unit_roundoff(c.dtype) / 2;  // 2^emin
  for_each_row(call.q, [&](const RowIndex&, std::byte* data) {
    for (int j = 0; j < c.spec.head_dim; ++j) {
      if (j >= c.spec.rotary_offset && j < c.spec.rotary_offset + c.spec.rotary_dim) continue;
      const double values[] = {-0.0, tiny, largest_finite(c.dtype), 1.0};
      store(c.dtype, data + j * feature_step(call.q), values[count++ % 4]);
    }
  });
  const Trial trial = examiner.run(std::move(call));
  return examiner.judge(c, trial);
}

void written_cases(CaseList& list) {
  if (list.claims().always(ROPE_FEATURE_IN_PLACE)) return;  // nothing could be seen
  int way = 0;
  for (int dim : {128, 64, 256}) {
    ++way;
    list.for_each_variant(dim, [&](Case c) {
      if (list.level() == Level::quick && way++ % 3 != 0) return;  // each way at one of the head_dims
      c.seq = 33;
      c.heads = 3;
      list.add(c);
    });
  }
  list.add_random(30, [](Case& c) { c.in_place = false; });
}

// In place nothing can be seen: the input stands where the poison would.
Finding written(const Case& c, Examiner& examiner) {
  const Trial trial = examiner.run(c);
  if (!trial.ok()) return trial.problem;
  Finding finding;
  const auto look = [&](const char* name, const Tensor& output) {
    if (!output.poison) return;
    for_each_row(output, [&](const RowIndex& row, const std::byte*) {
      for (std::int64_t j = 0; j < output.shape[3]; ++j) {
        ++finding.compared;
        // A number may be a result.
        if (bits_at(output, row, j) != output.poison || !std::isnan(value_at(output, row, j))) continue;
        if (finding.wrong++ > 0) continue;
        finding.kind = FailureKind::unwritten;
        Element e;
        e.tensor = name;
        e.row = row;
        e.feature = j;
        e.dtype = output.dtype;
        e.actual = value_at(output, row, j);
        e.actual_bits = *output.poison;
        finding.element = e;
      }
    });
  };
  look("q", trial.call.q_result());
  if (trial.k) look("k", trial.call.k_result());
  return finding;
}

}  // namespace

std::span<const Requirement> rotation_requirements() {
  static constexpr Requirement requirements[] = {
      {"ROT-01",
       "Every output element MUST lie within the derived bound of the exact rotation.",
       "PAIR, SIGN, FREQ, SCALE, PREC, PART, HEAD, MEM, POS, PIPE",
       "head_dims, shapes and positions that are not in the case list",
       accuracy_cases,
       accuracy,
       0,
       nullptr,
       {.with_heatmap = true}},
      {"ROT-02", "At position 0 the output MUST be the input times the attention factor, within the bound.",
       "POS-15, SIGN-03, PAIR-05", "wrong frequencies: all are right at position 0", identity_cases, identity},
      {"ROT-03",
       "The norm of every output pair MUST be its input's times the attention factor, within a bound that no angle "
       "widens.",
       "PAIR-03, MEM-03, SCALE-07, PIPE-05, PREC", "rotations by a wrong angle: they keep the norm too", norm_cases,
       norm},
      {"ROT-04", "The output of a pair MUST depend on that pair only.", "PAIR, HEAD-01, NAN-01",
       "leaks that are smaller than the pair's own bound", lonely_cases, accuracy},
      {"ROT-08", "Rotating by position a and then by b MUST equal rotating by a + b, times the attention factor.",
       "FREQ, POS-01, SCALE", "wrong frequencies: they compose too", composition_cases, composition, 0, nullptr,
       with_calls(3)},
      {"ROT-09", "Features that do not rotate MUST be copied bit for bit, or rounded once to a narrower output type.",
       "PART, BWD-01, NAN-01", "kernels that claim no partial rotary", partial_cases, pass_through},
      {"ROT-10", "Every output element MUST be written, in the dtype that the call names.", "PREC-11, MEM-13, LIM",
       "calls in place, where the input stands in the output", written_cases, written},
  };
  return requirements;
}

}  // namespace rope
