// Crossing: cases between two others.
#pragma once

#include <rapidcheck/Random.h>

#include "tools/judge/case/case.hpp"

namespace rope {

// `one`, with each field by itself taken from `other` in `eighths` of eight draws. It may be a case that the claims do
// not cover, or none at all: see uncovered() and validate().
Case crossed(rc::Random& random, const Case& one, const Case& other, int eighths);

}  // namespace rope
