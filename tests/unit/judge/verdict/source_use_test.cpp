#include "tools/judge/verdict/source_use.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/golden/committed.hpp"

namespace rope {
namespace {

TEST_CASE("each source keeps its bound, and uses more than half of it", "[source_use]") {
  Oracles oracles;
  const std::vector<SourceUse> uses = judge_sources(committed(), oracles);
  CHECK(uses.size() >= 20);
  for (const SourceUse& use : uses) {
    INFO(use.package << " " << name(use.dtype) << " " << name(use.source) << ", worst " << use.worst);
    CHECK_FALSE(use.grade.empty());
    CHECK(use.use > 0.5);
    CHECK(use.use <= 1);
  }
}

TEST_CASE("a source that breaks the definition would exceed it", "[source_use]") {
  Manifest manifest = committed();
  std::erase_if(manifest.cases, [](const GoldenCase& c) { return c.conforms; });
  for (GoldenCase& c : manifest.cases) c.conforms = true;
  Oracles oracles;
  const std::vector<SourceUse> uses = judge_sources(manifest, oracles);
  REQUIRE_FALSE(uses.empty());
  for (const SourceUse& use : uses) {
    INFO(use.package << " " << name(use.dtype) << " " << name(use.source) << ", worst " << use.worst);
    if (use.source == AngleSource::computed) CHECK(use.grade.empty());
  }
}

}  // namespace
}  // namespace rope
