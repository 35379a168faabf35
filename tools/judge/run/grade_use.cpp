#include "tools/judge/run/grade_use.hpp"

#include <algorithm>

namespace rope {
namespace {

void merge(PerGrade<double>& use, const PerGrade<double>& other) {
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) use[a][w] = std::max(use[a][w], other[a][w]);
  }
}

// The tightest angle grade for which some arithmetic grade holds, then the tightest arithmetic grade.
MeasuredGrade tightest(DType dtype, const PerGrade<double>& use) {
  MeasuredGrade result{dtype, "", use.back().back()};
  for (std::size_t a = 0; a < angle_grades; ++a) {
    if (use[a].back() > 1) continue;
    const auto w = static_cast<std::size_t>(
        std::find_if(use[a].begin(), use[a].end(), [](double u) { return u <= 1; }) - use[a].begin());
    result.grade = name(Grade{static_cast<AngleGrade>(a), static_cast<ArithmeticGrade>(w)});
    result.use = use[a][w];
    return result;
  }
  return result;
}

}  // namespace

void GradeUse::add(DType dtype, const Finding& finding) {
  if (finding.graded > 0) merge(of_[dtype], finding.use_by_grade);
}

void GradeUse::add(const GradeUse& other) {
  for (const auto& [dtype, use] : other.of_) merge(of_[dtype], use);
}

std::vector<MeasuredGrade> GradeUse::measured(const std::set<DType>& failed) const {
  std::vector<MeasuredGrade> grades;
  for (const auto& [dtype, use] : of_) {
    grades.push_back(failed.contains(dtype) ? MeasuredGrade{dtype, "", use.back().back()} : tightest(dtype, use));
  }
  return grades;
}

}  // namespace rope
