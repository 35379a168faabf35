// Deeds that C lacks: a C function must not let an exception out.
#include <exception>
#include <new>
#include <stdexcept>

#include "deeds.h"

namespace {

struct ThrowsAgain {
  ~ThrowsAgain() noexcept(false) { throw std::logic_error("again"); }
};

}  // namespace

int32_t throw_number(const rope_call*) { throw 7; }
int32_t throw_no_memory(const rope_call*) { throw std::bad_alloc(); }

int32_t throw_nested(const rope_call*) {
  try {
    throw std::runtime_error("inner");
  } catch (...) {
    std::throw_with_nested(std::out_of_range("outer"));
  }
}

int32_t throw_while_thrown(const rope_call*) {
  const ThrowsAgain last;
  throw std::runtime_error("once");
}
