// CaseList: the cases of one requirement for one subject at one level. Checks propose freely; the list keeps what the
// claims cover.
#pragma once

#include <rapidcheck/Random.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "golden/manifest.hpp"
#include "reference/error_model.hpp"
#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/case/demand.hpp"
#include "tools/judge/case/representative.hpp"

namespace rope {

enum class Level { quick, full, exhaustive };

// What a person asked for; what is not given is swept.
struct Selection {
  std::optional<RopeSpec> spec;             // judge exactly this variant
  std::string layers;                       // of the model that has it; empty: all, or no model
  std::optional<std::int64_t> most_tokens;  // positions from here on are not asked for
  std::optional<Pairing> pairing;
  std::vector<DType> dtypes;  // empty: all
  Level level = Level::full;
  std::uint64_t seed = 1;
  Grade grade;                    // C3 where none was demanded
  Demands demands = 0;            // beyond the MUSTs
  std::vector<std::string> only;  // ids of requirements, or families; empty: all

  bool wants(std::string_view requirement) const;
};

class CaseList {
 public:
  // `golden` may be null: there are no golden files then.
  CaseList(std::string_view requirement, Claims claims, Selection selection, const Manifest* golden);

  const Claims& claims() const { return claims_; }
  Level level() const { return selection_.level; }
  const Manifest* golden() const { return golden_; }
  const std::optional<RopeSpec>& spec() const { return selection_.spec; }  // where one was selected
  const Representative& usual() const { return usual_; }

  // Keeps the case if claims and selection cover it. Where a spec was selected it takes the place of the case's own;
  // golden cases have theirs, and are kept where the two agree.
  void add(Case c);

  // Whether the claims cover this case, which a check may make of one that they do cover.
  bool covers(const Case& c) const;

  // Positions of a tensor, in the widest form and type that are claimed; as before where none is.
  void give_positions(Case& c) const;

  // Proposes what `change` makes of every claimed way to call the kernel: pairing x dtype x angle source x kind of
  // table, on a contiguous [2, 3, 2] tensor with a claimed head_dim, preferably `head_dim`. What is not claimed is left
  // out.
  void for_each_way(int head_dim, const std::function<void(Case)>& change);

  // `count` (at level full; a tenth at quick, ten times at exhaustive) random cases over all that a case can hold, each
  // made what the requirement needs by `change`, and kept where `wanted`.
  void add_random(int count, const std::function<void(Case&)>& change,
                  const std::function<bool(const Case&)>& wanted = {});

  // Of random cases of every size those in which most circumstances meet for the first time: pairs of them at quick,
  // three at a time above (combinations.hpp).
  void add_combined();

  std::vector<Case> take() { return std::move(cases_); }

 private:
  bool selected(const Case& c) const;
  rc::Random random() const;
  void select(Case& c) const;  // makes the spec and the pairing of a random case what a person asked for

  std::string requirement_;
  Claims claims_;
  Selection selection_;
  Representative usual_;
  const Manifest* golden_;
  std::vector<Case> cases_;
  std::set<std::string> seen_;
};

// Where all of the head turns: rotary_dim becomes half of it, in whole pairs. False, and nothing is changed, where it
// did not or where the head is one pair.
bool turn_half(RopeSpec& spec);

// Smaller cases to try in place of one that fails, simplest change first.
std::vector<Case> simpler(const Case& c);

}  // namespace rope
