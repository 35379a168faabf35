// Scores, softmax weights and attended values of the golden files, each compared with what attention.hpp computes from
// the stored layer before it. With u = 2^-24 and n terms in a sum, errors of first order:
//
//     scores     n u sum |q||k|, and 2u of it where they are scaled: the factor is rounded, and multiplied (or divided
//                by) once. Masked scores are exactly -1e9, which is an f32. Where the case has masked_score, that is
//                added, and the sum rounded; f16 may overflow to -inf.
//     weights    w_i = e_i / sum e_j with e_i = exp(s_i - max). The difference is rounded, u |s_i - max|, exp is good
//                to an ulp, 2u: together d_i. The sum of n positive terms is off by sum w_j d_j + (n-1) u. The quotient
//                adds u, a reciprocal u: w_i (d_i + sum w_j d_j + (n+1) u). Far below the maximum both round to
//                half a subnormal step: 2^-149.
//     attended   n u sum w |v|
//
// In a 16-bit type, whose unit roundoff is v, each layer is rounded to it: the products of the scores and their scaled
// values by v each, weights and attended values by v. Below the smallest normal f16 that is half a step, 2^-25.
#include "tests/unit/golden/attention.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "reference/dtype.hpp"
#include "reference/rotation_plan.hpp"
#include "tests/unit/golden/arrays.hpp"
#include "tests/unit/golden/committed.hpp"

namespace {

using rope::as_column;
using rope::committed;
using rope::DType;
using rope::unit_roundoff;
using rope::GoldenCase;
using rope::Matrix;
using rope::TokenArray;
using rope::Vector;
using xt::linalg::dot;

constexpr double u = 0x1p-24;

// The arrays of a case, head by head; a head of k and v serves several of q.
class Attention {
 public:
  explicit Attention(const GoldenCase& golden) : golden_(golden), q_(tokens("q")) {}

  std::size_t batches() const { return q_.shape(0); }
  std::size_t seq() const { return q_.shape(1); }
  std::size_t heads() const { return q_.shape(2); }
  bool is_grouped() const { return tokens("k").shape(2) != heads(); }

  // [seq, head_dim]
  Matrix rows(const char* name, std::size_t batch, std::size_t head) const {
    const TokenArray all = tokens(name);
    return xt::view(all, batch, xt::all(), head / (heads() / all.shape(2)), xt::all());
  }
  DType dtype(const char* name) const { return golden_.find(name)->dtype; }
  // The unit roundoff of a 16-bit array; 0 for others, whose rounding the bounds of f32 have.
  double narrowed(const char* name) const { return dtype(name) == DType::f32 ? 0 : unit_roundoff(dtype(name)); }
  double tiny(const char* name) const { return dtype(name) == DType::f16 ? 0x1p-25 : 0x1p-133; }

  // [query, key]; for attended values [query, head_dim]
  Matrix made(const char* name, std::size_t batch, std::size_t head) const {
    return rope::head_of(committed(), golden_, name, batch, head);
  }

 private:
  TokenArray tokens(const char* name) const { return rope::tokens_of(committed(), golden_, name); }

