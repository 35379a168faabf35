#include "reference/scaling/kept_frequencies.hpp"

#include <catch2/catch.hpp>

namespace rope {
namespace {

TEST_CASE("kept frequencies belong to their rule and setting, whatever was asked before", "[scaling_rules]") {
  for (int round = 0; round < 2; ++round) {
    for (int dim = 2; dim <= 64; dim += 2) {
      for (const double factor : {2.0, 8.0}) {
        const Scaling rule = scaling::Linear{{}, factor};
        const scaling::Setting setting{64, dim, 1e4 * factor, 0};
        const std::vector<long double> expected = frequencies<long double>(rule, setting);
        CHECK(kept_frequencies(rule, setting) == expected);
        CHECK(kept_frequencies(scaling::None{}, setting) == frequencies<long double>(scaling::None{}, setting));
        CHECK(kept_frequencies(rule, setting) == expected);
      }
    }
  }
}

}  // namespace
}  // namespace rope
