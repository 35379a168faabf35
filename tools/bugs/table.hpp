// The table of bugs: every edit that real kernels had, or that is near to one, with its class and its words.
#pragma once

#include <string>
#include <vector>

#include "tools/bugs/bug_class.hpp"
#include "tools/bugs/edit.hpp"

namespace rope::bugs {

struct Row {
  Edit edit;
  BugClass bug_class{};
  std::string words;  // what the kernel computes instead
};

// All rows. Which calls or elements are concerned is not part of a row: the diagnosis finds it.
const std::vector<Row>& table();

// Throws std::logic_error if the table has no row with this edit.
const Row& row_of(const Edit& edit);

}  // namespace rope::bugs
