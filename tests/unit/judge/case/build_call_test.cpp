#include "tools/judge/case/build_call.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/case/random_case.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope {
namespace {

Case any_runnable_case() {
  rc::Random random(*rc::gen::inRange<std::uint64_t>(0, UINT64_MAX));
  return *random_case(random, test::all_claims(), 100'000, [](Case&) {});
}

// The element numbers of a tensor's memory that its elements occupy.
std::vector<std::int64_t> elements(const Tensor& t) {
  std::vector<std::int64_t> result;
  for_each_row(t, [&](const RowIndex& row, const std::byte*) {
    for (std::int64_t j = 0; j < t.shape[3]; ++j) result.push_back(t.origin + row_offset(t, row) + j * t.strides[3]);
  });
  return result;
}

std::vector<double> row_values(const Tensor& t, const RowIndex& row) {
  std::vector<double> values;
  for (std::int64_t j = 0; j < t.shape[3]; ++j) values.push_back(value_at(t, row, j));
  return values;
}

TEST_CASE("tensors begin at the case's addresses, with nothing but canaries around them", "[build_call]") {
  const auto past = [](const Tensor& t) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(t.data()) % 64); };
  Oracles oracles;
  Case c;
  c.key_heads = c.heads;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    const int step = static_cast<int>(size_of(dtype));
    c.dtype = c.out_dtype = dtype;
    for (c.address = 0; c.address < 64; c.address += step) {
      for (c.output_address = 0; c.output_address < 64; c.output_address += step) {
        c.in_place = (c.address + c.output_address) / step % 3 == 0;
        const Call call = build_call(c, oracles);
        CHECK(past(call.q) == c.address);
        CHECK(past(*call.k) == c.output_address);
        CHECK(call.q.bytes.size() % 64 == 0);
        CHECK(call.q.bytes.size() < static_cast<std::size_t>(call.q.count()) * size_of(dtype) + 128);
        if (c.in_place) continue;
        CHECK(past(*call.q_out) == c.output_address);
        CHECK(past(*call.k_out) == c.address);
      }
    }
  }
}

TEST_CASE("tensors have the case's shapes, their elements do not overlap, and the rest is canary", "[build_call]") {
  rc::prop("for random cases", [] {
    const Case c = any_runnable_case();
    RC_LOG() << to_text(c);
    Oracles oracles;
    const Call call = build_call(c, oracles);
    const auto check = [&](const Tensor& t, DType dtype, int heads, bool is_output) {
      RC_ASSERT((t.dtype == dtype && t.shape == std::vector<std::int64_t>{c.batch, c.seq, heads, c.spec.head_dim}));
      const std::vector<std::int64_t> at = elements(t);
      const std::set<std::int64_t> distinct(at.begin(), at.end());
      RC_ASSERT(distinct.size() == static_cast<std::size_t>(t.count()));
      const std::size_t size = size_of(dtype);
      const auto room = static_cast<std::int64_t>(t.bytes.size() / size);
      RC_ASSERT((*distinct.begin() >= 0 && *distinct.rbegin() < room));
      bool clean = true, poisoned = true;
      const std::byte gap = is_output || c.in_place ? canary : input_canary;
      RC_ASSERT(t.poison.has_value() == is_output);
      const std::uint64_t pattern = t.poison.value_or(0);
      for (std::int64_t i = 0; i < room; ++i) {
        const std::byte* element = t.bytes.data() + static_cast<std::size_t>(i) * size;
        if (!distinct.contains(i))
          clean = clean && std::all_of(element, element + size, [&](auto b) { return b == gap; });
        if (distinct.contains(i)) poisoned = poisoned && std::memcmp(element, &pattern, size) == 0;
      }
      RC_ASSERT(clean);
      RC_ASSERT(poisoned == is_output);
    };
    check(call.q, c.dtype, c.heads, false);
    RC_ASSERT(call.k.has_value() == (c.key_heads > 0));
    RC_ASSERT(call.q_out.has_value() == !c.in_place);
    RC_ASSERT(call.k_out.has_value() == (c.key_heads > 0 && !c.in_place));
    if (call.k) check(*call.k, c.dtype, c.key_heads, false);
    if (call.q_out) check(*call.q_out, c.out_dtype, c.heads, true);
    if (call.k_out) check(*call.k_out, c.out_dtype, c.key_heads, true);
  });
}