  const GoldenCase& golden_;
  TokenArray q_;
};

// Largest error as a fraction of the bound.
double worst(const Matrix& actual, const Matrix& exact, const Matrix& bound) {
  const Matrix error = xt::abs(actual - exact);
  return xt::amax(xt::where(xt::equal(error, 0.0), 0.0, error / bound))();
}

double scores_use(const GoldenCase& golden, const Matrix& q, const Matrix& k, const Matrix& scores,
                  const std::optional<Matrix>& mask) {
  const Attention attention(golden);
  const double scale = golden.score_scale, roundings = static_cast<double>(q.shape(1)) + (scale == 1 ? 0 : 2);
  const double each = roundings * u + (scale == 1 ? 1 : 2) * attention.narrowed("scores");
  if (!golden.masked_score || !mask) {
    const Matrix reach = rope::attention_scores(xt::abs(q), xt::abs(k), scale, mask);  // -1e9 where it is masked
    return worst(scores, rope::attention_scores(q, k, scale, mask), xt::maximum(each * reach, 0.0));
  }
  const Matrix added = xt::where(xt::equal(*mask, 0), *golden.masked_score, 0.0);
  Matrix exact = added + rope::attention_scores(q, k, scale, std::nullopt);
  Matrix actual = scores;
  if (attention.dtype("scores") == DType::f16) {
    for (Matrix* matrix : {&exact, &actual}) *matrix = xt::maximum(*matrix, -65504.0);  // the sum may overflow
  }
  const Matrix bound = each * rope::attention_scores(xt::abs(q), xt::abs(k), scale, std::nullopt) +
                       unit_roundoff(attention.dtype("scores")) * xt::abs(added);
  return worst(actual, exact, bound);
}

double weights_use(const Attention& attention, const Matrix& scores, const Matrix& weights) {
  const Matrix exact = rope::softmax(scores);
  const Vector largest = xt::amax(scores, {1});
  const Matrix own = xt::where(xt::isinf(scores), 0.0, u * (as_column(largest) - scores + 2));
  const Vector shared = xt::sum(exact * own, {1});
  const double keys = static_cast<double>(scores.shape(1));
  const double narrowed = attention.narrowed("weights");
  const Matrix bound = exact * (own + as_column(shared) + (keys + 1) * u + narrowed) + attention.tiny("weights");
  return worst(weights, exact, bound);
}

double attended_use(const Attention& attention, const Matrix& weights, const Matrix& v, const Matrix& attended) {
  const Matrix reach = dot(Matrix(xt::abs(weights)), Matrix(xt::abs(v)));
  const double each = static_cast<double>(v.shape(0)) * u + attention.narrowed("attended");
  return worst(attended, dot(weights, v), each * reach + attention.tiny("attended"));
}

template <class Visitor>
void for_each_head(const Attention& attention, Visitor&& visit) {
  for (std::size_t b = 0; b < attention.batches(); ++b) {
    for (std::size_t h = 0; h < attention.heads(); ++h) visit(b, h);
  }
}

// The features of a plan's pairs, first ones and second ones, and theta in radians per position.
struct Pairs {
  std::vector<std::size_t> first, second;
  Vector theta;

  explicit Pairs(const rope::RotationPlan& plan) : theta(Vector::from_shape({plan.pairs.size()})) {
    for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
      first.push_back(static_cast<std::size_t>(plan.pairs[p].first));
      second.push_back(static_cast<std::size_t>(plan.pairs[p].second));
      theta(p) = plan.pairs[p].theta.to_double();
    }
  }
  // Of row m of x, one number for each pair.
  Vector firsts(const Matrix& x, std::size_t m) const { return xt::view(x, m, xt::keep(first)); }
  Vector seconds(const Matrix& x, std::size_t m) const { return xt::view(x, m, xt::keep(second)); }
  Vector norms(const Matrix& x, std::size_t m) const { return xt::hypot(firsts(x, m), seconds(x, m)); }
};

}  // namespace

TEST_CASE("golden files: scores, softmax and attended values follow from the stored outputs", "[golden]") {
  int with_scores = 0, with_weights = 0, with_mask = 0, grouped = 0;
  for (const GoldenCase& golden : committed().cases) {
    if (golden.find("scores") == nullptr || !golden.conforms) continue;
    INFO(golden.id);
    const Attention attention(golden);
    ++with_scores;
    with_weights += golden.find("weights") != nullptr;
    with_mask += golden.find("mask") != nullptr;
    grouped += attention.is_grouped();
    for_each_head(attention, [&](std::size_t b, std::size_t h) {
      std::optional<Matrix> mask;
      if (golden.find("mask") != nullptr) mask = attention.made("mask", b, h);
      const Matrix scores = attention.made("scores", b, h);
      CHECK(scores_use(golden, attention.rows("q_out", b, h), attention.rows("k_out", b, h), scores, mask) <= 1);
      if (golden.find("weights") == nullptr) return;
      const Matrix weights = attention.made("weights", b, h);
      CHECK(weights_use(attention, scores, weights) <= 1);
      CHECK(attended_use(attention, weights, attention.rows("v", b, h), attention.made("attended", b, h)) <= 1);
    });
  }
  CHECK(with_scores >= 7);
  CHECK(with_weights >= 2);
  CHECK(with_mask >= 1);
  CHECK(grouped >= 3);
}

