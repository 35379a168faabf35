#include "tools/judge/case/case_list.hpp"

#include <algorithm>
#include <array>

#include "tools/judge/case/combinations.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/random_case.hpp"

namespace rope {
namespace {

// Of q and k of a random case. From level full on they may have more than a 16-bit index reaches.
std::int64_t most_elements(Level level) {
  switch (level) {
    case Level::quick: return 20'000;
    case Level::full: return 100'000;
    case Level::exhaustive: return 400'000;
  }
  return 0;
}

}  // namespace

bool Selection::wants(std::string_view requirement) const {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& wanted) {
           return requirement == wanted || requirement.substr(0, requirement.find('-')) == wanted;
         });
}

RopeSpec Selection::spec_for(RopeSpec own) const {
  const Pairing of_case = own.pairing;
  if (spec) own = *spec;
  if (any_pairing) own.pairing = of_case;
  own.pairing = pairing.value_or(own.pairing);
  own.base = base.value_or(own.base);
  return own;
}

CaseList::CaseList(std::string_view requirement, Claims claims, Selection selection, const Manifest* golden,
                   const Stop* stop)
    : requirement_(requirement),
      claims_(std::move(claims)),
      selection_(std::move(selection)),
      representative_(claims_, selection_.dtypes),
      golden_(golden),
      stop_(stop) {}

bool CaseList::selected(const Case& c) const {
  if (selection_.pairing && c.spec.pairing != *selection_.pairing) return false;
  if (selection_.base && c.spec.base != *selection_.base) return false;
  if (selection_.most_tokens && largest_position(c) >= *selection_.most_tokens) return false;
  const std::vector<DType>& dtypes = selection_.dtypes;
  return dtypes.empty() || std::find(dtypes.begin(), dtypes.end(), c.dtype) != dtypes.end();
}

// A kernel that does not claim `none` gets a scaling rule that it does claim. The rule does not follow the length of
// the sequence, because checks compare calls of different lengths. Lists of factors are cut to the case's pairs.
void CaseList::give_rule(Case& c) const {
  const std::uint32_t claimed = claims_.capabilities.scalings;
  if ((claimed & ROPE_BIT(ROPE_SCALING_NONE)) != 0 || c.source != AngleSource::computed || !c.golden.empty()) return;
  constexpr double length = 4096;
  const scaling::Setting setting{c.spec.head_dim, c.spec.rotary_dim, c.spec.base, 0};
  if (!std::holds_alternative<scaling::None>(c.spec.scaling)) {
    c.spec.scaling = for_pairs(c.spec.scaling, c.spec.rotary_dim / 2);
    if (goes_with(c.spec.scaling, setting)) return;
    c.spec.scaling = scaling::None{};  // no case at all, unless another rule fits
  }
  for (const auto& [rule, base] : example_rules(setting, length)) {
    if ((claimed >> rule.index() & 1u) == 0 || follows_length(rule)) continue;
    c.spec.scaling = rule;
    const bool any_factor = claims_.has(ROPE_FEATURE_ATTENTION_FACTOR);
    if (!any_factor && attention_factor<double>(rule, setting) != 1) c.spec.attention_factor = 1;
    return;
  }
}

void CaseList::keep_to_claims(Case& c) const {
  if (!c.golden.empty()) return;  // its arrays are what they are
  if (!selection_.spec) keep_spec_to_claims(c, claims_);
  keep_call_to_claims(c, claims_);
  const bool counts = c.form == PositionForm::offset || c.form == PositionForm::cu_seqlens;
  if (!counts || claims_.has(ROPE_FEATURE_OFFSET)) return;
  c.start = 0;
  for (EarlierCall& earlier : c.before) earlier.start = 0;
}

bool CaseList::covers(Case c) const {
  if (!selection_.spec) give_rule(c);
  keep_to_claims(c);
  return uncovered(c, claims_).empty();
}

void CaseList::add(Case c, Proposal at) { keep(std::move(c), at); }

