#include "tools/report/requirements_page.hpp"

#include <catch2/catch.hpp>

namespace rope {
namespace {

using Catch::Contains;

TEST_CASE("requirements page: it lists every requirement, under its family", "[requirements_page]") {
  const Requirement requirements[] = {
      {"REL-01", "A score MUST hold: <x, y>.", "POS-01", "much", nullptr, nullptr},
      {"ROT-01", "A pair MUST turn.", "PAIR-01", "little", nullptr, nullptr},
      {"ROT-02", "Bits SHOULD stay.", "PAIR-02", "less", nullptr, nullptr, Demand::bitwise | Demand::batch_invariant},
      {"ROT-03", "Nothing SHOULD break.", "ERR-01", "all", nullptr, nullptr, mask(Demand::batch_invariant)},
  };
  const std::string page = requirements_page(requirements);
  CHECK_THAT(page, Catch::StartsWith("# Requirements\n"));
  CHECK_THAT(page, Contains("| `bitwise` | relations between calls hold bit for bit, not only within the bound | "
                            "ROT-02 |\n"));
  CHECK_THAT(page, Contains(" what else is in the call | ROT-02, ROT-03 |\n"));
  CHECK_THAT(page, Contains("| `robust` | ") && Contains(" | none |\n"));
  CHECK_THAT(page, Contains("\n## ROT: Rotation\n\nHow one pair of features is rotated"));
  CHECK_THAT(page, Contains("\n### ROT-01\n\nA pair MUST turn.\n\n- force: MUST\n- answers: PAIR-01\n"
                            "- does not see: little\n\n### ROT-02\n\nBits SHOULD stay.\n\n"
                            "- force: SHOULD; MUST under `bitwise` or `batch-invariant`\n"));
  CHECK(page.find("## ROT: ") < page.find("## REL: "));
  CHECK_THAT(page, Contains("\nA score MUST hold: &lt;x, y&gt;.\n"));
  CHECK_THAT(page, !Contains("## POS: "));  // no requirement of this family was asked for
}

}  // namespace
}  // namespace rope
