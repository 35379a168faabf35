// What a compiler may make code for: the shapes and types of a call, and which rotation it is. Not its numbers.
#pragma once

#include <set>
#include <string>

#include "tools/judge/call/call.hpp"

namespace rope::worker {

// Equal for calls of one shape.
std::string shape_of(const Call& call);

// The shapes that a process has met.
class ShapesMet {
 public:
  bool is_new(const Call& call) { return shapes_.insert(shape_of(call)).second; }
  void forget() { shapes_.clear(); }

 private:
  std::set<std::string> shapes_;
};

}  // namespace rope::worker
