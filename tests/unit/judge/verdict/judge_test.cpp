#include "tools/judge/verdict/judge.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "impls/builtin.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/case/poison.hpp"
#include "tools/judge/case/random_case.hpp"

namespace rope {
namespace {

// A call with exact answers in f64, whatever its input: from there a test changes single elements.
class Answered {
 public:
  explicit Answered(const Case& c, Grade required = {})
      : call_(build_call(c, oracles_)),
        q_(call_.q),
        k_(call_.k),
        expectation_(call_, c.spec, oracles_, {required}) {
    answer(q_, *call_.q_out);
    if (k_) answer(*k_, *call_.k_out);
  }

  Finding judge(UseHistogram* histogram = nullptr) { return judge_call(call_, q_, k_, expectation_, histogram); }

  // The bounds of a pair of q.
  PerGrade<double> bounds(const RowIndex& row, std::size_t pair) {
    const PairAngle angle = expectation_.angles(row.batch, row.seq)[pair];
    const double a = value_at(q_, row, expectation_.first(pair));
    const double b = value_at(q_, row, expectation_.second(pair));
    return expectation_.bounds(pair, angle.phi, expectation_.reach(a, b, angle));
  }
  std::byte* element(Tensor& output, const RowIndex& row, int feature) {
    return row_data(output, row) + feature * output.strides[3] * static_cast<std::int64_t>(size_of(output.dtype));
  }
  double get(const RowIndex& row, int feature) { return value_at(*call_.q_out, row, feature); }
  void set(const RowIndex& row, int feature, double value) {
    store(call_.q_out->dtype, element(*call_.q_out, row, feature), value);
  }
  Call& call() { return call_; }
  const Expectation& expectation() { return expectation_; }

 private:
  void answer(const Tensor& input, Tensor& output) {
    for_each_row(input, [&](const RowIndex& row, const std::byte*) {
      const std::vector<PairAngle> angles = expectation_.angles(row.batch, row.seq);
      for (std::size_t p = 0; p < angles.size(); ++p) {
        const int first = expectation_.first(p), second = expectation_.second(p);
        const ExactPair y = rotate_exact(value_at(input, row, first), value_at(input, row, second), angles[p],
                                         expectation_.lambda(), expectation_.backward());
        store(output.dtype, element(output, row, first), y.first.hi);
        store(output.dtype, element(output, row, second), y.second.hi);
      }
      for (int j = 0; j < input.shape[3]; ++j) {
        if (expectation_.turns(j)) continue;
        store(output.dtype, element(output, row, j), value_at(input, row, j));
      }
    });
  }

