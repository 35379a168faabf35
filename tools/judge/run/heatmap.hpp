// Heatmap: the error of each pair at each position, in units of its bound. Calls of the suite's own fill it, so every
// kernel is asked the same. A measurement in every report; the verdict does not depend on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/examiner.hpp"
#include "tools/judge/run/grade_use.hpp"

namespace rope {

struct Heatmap {
  DType dtype = DType::f32;
  AngleSource source = AngleSource::computed;
  std::string call;                     // the first one, as text
  std::vector<std::int64_t> positions;  // where each column begins: 0, 1, 2, 4, ..
  // Of each pair, one share of the bound for each column: the worst one. None: no token had such a position.
  std::vector<std::vector<std::optional<double>>> use;
  MeasuredGrade grade;   // of these calls
  std::string problem;   // why a call gave no values; empty: all did
  std::int64_t calls = 0;
};

// One for each claimed dtype, with angles that the kernel makes if it can, else with tables. All together they make at
// most that many calls, but at least four each; some columns are left out for that.
std::vector<Heatmap> measure_heatmaps(Examiner& examiner, const Selection& selection, std::int64_t most_calls);

}  // namespace rope
