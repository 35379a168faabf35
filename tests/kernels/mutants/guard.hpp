// In which calls, and of which elements, a mutant is wrong: all literals hold. The diagnosis knows nothing of them; it
// finds the condition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/mutants/kernel.hpp"

namespace rope::mutants {

// Facts are 0 or 1. A place counts from 0.
enum class Of {
  backward,
  in_place,
  key,
  query,
  tables,
  interleaved,
  half_split,
  partial,
  given,
  own_positions,
  counted,  // facts
  dense_query,
  dense_query_out,
  expanded,
  out_of_place,
  dtype,
  head_dim,
  batches,
  tokens,
  heads,
  rule,
  largest_position,  // of the call
  batch,
  token,
  head,
  row,
  pair,
  passed,
  feature  // places
};

struct Literal {
  enum class Is { equal, at_least, at_most, left_over, last };  // left_over: beyond the last whole block of n
  Of of{};
  Is is = Is::equal;
  std::int64_t n = 1;
};

using Guard = std::vector<Literal>;

inline Literal from(Of of, std::int64_t n) { return {of, Literal::Is::at_least, n}; }
inline Literal up_to(Of of, std::int64_t n) { return {of, Literal::Is::at_most, n}; }
inline Literal left_over(Of of, std::int64_t block) { return {of, Literal::Is::left_over, block}; }
inline Literal last(Of of) { return {of, Literal::Is::last}; }

bool holds(const Guard& guard, const Place& at, int feature);

// Of the whole call: false if the guard names a place, q or k.
bool holds(const Guard& guard, const rope_call& call);

// "only in_place, token 65535 or more"; "" if nothing is asked.
std::string words_of(const Guard& guard);

}  // namespace rope::mutants
