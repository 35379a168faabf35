// The call that shows best which tokens, heads and batches come out wrong.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// nullopt: no call failed by its values.
std::optional<WrongRows> wrong_rows(const Observations& seen);

}  // namespace rope::diagnosis
