#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tools/judge/case/poison.hpp"

namespace rope {
namespace {

TEST_CASE("poison differs from case to case, and no NaN of a computation looks like it", "[poison]") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    std::uint64_t plain = 0;
    store(dtype, &plain, std::nan(""));
    std::set<std::uint64_t> all;
    int numbers = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const std::uint64_t bits = poison(dtype, seed);
      CHECK(bits != plain);
      CHECK(bits == poison(dtype, seed));
      numbers += std::isnan(load(dtype, &bits)) ? 0 : 1;
      all.insert(bits);
    }
    if (size_of(dtype) == 2) CHECK(numbers == 0);
    if (size_of(dtype) > 2) CHECK((numbers > 60 && numbers < 140));  // 100 +- 4.6 standard deviations
    CHECK(all.size() > (dtype == DType::bf16 ? 50u : 200u));
  }
}

}  // namespace
}  // namespace rope
