#include "tools/judge/verdict/finding.hpp"

#include <catch2/catch.hpp>

namespace rope {
namespace {

Finding found(FailureKind kind, double use, const char* tensor, std::int64_t wrong = 0) {
  Finding finding;
  finding.kind = kind;
  finding.use = use;
  finding.compared = 10;
  finding.wrong = wrong;
  finding.use_by_grade[1][2] = use;
  finding.element.emplace();
  finding.element->tensor = tensor;
  return finding;
}

TEST_CASE("of two passes the one that used more of its bound stays", "[finding]") {
  Finding q = found(FailureKind::none, 0.25, "q");
  q.merge(found(FailureKind::none, 0.75, "k"));
  CHECK(q.passed());
  CHECK(q.use == 0.75);
  CHECK(q.element->tensor == "k");
  CHECK(q.compared == 20);
  CHECK(q.use_by_grade[1][2] == 0.75);
  q.merge(found(FailureKind::none, 0.5, "q"));
  CHECK(q.use == 0.75);
  CHECK(q.element->tensor == "k");
}

TEST_CASE("a failure wins over a pass, in either order", "[finding]") {
  Finding first = found(FailureKind::none, 0.9, "q");
  first.merge(found(FailureKind::value, 3, "k", 2));
  CHECK(first.kind == FailureKind::value);
  CHECK(first.element->tensor == "k");
  CHECK(first.wrong == 2);
  Finding second = found(FailureKind::value, 3, "q", 2);
  second.merge(found(FailureKind::none, 0.9, "k"));
  CHECK(second.kind == FailureKind::value);
  CHECK(second.element->tensor == "q");
  CHECK(second.use == 3);
}

TEST_CASE("of two failures the worse element stays, and the first reason", "[finding]") {
  Finding finding = found(FailureKind::value, 3, "q", 1);
  finding.merge(found(FailureKind::unwritten, 7, "k", 4));
  CHECK(finding.kind == FailureKind::value);
  CHECK(finding.element->tensor == "k");
  CHECK(finding.use == 7);
  CHECK(finding.wrong == 5);
}

TEST_CASE("a failure without an element keeps its message", "[finding]") {
  Finding crash;
  crash.kind = FailureKind::crash;
  crash.message = "it is gone";
  Finding finding = found(FailureKind::none, 0.5, "q");
  finding.merge(crash);
  CHECK(finding.kind == FailureKind::crash);
  CHECK(finding.message == "it is gone");
  crash.merge(found(FailureKind::none, 0.5, "q"));
  CHECK(crash.kind == FailureKind::crash);
  CHECK(crash.message == "it is gone");
}

}  // namespace
}  // namespace rope