// The heatmap has one query and one key at every position. Each output is off by b = u r ((C+1) phi + 2.87)
// (error_model.md). So two scores of one distance differ by at most twice the error that b and the sum allow.
TEST_CASE("golden files: the heatmap's scores depend on the distance, and on nothing else", "[golden]") {
  const GoldenCase& golden = *committed().find("published/report-heatmap");
  const Attention attention(golden);
  const Matrix scores = attention.made("scores", 0, 0);
  const std::size_t n = scores.shape(0);
  const Pairs pairs(rope::compile(golden.spec, golden.sequence_length));
  const Vector products = pairs.norms(attention.rows("q", 0, 0), 0) * pairs.norms(attention.rows("k", 0, 0), 0);
  const Vector phi = static_cast<double>(n - 1) * pairs.theta;
  const double sum = static_cast<double>(golden.spec.head_dim) + 2;
  const double bound = golden.score_scale * u * xt::sum(products * (2 * ((*golden.c + 1) * phi + 2.87) + sum))();
  const Matrix one_on = xt::view(scores, xt::range(std::size_t{1}, n), xt::range(std::size_t{1}, n));
  const Matrix before = xt::view(scores, xt::range(std::size_t{0}, n - 1), xt::range(std::size_t{0}, n - 1));
  CHECK(xt::amax(xt::abs(one_on - before))() <= 2 * bound);
  CHECK(std::fabs(scores(0, 0) - scores(0, 9)) > 100 * bound);
}

TEST_CASE("golden files: the derivation without the conjugate is rejected for the missing conjugate", "[golden]") {
  const GoldenCase& golden = *committed().find("published/notebook-inner-product");
  REQUIRE(golden.instead->rule == rope::GoldenRule::k_not_conjugated);
  const Attention attention(golden);
  const Pairs pairs(rope::compile(golden.spec, golden.sequence_length));
  const std::size_t seq = attention.seq();
  for_each_head(attention, [&](std::size_t b, std::size_t h) {
    const Matrix q = attention.rows("q", b, h), k = attention.rows("k", b, h), scores = attention.made("scores", b, h);
    CHECK(scores_use(golden, attention.rows("q_out", b, h), attention.rows("k_out", b, h), scores, {}) > 1000);

    // The printed formula, Re sum q k e^(i (m-n) theta), in double. In f32 the angle is off by (C+1) u phi, its sine
    // and cosine by 0.61 u each. Two complex products cost 3u each (Brent, Percival, Zimmermann 2007: sqrt(5) u). The
    // sum of the pairs costs as many u as there are pairs.
    Matrix exact = xt::zeros<double>({seq, seq}), bound = exact;
    for (std::size_t m = 0; m < seq; ++m) {
      for (std::size_t n = 0; n < seq; ++n) {
        const Vector a = pairs.firsts(q, m), c = pairs.seconds(q, m), d = pairs.firsts(k, n), e = pairs.seconds(k, n);
        const Vector phi = (static_cast<double>(m) - static_cast<double>(n)) * pairs.theta;
        exact(m, n) = xt::sum((a * d - c * e) * xt::cos(phi) - (a * e + c * d) * xt::sin(phi))();
        const double each = 0.87 + 6 + static_cast<double>(phi.size());
        bound(m, n) = u * xt::sum(pairs.norms(q, m) * pairs.norms(k, n) * ((*golden.c + 1) * xt::abs(phi) + each))();
      }
    }
    CHECK(worst(scores, exact, bound) <= 1);
  });
}