void CaseList::add_in_turn(std::size_t turn, std::vector<Case> cases, Proposal at) {
  if (level() == Level::quick) return add_one_in_turn(turn, std::move(cases), at);
  for (Case& c : cases) keep(std::move(c), at);
}

void CaseList::add_one_in_turn(std::size_t turn, std::vector<Case> cases, Proposal at) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (keep(std::move(cases[(turn + i) % cases.size()]), at)) return;
  }
}

// Whether the case is in the list now.
bool CaseList::keep(Case c, const Proposal& at) {
  c.requirement = requirement_;
  if (selection_.spec) {
    const RopeSpec selected = selection_.spec_for(c.spec);
    if (!c.golden.empty() && to_json(c.spec) != to_json(selected)) return false;
    c.spec = selected;
  } else if (c.golden.empty()) {
    c.spec.base = selection_.base.value_or(c.spec.base);
    give_rule(c);
  }
  keep_to_claims(c);
  if (!selected(c)) return false;
  if (const std::string why = uncovered(c, claims_); !why.empty()) {
    if (ends_with_first_) ++reasons_[why];
    return false;
  }
  if (ends_with_first_) throw Found{};
  if (!seen_.insert(to_text(c)).second) return true;
  cases_.push_back(std::move(c));
  proposals_.push_back(at);
  return true;
}

std::string CaseList::most_frequent_reason() const {
  const auto most = std::ranges::max_element(reasons_, {}, &std::pair<const std::string, int>::second);
  return most == reasons_.end() ? "" : most->first;
}

void CaseList::give_positions(Case& c) const {
  if (!claims_.has(ROPE_FEATURE_POSITIONS)) return;
  c.form = claims_.has(ROPE_FEATURE_BATCH_POSITIONS) ? PositionForm::per_batch : PositionForm::shared;
  c.position_dtype = claims_.position_dtype();
}

// A bug that needs two departures at once shows in the random cases, too, where all traits meet (combinations.hpp).
std::size_t CaseList::walks_for(const Case& way) const {
  if (level() == Level::exhaustive) return 1;
  const int departures = representative_.departures_of(way);
  if (departures >= 2) return most_walks;
  return level() == Level::quick && departures == 1 && representative_.is_source_of(way) ? 2 : 1;
}