TEST_CASE("gaps may be only in the strides of k, or of the tensors that give the angles", "[build_call]") {
  Case c;
  c.batch = c.key_heads = 2;
  c.form = PositionForm::per_batch;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  const std::vector<std::int64_t> dense{64, 16, 8, 1}, of_positions{8, 4, 1};
  Oracles oracles;
  c.layout = Layout::key_strided;
  Call call = build_call(c, oracles);
  CHECK(call.q.strides == dense);
  CHECK(call.q_out->strides == dense);
  CHECK(call.k->strides != dense);
  CHECK(call.k_out->strides != dense);
  CHECK(call.positions->strides == of_positions);
  CHECK(call.cos->strides[0] == call.cos->shape[1]);
  c.output = OutputLayout::contiguous;
  call = build_call(c, oracles);
  CHECK(call.k->strides != dense);
  CHECK(call.k_out->strides == dense);
  c.layout = Layout::contiguous;
  c.output = OutputLayout::key_strided;
  call = build_call(c, oracles);
  CHECK(call.k->strides == dense);
  CHECK(call.q_out->strides == dense);
  CHECK(call.k_out->strides != dense);
  c.layout = Layout::angles_strided;
  c.output = OutputLayout::as_input;
  call = build_call(c, oracles);
  for (const Tensor* tensor : {&call.q, &*call.k, &*call.q_out, &*call.k_out}) CHECK(tensor->strides == dense);
  CHECK(call.positions->strides[2] == 2);
  CHECK(call.cos->strides[0] > 2 * call.cos->shape[1]);
}

TEST_CASE("a gap may be only between batches, and strides may be unusual where they are not used", "[build_call]") {
  Case c;
  c.batch = c.key_heads = 2;
  c.heads = 4;
  c.seq = 3;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  Oracles oracles;
  c.layout = Layout::cached;
  Call call = build_call(c, oracles);
  CHECK(call.q.strides == std::vector<std::int64_t>{6 * 32, 32, 8, 1});
  CHECK(call.k->strides == std::vector<std::int64_t>{5 * 16, 16, 8, 1});
  CHECK(call.q_out->strides == call.q.strides);
  CHECK(call.q.bytes.size() == (6 * 32 + 3 * 32) * size_of(c.dtype));
  c.layout = Layout::loose_strides;
  c.batch = c.seq = 1;
  call = build_call(c, oracles);
  CHECK(call.q.strides == std::vector<std::int64_t>{65, 65, 8, 1});
  CHECK(call.q.bytes.size() == static_cast<std::size_t>(call.q.count()) * size_of(c.dtype));
}

TEST_CASE("only the output's features may be apart", "[build_call]") {
  Case c;
  c.key_heads = 1;
  c.output = OutputLayout::reversed;
  Oracles oracles;
  const Call call = build_call(c, oracles);
  CHECK(call.q.strides[3] == 1);
  CHECK(call.k->strides[3] == 1);
  CHECK(call.q_out->strides[3] == -2);
  CHECK(call.k_out->strides[3] == -2);
}

