// InputError: the user's input is wrong. The message says what, where, what was expected and what to do. The command
// prints it and exits with 2.
#pragma once

#include <stdexcept>

namespace rope {

class InputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rope
