// The error model held against what others compute: the outputs that labml, Hugging Face and lucidrains made, judged as
// if a kernel had made them. No conforming case may exceed its bound, and a bound of which little is used is slack.
#pragma once

#include <string>
#include <vector>

#include "golden/manifest.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

struct SourceUse {
  std::string package;
  DType dtype = DType::f32;  // of the outputs
  AngleSource source = AngleSource::tables;
  std::size_t cases = 0;
  double use = 0;     // error / bound of the worst element, by the tightest grade that all these cases hold
  std::string grade;  // that grade; empty where not even C3 holds
  std::string worst;  // id of the case that used most of it
};

// One for each package, dtype and source of angles, over the conforming cases that the contract can express. Outputs
// that were printed are as good as their digits and tell nothing; frequencies with a constant of their own, larger than
// that of the rule's formula, are judged from the stored frequencies alone.
std::vector<SourceUse> judge_sources(const Manifest& golden, Oracles& oracles);

}  // namespace rope
