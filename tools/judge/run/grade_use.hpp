// Which grade a kernel keeps in each dtype, from the elements that were judged.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/judge/verdict/finding.hpp"

namespace rope {

// The kernel's measured precision in one dtype: the tightest grade that held in every case.
struct MeasuredGrade {
  DType dtype = DType::f32;
  std::string grade;   // "A1" .. "C3"; empty if not even C3 held, or if a requirement fails in this dtype
  double use = 0;      // of that grade's bound, or of C3's, by the worst element
};

class GradeUse {
 public:
  void add(DType dtype, const Finding& finding);
  void add(const GradeUse& other);
  // A dtype in which a requirement failed has no grade.
  std::vector<MeasuredGrade> measured(const std::set<DType>& failed) const;

 private:
  std::map<DType, PerGrade<double>> of_;  // the largest share of each grade's bound
};

}  // namespace rope
