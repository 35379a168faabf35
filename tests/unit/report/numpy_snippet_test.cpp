#include "tools/report/numpy_snippet.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "impls/builtin.hpp"
#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"
#include "tools/judge/run/kernel_subject.hpp"

namespace rope {
namespace {

using Catch::Contains;

bool numpy_is_there() {
  const bool is = run_program({numpy_python(), "-c", "import numpy"}).exit_code == 0;
  if (!is) WARN("left out: Python's numpy is not installed (Debian package python3-numpy)");
  return is;
}

struct Numbers {
  double expected = 0, actual = 0, bound = 0;
};

// The results of the programs, each in its own namespace.
std::vector<Numbers> run_all(const std::vector<std::string>& programs) {
  const TemporaryFolder folder;
  Words command{numpy_python(), "-c",
                "import contextlib, io, runpy, sys\n"
                "for name in sys.argv[1:]:\n"
                "    with contextlib.redirect_stdout(io.StringIO()):\n"
                "        made = runpy.run_path(name)\n"
                "    print(*(float(made[key]).hex() for key in ('expected', 'actual', 'bound')))\n"};
  for (const std::string& program : programs) {
    const auto path = folder / (std::to_string(command.size()) + ".py");
    write(path, program);
    command.push_back(path.string());
  }
  const Result result = run_program(command);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  std::istringstream stream(result.out);
  std::vector<Numbers> all;
  for (std::string e, a, b; stream >> e >> a >> b;) {
    all.push_back({std::strtod(e.c_str(), nullptr), std::strtod(a.c_str(), nullptr), std::strtod(b.c_str(), nullptr)});
  }
  return all;
}

// The cases whose worst elements are printed: a few dozen, over everything that a program has to say.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* text :
       {"ROT-01:source=computed,start=1000", "ROT-01:source=computed,start=1073741824,pairing=interleaved",
        "ROT-01:source=computed,direction=backward", "ROT-01:source=computed,attention_factor=-0.75,start=77",
        "ROT-01:source=frequencies,start=1000", "ROT-01:source=frequencies,given=f64,direction=backward,start=7",
        "ROT-01:source=tables,start=50", "ROT-01:source=tables,given=bf16,start=50",
        "ROT-01:source=tables,given=f16,full_tables=1,start=50",
        "ROT-01:source=tables,given=f64,full_tables=1,unequal_halves=1,start=50",
        "ROT-01:source=tables,given=bf16,full_tables=1,unequal_halves=1,direction=backward,start=50"}) {
    for (const char* dtype : {"f64", "f32", "f16", "bf16"}) {
      Case c = case_from_text(text);
      c.dtype = c.out_dtype = *dtype_from_name(dtype);
      c.spec.head_dim = c.spec.rotary_dim = 16;
      all.push_back(c);
    }
  }
  return all;
}

Finding accuracy(const Case& c) {
  KernelSubject subject(c.spec.pairing == Pairing::half_split ? half_split_kernel() : interleaved_kernel());
  Oracles oracles;
  return Examiner(subject, oracles, nullptr).accuracy(c);
}

double reach(const Rotation& r) {
  double x[2];
  for (int i = 0; i < 2; ++i) x[i] = load(r.input, &r.bits[i]);
  return std::fabs(r.lambda) * std::hypot(x[0], x[1]) * r.angle.gain(r.backward);
}

TEST_CASE("numpy: every program gives the judge's numbers", "[numpy]") {
  if (!numpy_is_there()) return;
  std::vector<Finding> findings;
  std::vector<std::string> programs;
  for (const Case& c : cases()) {
    findings.push_back(accuracy(c));
    INFO(to_text(c));
    REQUIRE(findings.back().element.has_value());
    REQUIRE(numpy_snippet(findings.back(), c).has_value());
    programs.push_back(*numpy_snippet(findings.back(), c));
  }
  // One that differs from what the judge saw: the test must notice it.
  Finding other = findings[0];
  other.element->rotation->of_second = !other.element->rotation->of_second;
  findings.push_back(other);
  programs.push_back(*numpy_snippet(other, cases()[0]));

  const std::vector<Numbers> numbers = run_all(programs);
  REQUIRE(numbers.size() == programs.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    INFO(programs[i]);
    const Element& e = *findings[i].element;
    // cos, sin, each product, the sum and lambda are rounded once: 5 of u, times sqrt(2) for two products.
    const bool same = std::fabs(numbers[i].expected - e.expected) <= 5 * 1.42 * 0x1p-53 * reach(*e.rotation);
    CHECK(same == (i + 1 < numbers.size()));
    CHECK(numbers[i].actual == e.actual);
    CHECK(numbers[i].bound == e.bound);
  }
}

TEST_CASE("numpy: a program names the element's place, and holds its inputs", "[numpy]") {
  const Case c = case_from_text("ROT-01:source=frequencies,start=1000,head_dim=16,dtype=bf16,out_dtype=bf16");
  const Finding finding = accuracy(c);
  const std::string text = *numpy_snippet(finding, c);
  CHECK_THAT(text, Catch::StartsWith("# " + to_text(c) + "\n# q[batch 0, token "));
  CHECK_THAT(text, Contains("\nimport numpy as np\n\nx = (np.array([0x") && Contains(", np.uint32) << 16)"));
  CHECK_THAT(text, Contains("# radians a position, given in f32"));
  CHECK_THAT(text, Contains("\nbound = ") && Contains("\nattention_factor = 1."));  // fmt 9 writes 1.0, fmt 10 writes 1.
}

TEST_CASE("numpy: numbers that are not finite are words of numpy", "[numpy]") {
  if (!numpy_is_there()) return;
  const Case c = case_from_text("ROT-01:source=computed,head_dim=16");
  Finding finding = accuracy(c);
  finding.element->actual_bits = 0x7fc00000;
  finding.element->bound = INFINITY;
  const std::vector<Numbers> numbers = run_all({*numpy_snippet(finding, c)});
  CHECK(std::isnan(numbers.at(0).actual));
  CHECK(numbers.at(0).bound == INFINITY);
}

TEST_CASE("numpy: if no single element can be computed, it says why", "[numpy]") {
  Finding finding;
  CHECK_THAT(why_no_snippet(finding), Contains("compares bits"));
  finding.kind = FailureKind::crash;
  CHECK_FALSE(numpy_snippet(finding, {}).has_value());
  CHECK_THAT(why_no_snippet(finding), Contains("the call itself went wrong"));
  finding.kind = FailureKind::value;
  finding.element = Element{};
  CHECK_THAT(why_no_snippet(finding), Contains("outside of rotary_dim"));
  finding.kind = FailureKind::relation;
  CHECK_FALSE(numpy_snippet(finding, {}).has_value());
  CHECK_THAT(why_no_snippet(finding), Contains("compares results"));
}

}  // namespace
}  // namespace rope
