// A call with a position that no kernel must serve, to which the kernel answered ok: what it made of that token.
#pragma once

#include <string>

#include "tools/judge/case/case.hpp"
#include "tools/judge/verdict/trial.hpp"

namespace rope {

// "left the token as it was". Empty if the case's fault is not one of positions. The trial's call has the fault.
std::string done_at_wrong_position(const Case& c, const Trial& trial, Oracles& oracles);

// Whether the case has a negative position and no tables, and the kernel turned that token by its negative angle.
bool turned_by_negative_angle(const Case& c, const Trial& trial, Oracles& oracles);

}  // namespace rope
