#include "tools/judge/call/floating_point_mode.hpp"

#include <array>
#include <vector>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace rope {
namespace {

// Where the control bits are. Elsewhere than on x86-64 and AArch64 there are none, and nothing is compared.
#ifdef __x86_64__
constexpr std::uint64_t control = 0xffc0;  // the six bits below are the exceptions seen
constexpr std::uint64_t flush_to_zero = 0x8000, denormals_are_zero = 0x0040, exceptions = 0x1f80;
constexpr bool set_bit_masks = true;  // an exception whose bit is set does not trap
constexpr int rounding = 13;
constexpr std::array<const char*, 4> ways{"to nearest", "down", "up", "towards zero"};
#else
constexpr std::uint64_t control = 0x7ff9f07;  // FIZ, AH, NEP; traps; FZ16, rounding, FZ, DN, AHP
constexpr std::uint64_t flush_to_zero = 1 << 24, denormals_are_zero = 0, exceptions = 0x9f00;
constexpr bool set_bit_masks = false;
constexpr int rounding = 22;
constexpr std::array<const char*, 4> ways{"to nearest", "up", "down", "towards zero"};
#endif

const char* way_of(std::uint64_t bits) { return ways[bits >> rounding & 3]; }

// "a and b are on"
void add_switches(std::vector<std::string>& all, std::uint64_t before, std::uint64_t after) {
  for (const bool on : {true, false}) {
    const auto is_now = [&](std::uint64_t bit) { return bit != 0 && (on ? after & ~before : before & ~after) & bit; };
    const bool flush = is_now(flush_to_zero), inputs = is_now(denormals_are_zero);
    if (!flush && !inputs) continue;
    std::string text = flush ? "flush to zero" : "denormals-are-zero";
    if (flush && inputs) text += " and denormals-are-zero";
    text += flush && inputs ? " are " : " is ";
    all.push_back(text + (on ? "on" : "off"));
  }
}

}  // namespace

FloatingPointMode FloatingPointMode::current() {
  FloatingPointMode mode;
#if defined(__x86_64__)
  mode.vector_ = _mm_getcsr() & control;
  __asm__ volatile("fnstcw %0" : "=m"(mode.x87_));
#elif defined(__aarch64__)
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode.vector_));
  mode.vector_ &= control;
#endif
  return mode;
}

void FloatingPointMode::restore() const {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(vector_));
  __asm__ volatile("fldcw %0" : : "m"(x87_));
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(vector_));
#endif
}

std::string FloatingPointMode::changed_to(const FloatingPointMode& after) const {
  std::vector<std::string> all;
  add_switches(all, vector_, after.vector_);
  const std::uint64_t other = vector_ ^ after.vector_;
  if ((other >> rounding & 3) != 0) all.push_back(std::string("rounding is ") + way_of(after.vector_));
  if ((other & exceptions) != 0) {
    const std::uint64_t set = after.vector_ & ~vector_ & exceptions;
    all.push_back((set != 0) == set_bit_masks ? "exceptions are masked" : "exceptions are unmasked");
  }
  if (x87_ != after.x87_) all.push_back("the x87 control word is another one");
  if (all.empty() && other != 0) all.push_back("control bits are other ones");
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string breach_of_mode(const FloatingPointMode& before) {
  const std::string changed = before.changed_to(FloatingPointMode::current());
  if (changed.empty()) return "";
  before.restore();
  return "left the thread's floating-point mode changed: " + changed;
}

}  // namespace rope
