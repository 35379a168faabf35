// Oracles kept between cases, because making one costs milliseconds of MPFR and most cases share a few plans.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "reference/oracle.hpp"
#include "reference/rope_spec.hpp"
#include "tests/conformance/call.hpp"

namespace rope {

class Oracles {
 public:
  // The plan of a spec at a sequence length.
  Oracle& of(const RopeSpec& spec, std::int64_t sequence_length);

  // The plan with the frequencies that a call hands over, taken as exact. Pairs, axes and lambda are those of the call.
  Oracle& of_given_frequencies(const Call& call, int head_dim);

  // The tables that a case hands over, cos and sin, one row for each position up to the largest.
  using Tables = std::pair<Tensor, Tensor>;
  const Tables& tables(const std::string& key, const std::function<Tables()>& make);

 private:
  Oracle& keep(const std::string& key, const std::function<RotationPlan()>& make);
  std::map<std::string, std::unique_ptr<Oracle>> kept_;
  std::map<std::string, Tables> tables_;
  std::size_t table_bytes_ = 0;
};

}  // namespace rope
