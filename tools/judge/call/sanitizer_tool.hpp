// The tools of NVIDIA's compute-sanitizer, which can watch calls to a kernel on a CUDA device.
#pragma once

#include <string>
#include <string_view>

namespace rope {

enum class SanitizerTool {
  none,
  memcheck,   // accesses outside of what was allocated, or not aligned
  racecheck,  // shared memory that several threads use without a barrier between
  synccheck,  // barriers that not all threads reach
  initcheck   // device memory that is read before it is written
};

inline constexpr SanitizerTool sanitizer_tools[] = {SanitizerTool::memcheck, SanitizerTool::racecheck,
                                                    SanitizerTool::synccheck, SanitizerTool::initcheck};

// The name on compute-sanitizer's command line.
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

// A tool's result for some calls.
struct SanitizerReport {
  bool decided = true;
  std::string words;  // the first problem, or why there is no report; empty: no problem

  bool is_clean() const { return decided && words.empty(); }
};

}  // namespace rope
