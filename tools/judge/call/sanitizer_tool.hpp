// The tools of NVIDIA's compute-sanitizer, under which calls to a kernel on a CUDA device can be made.
#pragma once

#include <string>
#include <string_view>

namespace rope {

enum class SanitizerTool {
  none,
  memcheck,   // accesses outside of what was allocated, or not aligned
  racecheck,  // shared memory used by several threads without a barrier between
  synccheck,  // barriers that not all threads reach
  initcheck   // device memory that is read before anybody wrote to it
};

inline constexpr SanitizerTool sanitizer_tools[] = {SanitizerTool::memcheck, SanitizerTool::racecheck,
                                                    SanitizerTool::synccheck, SanitizerTool::initcheck};

// As on compute-sanitizer's own command line.
constexpr std::string_view name(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::none: return "none";
    case SanitizerTool::memcheck: return "memcheck";
    case SanitizerTool::racecheck: return "racecheck";
    case SanitizerTool::synccheck: return "synccheck";
    case SanitizerTool::initcheck: return "initcheck";
  }
  return "?";
}

// What a tool says of some calls.
struct SanitizerReport {
  bool decided = true;
  std::string words;  // what it found first, or why there is no report; empty: it found nothing

  bool is_clean() const { return decided && words.empty(); }
};

}  // namespace rope
