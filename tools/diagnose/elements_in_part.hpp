// Rows in which only some elements are as a cause predicts: which ones?
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "tools/diagnose/literal.hpp"

namespace rope::diagnosis {

// One element stands for all in the same place of heads of the same shape.
class ElementsInPart {
 public:
  // The elements of a wrong row, in which all wrong ones are as predicted.
  void add(const SeenRow& row, const Prediction& said);

  // Where the wrong ones are. Empty if no place tells them from the others.
  Condition condition() const { return separate(listed(as_said_), listed(otherwise_)); }

  std::vector<Condition> others_as_good_as(const Condition& condition) const {
    return others_as_good(condition, listed(as_said_), listed(otherwise_));
  }

 private:
  using Places = std::map<std::tuple<std::int64_t, int, Pairing, int>, SeenRow>;

  static std::vector<SeenRow> listed(const Places& places);

  Places as_said_, otherwise_;
};

}  // namespace rope::diagnosis
