// SubjectError: the thing under test could not be started. The message says what, where and what to do; the command
// prints it and exits with 3.
#pragma once

#include <stdexcept>

namespace rope {

class SubjectError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rope
