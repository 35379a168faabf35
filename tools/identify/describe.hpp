// An executed plan in words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/identify/executed_plan.hpp"
#include "tools/bugs/bug_class.hpp"

namespace rope {

struct Difference {
  std::string words;                  // a sentence
  std::optional<BugClass> bug_class;  // nullopt if several classes of bugs make this difference
  bool is_open = false;               // it tells that something differs, but no rule for what is done instead
};

// How the plan differs from the request, the most telling difference first. Empty: not at all.
std::vector<Difference> differences(const ExecutedPlan& plan);

// (what, value) in reading order: pairs, features, direction, lambda, positions, theta, ..
std::vector<std::pair<std::string, std::string>> description(const ExecutedPlan& plan);

// How the kernel was called: "half_split, computed, f32, --head-dim 128 --base 10000".
std::string called(const ExecutedPlan& plan);

// "(i, i+64) for i = 0 .. 63"; "(0,3) (1,7) .." if there is no such form.
std::string pair_words(const std::vector<FeaturePair>& pairs);

// "0 .. 31, 64"
std::string index_words(const std::vector<int>& indices);

}  // namespace rope
