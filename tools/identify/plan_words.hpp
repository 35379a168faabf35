// Words for the parts of a plan, shared by its description and its differences.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "tools/identify/executed_plan.hpp"

namespace rope {

constexpr std::size_t most_listed = 6;  // pairs, features or groups; more are only counted

std::string kind_words(BlockKind kind);

// The number of pairs of each kind.
std::map<BlockKind, int> kinds(const ExecutedPlan& plan);

// "-sin[257][5]"
std::string entry_words(const TableEntry& entry);

}  // namespace rope