  Oracles oracles_;
  Call call_;
  Tensor q_;
  std::optional<Tensor> k_;
  Expectation expectation_;
};

Case small_case() {
  Case c;
  c.spec.head_dim = 12;
  c.spec.rotary_dim = 8;
  c.batch = 2;
  c.seq = 3;
  c.key_heads = 1;
  c.start = 20;
  c.source = AngleSource::computed;
  c.out_dtype = DType::f64;
  return c;
}

Case any_answerable_case() {
  rc::Random random(*rc::gen::inRange<std::uint64_t>(0, UINT64_MAX));
  Case c = *random_case(random, test::all_claims(), 100'000,
                        [](Case& drawn) { drawn.dtype = drawn.out_dtype = DType::f32; });
  c.out_dtype = DType::f64;  // fine enough to lie just inside and just outside a bound for f32
  c.in_place = false;
  return c;
}

RowIndex any_row(const Case& c) {
  return {*rc::gen::inRange<std::int64_t>(0, c.batch), *rc::gen::inRange<std::int64_t>(0, c.seq),
          *rc::gen::inRange<std::int64_t>(0, c.heads)};
}

TEST_CASE("the exact answer passes and uses almost none of any bound", "[judge]") {
  rc::prop("for random cases", [] {
    Answered answered(any_answerable_case());
    const Finding finding = answered.judge();
    RC_ASSERT(finding.passed());
    RC_ASSERT(finding.wrong == 0);
    // f64 holds the exact value to 2^-53 of it; the tightest bound for f32 is 2^-23 of the pair's norm.
    for (const auto& row : finding.use_by_grade) {
      for (const double use : row) RC_ASSERT(use <= 0x1p-29);
    }
  });
}

// Rows that repeat others are only compared with them; with a histogram each row is judged for itself.
TEST_CASE("rows that repeat are judged as if each stood for itself", "[judge]") {
  Case c = small_case();
  c.heads = 3 * repeated_rows;
  c.input = InputKind::repeated;
  c.out_dtype = DType::f32;
  const auto same_by_both_ways = [](Answered& answered) {
    UseHistogram histogram;
    const Finding finding = answered.judge(), each = answered.judge(&histogram);
    CHECK(finding.kind == each.kind);
    CHECK(finding.wrong == each.wrong);
    CHECK(finding.compared == each.compared);
    CHECK(finding.graded == each.graded);
    CHECK(finding.use == each.use);
    CHECK(finding.use_by_grade == each.use_by_grade);
    CHECK(finding.element->row.head == each.element->row.head);
    return finding;
  };
  Answered right(c);
  CHECK(same_by_both_ways(right).passed());
  for (const int head : {0, repeated_rows - 1, repeated_rows, 2 * repeated_rows + 1}) {
    CAPTURE(head);
    Answered wrong(c);
    wrong.set({1, 2, head}, 3, wrong.get({1, 2, head}, 3) + 1);
    CHECK(same_by_both_ways(wrong).wrong == 1);
  }
  Answered everywhere(c);  // in a row and in what repeats it
  for (int head = 2; head < c.heads; head += repeated_rows) everywhere.set({0, 0, head}, 1, 99);
  CHECK(same_by_both_ways(everywhere).wrong == 3);
  c.input = InputKind::spread;
  Answered other(c);  // the results of another row, whose input differs
  for (int feature = 0; feature < 8; ++feature)
    other.set({0, 0, repeated_rows}, feature, other.get({0, 0, 0}, feature));
  CHECK(same_by_both_ways(other).wrong > 0);
}

TEST_CASE("a value just inside a grade's bound holds at that grade, one just outside does not", "[judge]") {
  rc::prop("at every element", [] {
    const Case c = any_answerable_case();
    Answered answered(c);
    const RowIndex row = any_row(c);
    const auto pair = *rc::gen::inRange<std::size_t>(0, answered.expectation().pairs());
    const int feature = test::coin() ? answered.expectation().first(pair) : answered.expectation().second(pair);
    const auto a = *rc::gen::inRange<std::size_t>(0, angle_grades);
    const auto w = *rc::gen::inRange<std::size_t>(0, arithmetic_grades);
    const double sign = test::coin() ? 1 : -1;
    const PerGrade<double> bounds = answered.bounds(row, pair);
    const double exact = answered.get(row, feature);

    answered.set(row, feature, exact + sign * bounds[a][w] * (1 - 0x1p-20));
    Finding finding = answered.judge();
    RC_ASSERT(finding.passed());
    RC_ASSERT(finding.use_by_grade[a][w] <= 1);
    RC_ASSERT(finding.use_by_grade[a][w] > 1 - 0x1p-19);

    answered.set(row, feature, exact + sign * bounds[a][w] * (1 + 0x1p-20));
    finding = answered.judge();
    RC_ASSERT(finding.use_by_grade[a][w] > 1);
    const bool beyond_all = bounds[a][w] == bounds.back().back();
    RC_ASSERT(finding.passed() == !beyond_all);
    RC_ASSERT(finding.element.has_value());
    RC_ASSERT(finding.element->feature == feature);
    RC_ASSERT(finding.element->tensor == "q");
    RC_ASSERT(finding.wrong == (beyond_all ? 1 : 0));
  });
}

TEST_CASE("NaN and infinity never pass where a finite value is expected", "[judge]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (const int feature : {0, 7, 11}) {  // 11 passes through
      Answered answered(small_case());
      answered.set({1, 2, 0}, feature, value);
      const Finding finding = answered.judge();
      CHECK(finding.kind == FailureKind::value);
      CHECK(finding.wrong == 1);
      CHECK(finding.use == infinity);
      CHECK(finding.element->feature == feature);
      CHECK(finding.element->row.batch == 1);
      CHECK(finding.element->row.seq == 2);
      CHECK(finding.element->row.head == 0);
    }
  }
}

TEST_CASE("an infinite result is right where the exact one is larger than its type holds", "[judge]") {
  Case c = small_case();
  c.out_dtype = DType::f16;
  c.dtype = DType::f32;
  c.spec.attention_factor = 1e7;
  Answered answered(c);
  CHECK(answered.judge().passed());  // stored as infinities
  const double exact = value_at(*answered.call().q_out, {0, 0, 0}, 0);
  REQUIRE(std::isinf(exact));
  answered.set({0, 0, 0}, 0, -exact);
  CHECK_FALSE(answered.judge().passed());
  answered.set({0, 0, 0}, 0, largest_finite(DType::f16));
  CHECK_FALSE(answered.judge().passed());
}

