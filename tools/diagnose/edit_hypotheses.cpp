// A hypothesis of each row of the table of bugs: in which calls it can make a difference, and what speaks for another
// one that fits as well.
#include "tools/bugs/table.hpp"
#include "tools/diagnose/edit_change.hpp"
#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

using InCalls = std::function<bool(const Call&)>;

bool has_own_angles(const Call& call) { return call.source != AngleSource::tables; }
bool is_computed(const Call& call) { return call.source == AngleSource::computed; }
bool has_factor(const Call& call) { return call.attention_factor != 1; }
bool has_offset(const Call& call) { return call.rotary_offset != 0; }
bool is_partial(const Call& call) { return call.rotary_dim < call.q.shape[3]; }

InCalls applies(const bugs::Round& round) {
  if (round.at == bugs::of_base) return is_computed;
  if (round.at == bugs::of_factor) return has_factor;
  if (round.at == bugs::of_passed) return is_partial;
  const bool of_own_angles = (round.at & (bugs::of_theta | bugs::of_angle | bugs::of_own_turn)) != 0;
  return of_own_angles ? has_own_angles : InCalls{};
}

InCalls applies(const bugs::Mix&) { return {}; }

InCalls applies(const bugs::Write& write) { return write.part == bugs::Write::Part::all ? InCalls{} : is_partial; }

InCalls applies(const bugs::Move& move) {
  using enum bugs::Move::Role;
  if (move.role == position || move.role == given_position) return {};
  const auto axis = static_cast<std::size_t>(move.of);
  if (move.map != bugs::Move::Map::masked) return [axis](const Call& call) { return call.q.shape[axis] > 1; };
  const auto is_other = [](std::int64_t n) { return (n & (n - 1)) != 0; };  // than a power of two
  return [=](const Call& call) { return is_other(call.q.shape[axis]) || (call.k && is_other(call.k->shape[axis])); };
}

InCalls applies(const bugs::Count&) { return {}; }

InCalls applies(const bugs::Set& set) {
  using enum bugs::Set::To;
  switch (set.what) {
    case bugs::Set::What::base: return is_computed;
    case bugs::Set::What::factor: return set.to == times || set.to == over_root_head ? InCalls{} : has_factor;
    case bugs::Set::What::pairing: return [](const Call& call) { return call.rotary_dim > 2; };
    case bugs::Set::What::rotary_dim: return is_partial;
    case bugs::Set::What::rotary_offset: return set.to == end ? is_partial : has_offset;
  }
  return {};
}

InCalls applies(const bugs::Stride& stride) {
  using enum bugs::Stride::As;
  const bool needs_key = stride.whose != bugs::Stride::Whose::both;
  switch (stride.as) {
    case other_side: return [=](const Call& call) { return !call.in_place && (call.k.has_value() || !needs_key); };
    case of_token: return [](const Call& call) { return call.q.shape[2] > 1; };
    case of_q: return [](const Call& call) { return call.k.has_value(); };
    default: return {};
  }
}

constexpr double has_many_causes = 0.02;
constexpr double says_the_same_of_one_token = 0.01;  // an index says of it what position 0 says in fewer words

void prefer(Hypothesis&, const auto&) {}

void prefer(Hypothesis& h, const bugs::Write& write) {
  using enum bugs::Write::Fate;
  h.turns_again = write.fate == twice;
  h.unrotated = write.part != bugs::Write::Part::passed &&
                (write.fate == not_written || write.fate == copied || write.fate == zero);
  if (h.unrotated && write.part == bugs::Write::Part::all) h.cost = has_many_causes;
}

void prefer(Hypothesis& h, const bugs::Count& count) {
  using enum bugs::Count::How;
  h.unrotated = count.how == zero;
  h.short_table = count.how == wrapped || count.how == saturated;
  if (count.how == token) h.cost = says_the_same_of_one_token;
}

}  // namespace

void add_edit_hypotheses(Hypotheses& all) {
  for (const bugs::Row& row : bugs::table()) {
    Hypothesis h{.bug_class = row.bug_class, .sentence = row.words, .change = change_by(row.edit)};
    std::visit(
        [&](const auto& edit) {
          h.applies = applies(edit);
          prefer(h, edit);
        },
        row.edit);
    all.push_back(std::move(h));
  }
}

}  // namespace rope::diagnosis
