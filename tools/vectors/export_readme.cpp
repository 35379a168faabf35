#include "tools/vectors/export_readme.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rope::vectors {
namespace {

bool is_empty(const CallRecord& call) {
  return std::ranges::any_of(call.outputs, [](const Array& a) { return std::ranges::find(a.shape, 0) != a.shape.end(); });
}

// The first call without elements, and how many there are.
std::string empty_calls(const Vectors& exported) {
  std::string first;
  std::int64_t count = 0;
  for (const CaseRecord& record : exported.cases) {
    for (const CallRecord& call : record.calls) {
      if (!is_empty(call)) continue;
      if (count++ == 0) first = call.id;
    }
  }
  if (count == 0) return "";
  return fmt::format(
      "- **Empty calls.** In {} of these calls batch, seq or heads is 0; the first is {}. Write an empty array of\n"
      "  the shape that is asked for. `cos` and `sin` may then have one row although there are more tokens, or none:\n"
      "  read a row of them only for an element of the output.\n",
      count, first);
}

}  // namespace

std::string readme_of(const Vectors& exported) {
  return fmt::format(
      "# Calls of ropecheck {}\n\n"
      "`manifest.json` lists {} calls for a kernel that rotates pairs of features by angles (RoPE). For each call, in\n"
      "the order of the file:\n\n"
      "1. Read the arrays under `inputs`, each from its `file`.\n"
      "2. Rotate `q`, and `k` if it is there, as `attrs` and the inputs say.\n"
      "3. Write each result to its `file` under `outputs`, with the `shape` and the `storage` given there.\n\n"
      "Then, where ropecheck is installed: `ropecheck vectors verify FOLDER`. The page docs/kernel-as-files.md of\n"
      "ropecheck defines the arrays, the attributes and the rotation. What is easily missed:\n\n"
      "- **Rows of tables.** Row m of `cos` and `sin` belongs to position m, not to token m. Token s is at position\n"
      "  `offset` + s, or where `positions` says.\n"
      "{}"
      "- **bf16** is stored as its 16 bits, in an array of `<u2`.\n"
      "- **Compute each call anew**, also if the same call came before, and all of them in one process.\n",
      exported.version, exported.calls(), empty_calls(exported));
}

}  // namespace rope::vectors
