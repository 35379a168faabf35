// Writes embedded_seeds.inc, the rows of embedded_pairs in embedded_seeds.cpp, to standard output. The build runs it.
// So these seeds come from the same MPFR code as all others, and the repository holds no numbers that have to be
// believed.
#include <cstdio>

#include "reference/embedded_seeds.hpp"
#include "reference/scaling/setting.hpp"

namespace {

void write(const rope::DoubleDouble& value) { std::printf("{%a, %a}", value.hi, value.lo); }

void write_pair(const rope::Real& theta) {
  std::printf("{%a, %ld, {", theta.to_double(), static_cast<long>(mpfr_custom_get_exp(theta.get())));
  const auto* limb = static_cast<const mp_limb_t*>(mpfr_custom_get_significand(theta.get()));
  for (int i = 0; i < rope::Real::precision / GMP_NUMB_BITS; ++i) std::printf("%#lxU, ", limb[i]);
  std::printf("}, {\n");
  for (int k = 0; k < rope::seed_bits; ++k) {
    const rope::Angle seed = rope::exact_angle(theta, std::uint64_t{1} << k);
    std::printf("  {");
    write(seed.cos);
    std::printf(", ");
    write(seed.sin);
    std::printf("},\n");
  }
  std::printf("}},\n");
}

}  // namespace

int main() {
  for (const rope::Real& theta : rope::scaling::unscaled(rope::Real(1e4), 128)) write_pair(theta);
}
