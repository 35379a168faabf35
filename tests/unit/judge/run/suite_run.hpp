// Runs of the suite with all requirements.
#pragma once

#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope::test {

inline SuiteOptions options(Level level = Level::quick) {
  SuiteOptions result;
  result.selection.level = level;
  return result;
}

inline SubjectReport run(Subject& subject, const SuiteOptions& how = options()) {
  Oracles oracles;
  return run_suite(subject, oracles, all_requirements(), how);
}

// "(not measured)" if no call had that dtype.
inline std::string grade_of(const SubjectReport& report, DType dtype) {
  for (const MeasuredGrade& measured : report.grades) {
    if (measured.dtype == dtype) return measured.grade;
  }
  return "(not measured)";
}

}  // namespace rope::test
