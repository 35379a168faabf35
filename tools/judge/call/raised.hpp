// An exception that left a kernel.
#pragma once

#include <string>

namespace rope {

struct Raised {
  std::string what;         // its type and the first line of its message: "ValueError: no"
  std::string place = {};   // the kernel's line: "/home/me/rope.py:12"; empty if the worker does not say
  bool in_adapter = false;  // raised in the adapter between ropecheck and the kernel
};

}  // namespace rope
