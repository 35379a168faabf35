// R of eq. 15 as a matrix: its entries, and the laws of a rotation that depends only on the distance.
#include "reference/naive_matrix.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <xtensor-blas/xlinalg.hpp>

#include "reference/rope_spec.hpp"
#include "reference/xtensor.hpp"

namespace rope {
namespace {

using Matrix = xt::xtensor<double, 2>;
using Vector = xt::xtensor<double, 1>;
using xt::linalg::dot;

Matrix matrix_of(const RotationMatrix& rotation) {
  return xt::adapt(rotation.entries, std::array<std::size_t, 2>{rotation.d, rotation.d});
}

Matrix R(const RotationPlan& plan, std::int64_t m) { return matrix_of(rotation_matrix(blocks_at(plan, {{m}}))); }

TEST_CASE("the matrix of eq. 15") {
  RotationPlan plan;
  plan.head_dim = 5;
  plan.pairs.push_back({0, 2, 0, Real(1)});
  plan.pairs.push_back({1, 3, 1, Real(0.5)});
  plan.lambda = 2;
  const std::int64_t position[] = {1, 3};
  const RotationMatrix rotation = rotation_matrix(blocks_at(plan, position));
  const double c0 = std::cos(1.0), s0 = std::sin(1.0), c1 = std::cos(1.5), s1 = std::sin(1.5);
  const Matrix expected = 2 * Matrix{{c0, 0, -s0, 0},  //
                                     {0, c1, 0, -s1},
                                     {s0, 0, c0, 0},
                                     {0, s1, 0, c1}};
  CHECK(xt::allclose(matrix_of(rotation), expected, 0, 1e-15));
  const Matrix backward = matrix_of(rotation_matrix(transposed(rotation.blocks)));
  CHECK((backward == xt::transpose(matrix_of(rotation))));

  const Matrix x = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  const std::vector<double> y = multiply(rotation, x, 5);
  const Matrix turned = {{1, 2, 3, 4}, {6, 7, 8, 9}};
  const Matrix product = dot(turned, Matrix(xt::transpose(expected)));
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < 4; ++i) CHECK(y[h * 5 + i] == Approx(product(h, i)));
    CHECK(y[h * 5 + 4] == x(h, 4));  // in no pair
  }
}

// Fails if the flag of ropecheck_xtensor (Dependencies.cmake) is lost: then the rank is 4.
TEST_CASE("an evaluated expression of xtensor keeps its rank") {
  const xt::xarray<double> a = {{1, 2}, {3, 4}};
  const auto twice = xt::eval(a * 2.0);
  CHECK(twice.dimension() == 2);
}

TEST_CASE("one product turns several heads") {
  RotationPlan plan;
  plan.head_dim = 2;
  plan.pairs.push_back({0, 1, 0, Real(0.25)});
  const std::int64_t position[] = {4};
  const double x[] = {1, 0, 0, 1, 1, 1};
  const std::vector<double> y = multiply(rotation_matrix(blocks_at(plan, position)), x, 2);
  const double c = std::cos(1.0);
  const double s = std::sin(1.0);
  const double expected[] = {c, s, -s, c, c - s, s + c};
  for (std::size_t i = 0; i < 6; ++i) CHECK(y[i] == Approx(expected[i]));
}

constexpr double u = 0x1p-53;

// The largest error of an entry of R(m): cos or sin rounded to double, u. Before that long double, as matrix_bound() of
// oracle_test.cpp derives it. No theta of these plans is above 1, so no angle is above |m|.
double entry_error(std::int64_t m) { return u + (std::fabs(static_cast<double>(m)) + 8) * 0x1p-63; }

// By elimination, because LAPACK is not in every build.
double determinant_of(Matrix a) {
  double determinant = 1;
  const std::size_t d = a.shape(0);
  for (std::size_t k = 0; k < d; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < d; ++i) {
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    }
    if (pivot != k) {
      for (std::size_t j = 0; j < d; ++j) std::swap(a(k, j), a(pivot, j));
      determinant = -determinant;
    }
    determinant *= a(k, k);
    for (std::size_t i = k + 1; i < d; ++i) {
      const double quotient = a(i, k) / a(k, k);
      for (std::size_t j = k; j < d; ++j) a(i, j) -= quotient * a(k, j);
    }
  }
  return determinant;
}

double largest(const Matrix& difference) { return xt::amax(xt::abs(difference))(); }

// How far the family R breaks each law, as a fraction of what its rounding allows: at most 1 for a right one.
struct Breach {
  double orthogonal, composed, determinant, relative;
};

