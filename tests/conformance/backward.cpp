// BWD: the backward pass is the transpose of the forward one.
#include <cmath>
#include <numbers>

#include "reference/norm.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

void round_trip_cases(CaseList& list) {
  const auto shape = [](Case& c) {
    c.direction = Direction::backward;
    c.out_dtype = c.dtype;
    c.in_place = false;
    c.unequal_halves = false;
    c.key_heads = 0;
  };
  list.for_each_variant(64, [&](Case c) {
    shape(c);
    c.start = 77;
    list.add(c);
    c.seq = 1;  // many kernels have a separate path for it
    list.add(c);
  });
  list.add_random(60, shape);
}

// backward(forward(x)) = lambda^2 x.
Finding round_trip(const Case& c, Examiner& examiner) {
  Case forward = c;
  forward.direction = Direction::forward;
  const Trial out = examiner.run(forward);
  if (!out.ok()) return out.problem;
  Call call = examiner.build(c);
  call.q = out.call.q_result();
  const Trial back = examiner.run(std::move(call));
  if (!back.ok()) return back.problem;

  Expectation expected_out = examiner.expectation(forward, out.call);
  Expectation expected_back = examiner.expectation(c, back.call);
  const double square = expected_out.lambda() * expected_out.lambda();
  Finding finding;
  for_each_row(out.q, [&](const RowIndex& row, const std::byte*) {
    const RelatedRow y = related_row(out, out.q, out.call.q_result(), row, expected_out);
    const RelatedRow z = related_row(back, back.q, back.call.q_result(), row, expected_back);
    for (std::size_t p = 0; p < expected_out.pairs(); ++p) {
      if (y.lost[p] || z.lost[p]) continue;
      const double bound = std::fabs(expected_out.lambda()) * std::numbers::sqrt2 * y.pair_bound[p] + z.pair_bound[p];
      for (int feature : {expected_out.first(p), expected_out.second(p)}) {
        const double before = value_at(out.q, row, feature);
        relate(finding, "q", row, feature, p, square * before, z.value[static_cast<std::size_t>(feature)], bound);
      }
    }
  });
  return told(finding, "results", "the result of forward and then backward",
              "the input times the square of the attention factor");
}

void transpose_cases(CaseList& list) {
  const auto shape = [](Case& c) {
    c.direction = Direction::backward;
    c.key_heads = 0;
    c.in_place = false;
  };
  list.for_each_variant(64, [&](Case c) {
    shape(c);
    c.start = 77;
    list.add(c);
    c.unequal_halves = true;
    list.add(c);
    c.unequal_halves = false;
    c.seq = 1;  // many kernels have a separate path for it
    list.add(c);
  });
  list.add_random(60, shape);
}

// <R x, g> = <x, Rt g> for each row, x and g independent.
Finding transpose(const Case& c, Examiner& examiner) {
  Case forward = c;
  forward.direction = Direction::forward;
  // Other features at the same positions. Positions follow the seed too, so only q is taken from `other`.
  Case other = forward;
  other.seed = c.seed + 1;
  Call call = examiner.build(forward);
  call.q = examiner.build(other).q;
  const Trial fx = examiner.run(std::move(call));
  if (!fx.ok()) return fx.problem;
  const Trial bg = examiner.run(c);
  if (!bg.ok()) return bg.problem;
  Expectation expected_f = examiner.expectation(forward, fx.call);
  Expectation expected_b = examiner.expectation(c, bg.call);
  Finding finding;
  for_each_row(fx.q, [&](const RowIndex& row, const std::byte*) {
    const RelatedRow rx = related_row(fx, fx.q, fx.call.q_result(), row, expected_f);
    const RelatedRow rg = related_row(bg, bg.q, bg.call.q_result(), row, expected_b);
    if (rx.has_lost || rg.has_lost) return;
    long double left = 0, right = 0, bound = 0;
    for (int j = 0; j < c.spec.head_dim; ++j) {
      left += static_cast<long double>(rx.value[static_cast<std::size_t>(j)]) * value_at(bg.q, row, j);
      right += static_cast<long double>(rg.value[static_cast<std::size_t>(j)]) * value_at(fx.q, row, j);
      // Each product and each sum of both sides is rounded to long double.
      bound +=
          std::fabs(rx.value[static_cast<std::size_t>(j)] * value_at(bg.q, row, j)) * 4 * c.spec.head_dim * 0x1p-64;
    }
    for (int j = 0; j < c.spec.head_dim; ++j) {
      if (expected_f.turns(j)) continue;
      const double x = value_at(fx.q, row, j), g = value_at(bg.q, row, j);
      bound += std::fabs(g) * expected_f.copy_bound(x) + std::fabs(x) * expected_b.copy_bound(g);
    }
    for (std::size_t p = 0; p < expected_f.pairs(); ++p) {
      const double norm_x =
          norm_of(value_at(fx.q, row, expected_f.first(p)), value_at(fx.q, row, expected_f.second(p)));
      const double norm_g =
          norm_of(value_at(bg.q, row, expected_f.first(p)), value_at(bg.q, row, expected_f.second(p)));
      bound += std::numbers::sqrt2 * (rx.pair_bound[p] * norm_g + rg.pair_bound[p] * norm_x);
    }
    relate(finding, "q", row, 0, std::nullopt, static_cast<double>(left), static_cast<double>(right),
           static_cast<double>(bound), Compared::row);
  });
  return told(finding, "rows", "<x, backward(g)>", "<forward(x), g>");
}

void gradient_cases(CaseList& list) {
  const auto shape = [](Case& c) { c.direction = Direction::backward; };
  for (int dim : {64, 128}) {
    list.for_each_variant(dim, [&](Case c) {
      shape(c);
      list.add(c);
      if (turn_half(c.spec)) list.add(c);
    });
  }
  list.add_random(100, shape);
}

void parameter_cases(CaseList& list) {
  const auto shape = [](Case& c) {
    c.direction = Direction::backward;
    c.start = std::max<std::int64_t>(c.start, 9);
    c.spec.base = 500000;
  };
  list.for_each_variant(64, [&](Case c) {
    shape(c);
    list.add(c);
    if (!list.representative().is_type_of(c) || !list.representative().is_output_type_of(c)) return;
    if (c.spec.rotary_dim < 6) return;
    c.spec.axes.sections = {c.spec.rotary_dim / 2 - 2, 2};
    list.give_positions(c);
    list.add(c);
  });
  list.add_random(100, shape);
}

}  // namespace

std::span<const Requirement> backward_requirements() {
  static constexpr Requirement requirements[] = {
      {"BWD-01", "Backward after forward MUST give back the input, times the square of the attention factor.",
       "SIGN, BWD-05", "a mistake that both passes share", round_trip_cases, round_trip, 0, nullptr, with_calls(2)},
      {"BWD-02", "Backward MUST be the transpose of forward: <Rx, g> = <x, Rt g>.", "BWD-07, SIGN-01",
       "a mistake that both passes share", transpose_cases, transpose, 0, nullptr, with_calls(2)},
      {"BWD-03", "For any upstream gradient, the gradient MUST be within the bound, pass-through features included.",
       "BWD-01, BWD-03, BWD-07", "gradients of the frequencies", gradient_cases, accuracy},
      {"BWD-04", "Backward MUST use offset, base, scaling and pairing as forward does.", "BWD-05, SCALE-15",
       "parameters that the kernel does not claim", parameter_cases, accuracy},
  };
  return requirements;
}

}  // namespace rope
