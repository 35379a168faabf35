// Keeps oracles between cases: making one costs milliseconds of MPFR, and most cases share a few plans.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference/oracle.hpp"
#include "reference/rope_spec.hpp"
#include "tools/judge/call/call.hpp"

namespace rope {

class Oracles {
 public:
  // The plan of a spec at a sequence length. The reference is valid until the next call; use shared() to keep it
  // longer.
  Oracle& of(const RopeSpec& spec, std::int64_t sequence_length) { return *shared(spec, sequence_length); }
  std::shared_ptr<Oracle> shared(const RopeSpec& spec, std::int64_t sequence_length);

  // C of each pair of that plan, for frequencies computed directly and by the loosest way (error_model.hpp).
  struct Constants {
    std::vector<double> direct, loosest;
  };
  const Constants& constants(const RopeSpec& spec, std::int64_t sequence_length);

  // The plan with a call's given frequencies, taken as exact. Pairs, axes and lambda are the call's.
  std::shared_ptr<Oracle> of_given_frequencies(const Call& call, int head_dim);

  // The tables that a case gives: cos and sin, one row for each position up to the largest.
  using Tables = std::pair<Tensor, Tensor>;
  struct TableKind {
    DType dtype;
    bool full_width, unequal_halves, padded_rows;
    auto operator<=>(const TableKind&) const = default;
  };
  // Adds rows to those that are there (without a shape: none).
  using MoreRows = std::function<Tables(const Tables& before, std::int64_t rows)>;
  // With that many rows, or more: cases that differ only in their positions share one. The reference is valid until the
  // next call.
  const Tables& tables(const RopeSpec& spec, std::int64_t sequence_length, const TableKind& kind, std::int64_t rows,
                       const MoreRows& make);

  // Forgets the tables if they take much memory.
  void give_back_memory();

 private:
  struct OfSpec {
    RopeSpec spec;
    std::int64_t length;  // 0 if the rule does not follow it
    std::shared_ptr<Oracle> oracle;
    std::optional<Constants> constants;
    std::map<TableKind, Tables> tables{};
  };

  void forget_tables(OfSpec& of);
  OfSpec& kept(const RopeSpec& spec, std::int64_t sequence_length);
  std::shared_ptr<Oracle> keep(const std::string& key, const std::function<RotationPlan()>& make);
  std::list<OfSpec> of_specs_;  // last used at the end: the plans of two compared calls stay while both are judged
  std::map<std::string, std::shared_ptr<Oracle>> kept_;
  std::size_t table_bytes_ = 0;  // of all specs
};

}  // namespace rope
