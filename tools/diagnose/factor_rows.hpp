// The factors that a token's row is turned by, made as a changed model makes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/diagnose/model.hpp"

namespace rope::diagnosis {

// The positions of a call's tokens on each axis, as the call gives them.
class TokenPositions {
 public:
  explicit TokenPositions(const Call& call) : tokens_(call.q.shape[1]) {
    for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
      for (std::int64_t s = 0; s < tokens_; ++s) all_.push_back(token_position(call, b, s));
    }
    for (const std::vector<std::int64_t>& token : all_) {
      for (const std::int64_t m : token) largest_ = std::max(largest_, m);
    }
  }

  std::int64_t largest() const { return largest_; }  // 0 without tokens

  std::size_t index(std::int64_t batch, std::int64_t seq) const {
    return static_cast<std::size_t>(batch * tokens_ + seq);
  }
  const std::vector<std::int64_t>& of(std::int64_t batch, std::int64_t seq) const { return all_[index(batch, seq)]; }

 private:
  std::int64_t tokens_;
  std::vector<std::vector<std::int64_t>> all_;
  std::int64_t largest_ = 0;
};

class FactorRows {
 public:
  // All must outlive this. `params` are the changed ones.
  FactorRows(const Call& call, const Change& change, const Params& params, const TokenPositions& positions)
      : call_(call), change_(change), params_(params), positions_(positions) {}

  // As cos and sin are read or computed: Change::row, and the transpose of a backward pass, come later. A read beside a
  // table is noted in spot.outside.
  Row made(const RowContext& spot);

 private:
  std::vector<long double> theta(const RowContext& spot) const;
  std::vector<long double> positions_of(const RowContext& spot) const;  // on each axis
  int pair_of(int feature) const;
  int axis_of(int pair) const;
  void compute(const RowContext& spot, Row& row);
  void read_tables(const RowContext& spot, Row& row) const;

  const Call& call_;
  const Change& change_;
  const Params& params_;
  const TokenPositions& positions_;
  std::vector<long double> theta_;
};

}  // namespace rope::diagnosis