TEST_CASE("a call has its case's positions, in whatever form", "[build_call]") {
  rc::prop("for random cases", [] {
    const Case c = any_runnable_case();
    RC_LOG() << to_text(c);
    Oracles oracles;
    const Call call = build_call(c, oracles);
    const std::vector<std::int64_t> all = positions(c);
    RC_ASSERT(call.positions.has_value() == gives_positions(c.form));
    RC_ASSERT(call.seqlen_offsets.has_value() == gives_starts(c.form));
    RC_ASSERT(call.cu_seqlens.has_value() == is_packed(c.form));
    if (call.seqlen_offsets) RC_ASSERT(call.seqlen_offsets->dtype == c.position_dtype);
    if (call.seqlen_offsets) RC_ASSERT(call.position_offset == 0);
    if (call.positions) RC_ASSERT(call.positions->dtype == c.position_dtype);
    RC_ASSERT(call.sequence_length > *std::max_element(all.begin(), all.end()));
    for (int b = 0; b < c.batch; ++b) {
      for (int s = 0; s < c.seq; ++s) {
        const std::vector<std::int64_t> position = token_position(call, b, s);
        RC_ASSERT(position.size() == static_cast<std::size_t>(c.spec.axes.count()));
        for (int a = 0; a < c.spec.axes.count(); ++a) {
          RC_ASSERT(position[static_cast<std::size_t>(a)] ==
                    all[static_cast<std::size_t>((a * c.batch + b) * c.seq + s)]);
        }
      }
    }
  });
}

TEST_CASE("tables hold the cosines and sines of their rows' positions, rounded once", "[build_call]") {
  rc::prop("half and full width, unequal halves the next position's", [] {
    Case c = any_runnable_case();
    c.source = AngleSource::tables;
    c.full_tables = test::coin();
    c.unequal_halves = c.full_tables && test::coin();
    c.start %= 200;
    RC_LOG() << to_text(c);
    Oracles oracles;
    const Call call = build_call(c, oracles);
    RC_ASSERT(call.cos.has_value());
    RC_ASSERT(call.cos->dtype == c.given);
    const std::int64_t width = c.full_tables ? c.spec.rotary_dim : c.spec.rotary_dim / 2;
    RC_ASSERT((call.cos->shape == std::vector<std::int64_t>{largest_position(c) + 1 + c.spare_rows, width}));
    RC_ASSERT(call.sin->shape == call.cos->shape);
    const RotationPlan plan = compile(c.spec, sequence_length(c));
    const std::int64_t m = *rc::gen::inRange<std::int64_t>(0, call.cos->shape[0]);
    for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
      for (const bool second : {false, true}) {
        if (second && !c.full_tables) continue;
        const auto angle = static_cast<long double>(m + (second && c.unequal_halves ? 1 : 0)) *
                           mpfr_get_ld(plan.pairs[p].theta.get(), MPFR_RNDN);
        const std::int64_t column = !c.full_tables ? static_cast<std::int64_t>(p)
                                    : second       ? plan.pairs[p].second - c.spec.rotary_offset
                                                   : plan.pairs[p].first - c.spec.rotary_offset;
        const auto entry = [&](const Tensor& t) {
          const std::int64_t at = m * t.strides[0] + column * t.strides[1];
          return load(t.dtype, t.data() + at * static_cast<std::int64_t>(size_of(t.dtype)));
        };
        const auto error = [&](const Tensor& t, long double exact) {
          return static_cast<double>(std::fabs(static_cast<long double>(entry(t)) - exact));
        };
        // One rounding, half a subnormal, and the error of the angle in long double.
        const double bound = unit_roundoff(c.given) + smallest_subnormal(c.given) / 2 +
                             (static_cast<double>(std::fabs(angle)) + 2) * 0x1p-63;
        RC_ASSERT(error(*call.cos, std::cos(angle)) <= bound);
        RC_ASSERT(error(*call.sin, std::sin(angle)) <= bound);
      }
    }
  });
}

