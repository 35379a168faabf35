#include "reference/embedded_seeds.hpp"

#include <algorithm>
#include <functional>

namespace rope {
namespace {

constexpr int limbs = Real::precision / 64;
static_assert(GMP_NUMB_BITS == 64, "embedded_seeds.inc holds significands of 64-bit limbs");

struct EmbeddedPair {
  double key;  // theta rounded to double: decides nearly every comparison without looking at the limbs
  mpfr_exp_t exponent;
  mp_limb_t significand[limbs];  // of theta, least significant first
  Angle seeds[seed_bits];
};

// The pairs of base 1e4, rotary_dim 128, theta falling. The pairs of rotary_dim 64, 32, .. are every second, fourth, ..
// one of these.
constexpr double embedded_base = 1e4;
constexpr int embedded_rotary_dim = 128;
constexpr EmbeddedPair embedded_pairs[] = {
#include "embedded_seeds.inc"
};
static_assert(std::size(embedded_pairs) == embedded_rotary_dim / 2);

// MPFR's custom interface: a number over limbs that it does not own and, being only read here, does not write.
void view_theta(const EmbeddedPair& pair, mpfr_ptr theta) {
  mpfr_custom_init_set(theta, MPFR_REGULAR_KIND, pair.exponent, Real::precision,
                       const_cast<mp_limb_t*>(pair.significand));
}

}  // namespace

std::span<const Angle> embedded_seeds(const Real& theta) {
  const auto found = std::ranges::lower_bound(embedded_pairs, theta.to_double(), std::greater<>(), &EmbeddedPair::key);
  if (found == std::end(embedded_pairs)) return {};
  mpfr_t candidate;
  view_theta(*found, candidate);
  if (mpfr_equal_p(theta.get(), candidate) == 0) return {};
  return found->seeds;
}

std::vector<Real> embedded_frequencies(double base, int rotary_dim) {
  if (base != embedded_base || rotary_dim < 2 || embedded_rotary_dim % rotary_dim != 0) return {};
  const auto stride = static_cast<std::size_t>(embedded_rotary_dim / rotary_dim);
  std::vector<Real> theta(static_cast<std::size_t>(rotary_dim / 2));
  for (std::size_t p = 0; p < theta.size(); ++p) {
    mpfr_t value;
    view_theta(embedded_pairs[p * stride], value);
    mpfr_set(theta[p].get(), value, MPFR_RNDN);
  }
  return theta;
}

}  // namespace rope