void CaseList::for_each_variant(int head_dim, const std::function<void(Case)>& change) {
  const std::vector<std::int32_t>& claimed = claims_.head_dims;
  if (!claimed.empty() && std::find(claimed.begin(), claimed.end(), head_dim) == claimed.end()) {
    const auto even = std::ranges::find_if(claimed, [](std::int32_t dim) { return dim % 2 == 0; });
    head_dim = even == claimed.end() ? claimed.front() : *even;
  }
  Case c;
  c.spec.head_dim = head_dim;
  c.spec.rotary_dim = head_dim / 2 * 2;
  c.spec.base = selection_.base.value_or(c.spec.base);
  c.batch = 2;
  c.seq = 3;
  c.seed = selection_.seed;
  // Quick keeps the kinds that kernels meet: tables in f32 or in the type of x, frequencies in the working type.
  const auto skipped = [&](const Case& candidate) {
    const DType given = candidate.given;
    const bool to_f32 = candidate.out_dtype == DType::f32 && candidate.dtype != DType::f64;
    // The other outputs need not meet every kind of angle again.
    if (!representative_.is_output_type_of(candidate) && !to_f32) {
      const bool of_given = representative_.is_given_type_of(candidate) && representative_.is_width_of(candidate);
      if (!of_given || (level() == Level::quick && !representative_.is_source_of(candidate))) return true;
    }
    if (representative_.is_given_type_of(candidate)) return false;
    if (level() != Level::quick) return given != DType::f32 && given != DType::f64 && given != candidate.dtype;
    return given != (candidate.source == AngleSource::tables ? candidate.dtype : DType::f32) &&
           !(given == DType::f32 && candidate.dtype != DType::f64);
  };
  std::array<std::uint64_t, most_walks + 1> turn;  // of the ways that each take so many walks
  turn.fill(stream() + walks_++);
  const auto is_in_turn = [&](const Case& candidate) {
    const std::size_t walks = walks_for(candidate);
    return turn[walks]++ % walks == 0;
  };
  int way = 0;
  const auto propose = [&] {
    std::vector<Case> candidates;
    for (Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
      c.spec.pairing = pairing;
      Case candidate = c;
      give_rule(candidate);
      keep_spec_to_claims(candidate, claims_);
      if (selected(candidate) && covers(candidate)) candidates.push_back(std::move(candidate));
    }
    // Quick alternates between the two pairings.
    if (level() == Level::quick && candidates.size() == 2) candidates.erase(candidates.begin() + way++ % 2);
    for (const Case& candidate : candidates) {
      if (is_in_turn(candidate)) change(candidate);
    }
  };
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    std::vector<DType> outputs{DType::f32, DType::f64, DType::bf16, DType::f16};
    std::ranges::stable_partition(outputs, [dtype](DType out) { return out == dtype; });
    for (DType out : outputs) {
      c.dtype = dtype;
      c.out_dtype = out;
      c.source = AngleSource::computed;
      c.full_tables = false;
      if (!skipped(c)) propose();
      c.source = AngleSource::frequencies;
      for (DType given : {DType::f32, DType::f64}) {
        c.given = given;
        if (!skipped(c)) propose();
      }
      c.source = AngleSource::tables;
      for (DType given : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
        c.given = given;
        for (bool full : {false, true}) {
          c.full_tables = full;
          if (!skipped(c)) propose();
        }
      }
    }
  }
}

// Each requirement has its own, so that a new requirement does not change the others' cases.
std::uint64_t CaseList::stream() const {
  std::uint64_t stream = selection_.seed;
  for (char ch : requirement_) stream = stream * 1099511628211u + static_cast<unsigned char>(ch);
  return stream;
}

rc::Random CaseList::random() const { return rc::Random(stream()); }

void CaseList::add_random(int count, const std::function<void(Case&)>& change,
                          const std::function<bool(const Case&)>& wanted, Proposal at) {
  if (level() == Level::quick) count = std::max(count / 10, 3);
  if (level() == Level::exhaustive) count *= 10;
  rc::Random drawn = random();
  for (int i = 0; i < count; ++i) {
    throw_if_requested(stop_);
    const std::optional<Case> c = random_case(drawn, claims_, most_elements(level()), [&](Case& candidate) {
      candidate.spec = selection_.spec_for(candidate.spec);
      change(candidate);
    });
    if (!c) return;
    if (!wanted || wanted(*c)) add(*c, at);
  }
}

void CaseList::add_pairwise(Proposal at) {
  const bool quick = level() == Level::quick;
  const int count = quick ? 100 : level() == Level::exhaustive ? 4000 : 500;
  constexpr int candidates = 12;
  Combinations met(quick ? 2 : 3);
  rc::Random drawn = random();
  for (int i = 0; i < count; ++i) {
    throw_if_requested(stop_);
    std::optional<Case> best;
    std::size_t most = 0;
    for (int n = 0; n < candidates; ++n) {
      std::optional<Case> c = wide_random_case(drawn, claims_, most_elements(level()), [&](Case& candidate) {
        candidate.spec = selection_.spec_for(candidate.spec);
      });
      if (!c) return;
      const std::size_t fresh = selected(*c) ? met.fresh(*c) : 0;
      if (fresh <= most) continue;
      most = fresh;
      best = std::move(c);
    }
    if (!best) continue;
    met.add(*best);
    add(std::move(*best), at);
  }
}

bool turn_half(RopeSpec& spec) {
  if (spec.rotary_dim < spec.head_dim || spec.head_dim < 4) return false;
  spec.rotary_dim = spec.head_dim / 4 * 2;
  return true;
}

}  // namespace rope