template <class Family>
Breach breach_of(Family&& rotation, std::size_t d, std::int64_t m, std::int64_t n) {
  const Matrix Rm = rotation(m), Rn = rotation(n);
  const double em = entry_error(m), en = entry_error(n), sum = entry_error(m + n), apart = entry_error(n - m);
  const double root2 = std::sqrt(2.0);
  Breach breach{};

  // Each entry is c^2 + s^2 or c s - s c. Entries off by e cost 2 (|c| + |s|) e <= 2 sqrt(2) e. Two products and their
  // sum cost 2u. u/2 is above all terms of second order.
  const Matrix gram = dot(Matrix(xt::transpose(Rm)), Rm);
  breach.orthogonal = largest(gram - xt::eye<double>(d)) / (2 * root2 * em + 2.5 * u);

  // As above; each factor has its own error, and so has the entry compared with.
  const Matrix composed = dot(Rm, Rn);
  breach.composed = largest(composed - rotation(m + n)) / (root2 * (em + en) + sum + 2.5 * u);

  // Elimination stays inside the 2 x 2 blocks. For each block it rounds a quotient, a product, a difference and the two
  // products of the diagonal, 5u. The block's own determinant c^2 + s^2 is off by 2 sqrt(2) e.
  breach.determinant = std::fabs(determinant_of(Rm) - 1) / (static_cast<double>(d) / 2 * (2 * root2 * em + 5.5 * u));

  // <R_m q, R_n k> = <q, R_{n-m} k>. An entry error e costs sqrt(2) e |x| for a pair. With the rounding of its two
  // products and sum, R x is off by sqrt(2) (e sqrt(2) + 2u) |x|. Each inner product rounds at most d times.
  xt::random::seed(static_cast<unsigned>(d));
  const Vector q = xt::random::randn<double>({d}), k = xt::random::randn<double>({d});
  const Vector qm = dot(Rm, q), kn = dot(Rn, k), k_apart = dot(rotation(n - m), k);
  const double there = dot(qm, kn)(0), here = dot(q, k_apart)(0);
  const double scale = xt::linalg::norm(q) * xt::linalg::norm(k);
  const double of_products = root2 * (root2 * (em + en + apart) + 6 * u);
  breach.relative = std::fabs(there - here) / (scale * (of_products + (2 * static_cast<double>(d) + 1) * u));
  return breach;
}

RotationPlan plan_of(int d, Pairing pairing) {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = d;
  spec.pairing = pairing;
  return compile(spec, 1);
}

TEST_CASE("R is orthogonal with determinant 1, R_m R_n = R_{m+n}, and scores depend on n - m") {
  for (const int d : {2, 6, 64, 128}) {
    for (const Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
      const RotationPlan plan = plan_of(d, pairing);
      for (const auto& [m, n] : {std::pair{0, 0}, {1, 2}, {5, 3}, {1000, 7}, {40000, 90001}}) {
        INFO("d = " << d << ", m = " << m << ", n = " << n);
        const auto rotation = [&plan](std::int64_t position) { return R(plan, position); };
        const Breach breach = breach_of(rotation, static_cast<std::size_t>(d), m, n);
        CHECK(breach.orthogonal <= 1);
        CHECK(breach.composed <= 1);
        CHECK(breach.determinant <= 1);
        CHECK(breach.relative <= 1);
      }
    }
  }
}

TEST_CASE("a matrix that does not rotate, or of the wrong position, breaks the laws") {
  const RotationPlan plan = plan_of(6, Pairing::half_split);
  const auto longer = [&](std::int64_t m) { return Matrix(R(plan, m) * (1 + 1e-15)); };
  CHECK(breach_of(longer, 6, 5, 3).orthogonal > 1);
  CHECK(breach_of(longer, 6, 5, 3).determinant > 1);
  const auto reflected = [&](std::int64_t m) {
    Matrix matrix = R(plan, m);
    xt::row(matrix, 0) *= -1;
    return matrix;
  };
  CHECK(breach_of(reflected, 6, 5, 3).orthogonal <= 1);
  CHECK(breach_of(reflected, 6, 5, 3).determinant > 1);
  const auto one_late = [&](std::int64_t m) { return R(plan, m + 1); };
  CHECK(breach_of(one_late, 6, 5, 3).orthogonal <= 1);
  CHECK(breach_of(one_late, 6, 5, 3).composed > 1);
  CHECK(breach_of(one_late, 6, 5, 3).relative > 1);
}

}  // namespace
}  // namespace rope
