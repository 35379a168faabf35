// CaseList: the cases of one requirement for one subject at one level. Checks propose freely; the list keeps what the
// claims cover.
#pragma once

#include <rapidcheck/Random.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <vector>

#include "golden/manifest.hpp"
#include "reference/error_model.hpp"
#include "tools/judge/call/claims.hpp"
#include "tools/judge/call/stop.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/case/demand.hpp"
#include "tools/judge/case/representative.hpp"

namespace rope {

// The line of the standard that proposes a case. Its cases are one block.
using Proposal = std::source_location;

enum class Level { quick, full, exhaustive };

// The user's choices. What is not chosen is varied.
struct Selection {
  std::optional<RopeSpec> spec;             // judge exactly this variant
  bool any_pairing = false;                 // the spec with each claimed pairing, not only its own
  std::string layers;                       // of the model that has the spec; empty: all, or no model
  std::optional<std::int64_t> most_tokens;  // positions from here on are not tested
  std::optional<Pairing> pairing;
  std::optional<double> base;  // of every case; only without a spec
  std::vector<DType> dtypes;  // empty: all
  Level level = Level::full;
  std::uint64_t seed = 1;
  Grade grade;                    // C3 if none was demanded
  Demands demands = 0;            // beyond the MUSTs
  std::vector<std::string> only;  // ids of requirements, or families; empty: all

  bool wants(std::string_view requirement) const;

  // What is selected in place of a case's own spec.
  RopeSpec spec_for(RopeSpec own) const;
};

class CaseList {
 public:
  // `golden` may be null: then there are no golden files. Whatever adds random cases throws Interrupted once `stop` is
  // requested.
  CaseList(std::string_view requirement, Claims claims, Selection selection, const Manifest* golden,
           const Stop* stop = nullptr);

  const Claims& claims() const { return claims_; }
  Level level() const { return selection_.level; }
  const Manifest* golden() const {
    lacks_golden_ = golden_ == nullptr;
    return golden_;
  }
  const std::optional<RopeSpec>& spec() const { return selection_.spec; }  // if one was selected
  const Representative& representative() const { return representative_; }

  // Keeps the case if claims and selection cover it. A selected spec replaces the case's own. Golden cases keep their
  // own spec, and are kept only if the two agree.
  void add(Case c, Proposal at = Proposal::current());

  // Adds all cases; at level quick only one, in turn.
  void add_in_turn(std::size_t turn, std::vector<Case> cases, Proposal at = Proposal::current());
  // Adds one case that is kept, another one with each turn.
  void add_one_in_turn(std::size_t turn, std::vector<Case> cases, Proposal at = Proposal::current());

  // Whether add() would keep this case, as far as claims decide.
  bool covers(Case c) const;

  // Gives positions as a tensor, in the widest form and type that are claimed; unchanged if none is claimed.
  void give_positions(Case& c) const;

  // Proposes what `change` makes of every way to call the kernel: pairing x dtype x angle source x kind of table. Each
  // is a contiguous [2, 3, 2] tensor with a claimed head_dim, preferably `head_dim`. Unclaimed ways are left out. A
  // way that departs twice from the representative comes in one walk of three, at level quick one with another type or
  // width in one of two. The next walk, or another requirement, has the others; level exhaustive has all.
  void for_each_variant(int head_dim, const std::function<void(Case)>& change);

  // `count` random cases over everything that a case can hold (a tenth at level quick, ten times at exhaustive).
  // `change` adapts each to the requirement; cases that are not `wanted` are dropped.
  void add_random(int count, const std::function<void(Case&)>& change,
                  const std::function<bool(const Case&)>& wanted = {}, Proposal at = Proposal::current());

  // Of random cases of every size, those in which most circumstances meet for the first time. Level quick counts pairs
  // of circumstances, the others count triples (combinations.hpp).
  void add_pairwise(Proposal at = Proposal::current());

  // For a list that is asked only whether it has a case: the first one that is kept throws Found. Until then, the
  // reasons are counted why cases were dropped.
  struct Found {};
  void end_with_first() { ends_with_first_ = true; }
  std::string most_frequent_reason() const;  // empty if the claims dropped none
  bool lacks_golden() const { return lacks_golden_; }  // golden cases were wanted, and are not there

  const std::vector<Proposal>& proposals() const { return proposals_; }  // of the cases, in their order

  std::vector<Case> take() {
    cases_.shrink_to_fit();  // all requirements' cases together take much memory
    return std::move(cases_);
  }

 private:
  bool keep(Case c, const Proposal& at);
  bool selected(const Case& c) const;
  void give_rule(Case& c) const;
  void keep_to_claims(Case& c) const;
  static constexpr std::size_t most_walks = 3;
  std::size_t walks_for(const Case& way) const;  // in one of so many it is proposed
  std::uint64_t stream() const;
  rc::Random random() const;

  std::string requirement_;
  Claims claims_;
  Selection selection_;
  Representative representative_;
  const Manifest* golden_;
  const Stop* stop_;
  std::vector<Case> cases_;
  std::vector<Proposal> proposals_;
  std::set<std::string> seen_;
  bool ends_with_first_ = false;
  std::map<std::string, int> reasons_;
  mutable bool lacks_golden_ = false;
  std::uint64_t walks_ = 0;  // of for_each_variant
};

// Halves rotary_dim, in whole pairs, if all of the head turns. Returns false and changes nothing if only a part turns,
// or if the head is one pair.
bool turn_half(RopeSpec& spec);

// Smaller cases to try instead of one that fails, simplest change first.
std::vector<Case> simpler(const Case& c);

}  // namespace rope
