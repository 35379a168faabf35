#include "tools/command/environment.hpp"

namespace rope {

std::span<const Variable> variables() {
  static constexpr Variable rows[] = {
      {"NO_COLOR", "if it is not empty: no colours, unless --color always is given"},
      {"TERM", "dumb: no colours and no line of progress"},
      {"ROPECHECK_PYTHON", "the interpreter for kernels in Python"},
      {"VIRTUAL_ENV", "the virtual environment whose interpreter is taken without ROPECHECK_PYTHON"},
      {"ROPECHECK_GOLDEN", "the folder of the golden files"},
  };
  return rows;
}

}  // namespace rope
