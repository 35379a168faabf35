// The calling thread's floating-point mode: how it rounds, what it does with subnormal numbers, which exceptions trap.
// The ABIs of x86-64 and AArch64 ask a function to leave it as it was.
#pragma once

#include <cstdint>
#include <string>

namespace rope {

class FloatingPointMode {
 public:
  static FloatingPointMode current();

  // Makes it the thread's mode again.
  void restore() const;

  // What a call changed, if the thread's mode was this one before: "flush to zero and denormals-are-zero are on".
  // Empty: nothing.
  std::string changed_to(const FloatingPointMode& after) const;

 private:
  std::uint64_t vector_ = 0;  // control bits of MXCSR or FPCR
  std::uint16_t x87_ = 0;     // control word
};

// Restores the mode after a call that changed it, and says what was changed; empty: nothing.
std::string breach_of_mode(const FloatingPointMode& before);

}  // namespace rope