TEST_CASE("a call has its plan's lambda, axes and frequencies", "[build_call]") {
  rc::prop("for random cases", [] {
    const Case c = any_runnable_case();
    Oracles oracles;
    const Call call = build_call(c, oracles);
    const RotationPlan plan = compile(c.spec, sequence_length(c));
    RC_ASSERT(call.attention_factor == plan.lambda);
    RC_ASSERT(call.theta.has_value() == (c.source == AngleSource::frequencies));
    RC_ASSERT(call.cos.has_value() == (c.source == AngleSource::tables));
    RC_ASSERT(call.axis.has_value() == (c.spec.axes.count() > 1));
    if (c.source == AngleSource::computed) {
      RC_ASSERT((call.base == c.spec.base && call.scaling == c.spec.scaling));
    }
    for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
      if (call.axis) RC_ASSERT(load(DType::i32, call.axis->data() + p * 4) == plan.pairs[p].axis);
      if (!call.theta) continue;
      std::byte rounded[8] = {};
      store(c.given, rounded, plan.pairs[p].theta.to_double());
      RC_ASSERT(std::memcmp(rounded, call.theta->data() + p * size_of(c.given), size_of(c.given)) == 0);
    }
  });
}

TEST_CASE("inputs of each kind", "[build_call]") {
  Case c;
  c.spec.head_dim = 6;
  c.spec.rotary_dim = 4;
  c.seq = 3;
  c.heads = 2;
  const auto q = [&] {
    Oracles oracles;
    return build_call(c, oracles).q;
  };
  c.input = InputKind::unit;
  CHECK(row_values(q(), {0, 1, 1}) == std::vector<double>{1, 1, 0, 0, 1, 1});
  c.spec.pairing = Pairing::interleaved;
  CHECK(row_values(q(), {0, 1, 1}) == std::vector<double>{1, 0, 1, 0, 1, 1});

  c.input = InputKind::constant;
  const Tensor constant = q();
  CHECK(row_values(constant, {0, 0, 0}) == row_values(constant, {0, 2, 0}));
  CHECK(row_values(constant, {0, 0, 0}) != row_values(constant, {0, 0, 1}));

  c.input = InputKind::spread;
  const Tensor spread = q();
  CHECK(row_values(spread, {0, 0, 0}) != row_values(spread, {0, 2, 0}));
  for (const std::int64_t s : {0, 1, 2}) {
    for (const double value : row_values(spread, {0, s, 0}))
      CHECK((std::fabs(value) >= 0x1p-4 && std::fabs(value) < 16));
  }

  c.input = InputKind::repeated;  // token 1, head 0 is row 2; row 61 is the first one again
  CHECK(row_values(q(), {0, 1, 0}) == row_values(spread, {0, 1, 0}));
  Case many = c;
  many.heads = 2 * repeated_rows + 1;
  Oracles oracles;
  for (const Layout layout : {Layout::contiguous, Layout::strided}) {
    many.layout = layout;
    const Tensor repeated = build_call(many, oracles).q;
    CHECK(row_values(repeated, {0, 0, 5}) == row_values(repeated, {0, 0, repeated_rows + 5}));
    CHECK(row_values(repeated, {0, 0, 5}) == row_values(repeated, {0, 1, repeated_rows + 4}));
    for (int i = 1; i < repeated_rows; ++i)
      CHECK(row_values(repeated, {0, 0, 5}) != row_values(repeated, {0, 0, 5 + i}));
  }

  c.input = InputKind::lonely;  // token 1, head 0: (1 * 7 + 0) mod 2 = pair 1, features 2 and 3
  const std::vector<double> lonely = row_values(q(), {0, 1, 0});
  const std::vector<double> plain = row_values(spread, {0, 1, 0});
  for (std::size_t j = 0; j < 6; ++j) CHECK(lonely[j] == plain[j] * (j == 2 || j == 3 ? 1 : 1024));
}

TEST_CASE("q and k hold different numbers, and another seed others", "[build_call]") {
  Case c;
  c.key_heads = 2;
  Oracles oracles;
  const Call call = build_call(c, oracles);
  CHECK(call.q.bytes != call.k->bytes);
  CHECK(build_call(c, oracles).q.bytes == call.q.bytes);
  c.seed = 2;
  CHECK(build_call(c, oracles).q.bytes != call.q.bytes);
}

}  // namespace
}  // namespace rope
