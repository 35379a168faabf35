// Tests the error model on other libraries: judges the outputs of labml, Hugging Face and lucidrains as if a kernel had
// made them. No conforming case may exceed its bound. A bound of which little is used is slack.
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
  double use = 0;     // error / bound of the worst element, at the tightest grade that all these cases hold
  std::string grade;  // that grade; empty if not even C3 holds
  std::string worst;  // id of the case that used most of its bound
};

// One for each package, dtype and source of angles, over the conforming cases that the contract can express. Printed
// outputs are left out: they are only as good as their digits. Some frequencies have their own constant, larger than
// the constant of the rule's formula; these are judged only from the stored frequencies.
std::vector<SourceUse> judge_sources(const Manifest& golden, Oracles& oracles);

}  // namespace rope
