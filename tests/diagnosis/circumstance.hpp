// Circumstances: what is so about a row of a call. Bugs often show in some of them only, and which tells a lot.
#pragma once

#include <string>
#include <vector>

#include "tests/diagnosis/evidence.hpp"

namespace rope::diagnosis {

// A row that was seen, and how much it counts.
struct SeenRow {
  const Observation* seen = nullptr;
  std::size_t row = 0;
  double weight = 1;
  bool whole = false;  // the call as such: which of its rows is not known

  const RowKey& key() const { return seen->rows[row]; }
};

struct Circumstance {
  std::string words;  // "in place"
  bool (*holds)(const SeenRow&);
  bool of_row = false;  // not of the call
};
const std::vector<Circumstance>& circumstances();

// What is counted rather than being so or not.
struct Quantity {
  std::string words;  // "head_dim"
  std::int64_t (*of)(const SeenRow&);
  bool of_row = false;
};
const std::vector<Quantity>& quantities();

// One thing that must be so: a circumstance, or a quantity within limits.
struct Literal {
  std::string words;
  std::function<bool(const SeenRow&)> holds;
  bool counted = false;  // a quantity
  std::int64_t limit = 0;
};

// Few things that hold of all rows of `with` and of as few of `without` as possible.
std::vector<Literal> separate(const std::vector<SeenRow>& with, const std::vector<SeenRow>& without);

}  // namespace rope::diagnosis
