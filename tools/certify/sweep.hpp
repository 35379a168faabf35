// A sweep: calls that can be counted, in a fixed order. Any range of them can be asked for, so the work is cut into
// blocks, and who does which block does not matter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/judge/case/case_list.hpp"

namespace rope::certify {

struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

struct Sweep {
  std::string kind;        // "positions"
  std::string over;        // what one element is: "position"
  Case base;               // what all elements have in common
  std::int64_t size = 0;   // elements
  std::int64_t block = 1;  // elements of a block; the last block may have fewer

  std::int64_t blocks() const { return (size + block - 1) / block; }
  Range range(std::int64_t of_block) const {
    const std::int64_t first = of_block * block;
    return {first, first + block < size ? block : size - first};
  }

  friend bool operator==(const Sweep&, const Sweep&) = default;
};

// "positions of f32, computed, half_split, linear"
std::string words_of(const Sweep& sweep);

// Whether they stand in the sweep's words, from the beginning of a word on.
bool has_words(const Sweep& sweep, std::string_view words);

// A call of a sweep, and how many of its elements it covers.
struct Part {
  Case c;
  std::int64_t elements = 1;
};

// What a person wants swept.
struct Request {
  Claims claims;
  std::vector<Selection> selections;                // one for each requested rope; without any, one that sweeps
  std::int64_t positions = std::int64_t{1} << 20;   // of each pair, from 0 on
  std::vector<std::string> kinds;                   // empty: all
  std::string only{};                               // words that a sweep must have; empty: all sweeps
};

// A kind of sweep. To add one: its file, and its row in kinds.cpp.
struct Kind {
  std::string_view name;
  std::string_view sentence;  // what is enumerated
  void (*propose)(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);
  std::vector<Part> (*parts)(const Sweep& sweep, Range range);  // in order
  bool may_flush = false;       // zeros are right in the place of subnormal numbers
  bool keeps_process = false;   // one process makes all calls of a block
};

std::span<const Kind> kinds();
const Kind& kind_called(std::string_view name);  // throws InputError

}  // namespace rope::certify
