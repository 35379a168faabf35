// What came of one block: sums and maxima, so that results of blocks can be joined in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/certify/plan.hpp"
#include "tools/judge/verdict/finding.hpp"
#include "tools/judge/verdict/use_histogram.hpp"

namespace rope::certify {

// The element with the largest share of its bound.
struct Worst {
  double use = -1;    // below 0: none was compared
  std::string of;     // the call, as a case's text
  std::string place;  // in that call
};

struct BlockResult {
  std::int64_t block = 0;     // in the plan
  std::int64_t checked = 0;   // elements of the sweep whose call was judged
  std::int64_t not_claimed = 0;  // elements that the claims do not cover
  std::int64_t compared = 0;  // numbers
  std::int64_t wrong = 0;     // numbers beyond their bound
  PerGrade<double> use_by_grade{};
  UseHistogram histogram;
  Worst worst;
  std::optional<Json> failure;  // the first one of the block, with its minimal case

  // Of another block, which comes later in the plan.
  void add(const BlockResult& later);
};

Json to_json(const BlockResult& result);
BlockResult block_result_from_json(const Json& json, const std::string& where);  // throws InputError
// The first 16 digits of its sha256, without the block's number.
std::string short_digest(const BlockResult& result);

// JSON has no infinity; json_number() writes it as a word.
double number_from_json(const Json& json, const std::string& where);

}  // namespace rope::certify
