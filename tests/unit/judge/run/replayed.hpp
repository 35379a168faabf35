// Runs one case by the requirement that it names.
#pragma once

#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {

inline Finding replayed(const Case& c, Subject& subject, Oracles& oracles, const Manifest* golden,
                        Grade required = {}) {
  return replay(requirement_called(c.requirement), c, subject, oracles, golden, required);
}

}  // namespace rope