TEST_CASE("a NaN is right only where products on the way may be too large", "[judge]") {
  const auto judged_with = [](double lambda, ArithmeticGrade grade) {
    Case c = small_case();
    c.dtype = DType::f32;
    c.out_dtype = DType::f16;
    c.spec.attention_factor = lambda;
    Answered answered(c, {AngleGrade::C, grade});
    answered.set({0, 0, 0}, 0, std::numeric_limits<double>::quiet_NaN());
    return answered.judge().passed();
  };
  CHECK(judged_with(1e7, ArithmeticGrade::three));
  CHECK_FALSE(judged_with(1e7, ArithmeticGrade::one));  // that kernel computes in f32
  CHECK_FALSE(judged_with(2, ArithmeticGrade::three));
}

TEST_CASE("nothing is asked where no double holds the exact result", "[judge]") {
  Case c = small_case();
  c.dtype = c.out_dtype = DType::f64;
  c.spec.attention_factor = 1e6;
  c.input = InputKind::huge;
  Answered answered(c);
  REQUIRE_FALSE(std::isfinite(answered.get({0, 0, 0}, 0)));
  CHECK(answered.judge().passed());
}

TEST_CASE("a bound that is NaN is an error of ours, not a verdict", "[judge]") {
  const Case c = small_case();
  Oracles oracles;
  Call call = build_call(c, oracles);
  call.attention_factor = std::numeric_limits<double>::quiet_NaN();
  Expectation expectation(call, c.spec, oracles);
  CHECK_THROWS_WITH(judge_call(call, call.q, call.k, expectation), Catch::Contains("the bound of pair 0 is NaN"));
}

TEST_CASE("unwritten elements are told apart from wrong ones", "[judge]") {
  Answered answered(small_case());
  fill_with_poison(*answered.call().q_out, 1);
  Finding finding = answered.judge();
  CHECK(finding.kind == FailureKind::unwritten);
  CHECK(finding.wrong == 144);    // 2 batches, 3 tokens, 2 heads, 12 features
  answered.set({0, 0, 0}, 0, 1);  // elsewhere still only unwritten
  finding = answered.judge();
  CHECK_FALSE(finding.passed());
}

TEST_CASE("a wrong element of k is found in k", "[judge]") {
  Answered answered(small_case());
  store(DType::f64, row_data(*answered.call().k_out, {0, 1, 0}), 100);
  const Finding finding = answered.judge();
  CHECK(finding.kind == FailureKind::value);
  CHECK(finding.element->tensor == "k");
  CHECK(finding.element->pair == 0u);
  CHECK(finding.element->position == 21);
  CHECK(finding.element->actual == 100);
  CHECK(finding.compared == 216);  // k's head is one more
}

std::byte* f32_element(Tensor& tensor, const RowIndex& row, std::ptrdiff_t feature) {
  return row_data(tensor, row) + feature * 4;
}

TEST_CASE("features that pass through are copied bit for bit", "[judge]") {
  Case c = small_case();
  c.out_dtype = DType::f32;
  c.key_heads = 0;
  const auto with = [&](auto change) {
    Oracles oracles;
    Call call = build_call(c, oracles);
    float zero = 0;
    std::memcpy(f32_element(call.q, {0, 0, 0}, 9), &zero, 4);
    const Tensor input = call.q;
    KernelSubject subject(half_split_kernel());
    subject.apply(call);
    change(call);
    Expectation expectation(call, c.spec, oracles);
    return judge_call(call, input, std::nullopt, expectation);
  };
  CHECK(with([](Call&) {}).passed());
  const Finding off = with([](Call& call) {
    std::byte* element = f32_element(*call.q_out, {1, 1, 1}, 8);
    store(DType::f32, element, std::nextafter(static_cast<float>(load(DType::f32, element)), 1e9F));
  });
  CHECK(off.kind == FailureKind::value);
  CHECK(off.element->feature == 8);
  CHECK_FALSE(off.element->pair.has_value());
  CHECK_FALSE(with([](Call& call) { store(DType::f32, f32_element(*call.q_out, {0, 0, 0}, 9), -0.0); }).passed());
}

}  // namespace
}  // namespace rope
