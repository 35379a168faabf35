// An executed plan in words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/identify/executed_plan.hpp"
#include "tools/judge/run/bug_class.hpp"

namespace rope {

struct Difference {
  std::string words;                  // a sentence
  std::optional<BugClass> bug_class;  // nullopt where the difference is that of many bugs
};

// What the plan does otherwise than the call asked for, the most telling first. Empty: nothing.
std::vector<Difference> differences(const ExecutedPlan& plan);

// (what, value) in the order in which a person reads them: pairs, features, direction, lambda, positions, theta, ..
std::vector<std::pair<std::string, std::string>> description(const ExecutedPlan& plan);

// How the kernel was called: "half_split, computed, f32, --head-dim 128 --base 10000".
std::string called(const ExecutedPlan& plan);

// "(i, i+64) for i = 0 .. 63"; "(0,3) (1,7) .." where there is no such form.
std::string pair_words(const std::vector<FeaturePair>& pairs);

// "0 .. 31, 64"
std::string index_words(const std::vector<int>& indices);

}  // namespace rope
