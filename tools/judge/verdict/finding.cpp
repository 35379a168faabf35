#include "tools/judge/verdict/finding.hpp"

#include <algorithm>

namespace rope {

bool is_of_values(FailureKind kind) {
  return kind == FailureKind::value || kind == FailureKind::unwritten || kind == FailureKind::relation ||
         kind == FailureKind::repetition;
}

void Finding::merge(const Finding& other) {
  const bool worse = (passed() && !other.passed()) || (passed() == other.passed() && other.use > use);
  if (worse || !element) {
    if (other.element) element = other.element;
    use = std::max(use, other.use);
  }
  if (passed() && !other.passed()) {
    kind = other.kind;
    message = other.message;
    status = other.status;
    access = other.access;
    raised = other.raised;
  }
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      use_by_grade[a][w] = std::max(use_by_grade[a][w], other.use_by_grade[a][w]);
    }
  }
  compared += other.compared;
  graded += other.graded;
  wrong += other.wrong;
  source_mismatches += other.source_mismatches;
}

}  // namespace rope
