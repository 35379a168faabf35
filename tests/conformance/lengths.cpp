#include "tests/conformance/lengths.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "tests/conformance/sizes.hpp"

namespace rope {
namespace {

constexpr std::int64_t usual_walk = 65536, long_walk = std::int64_t{1} << 20;  // the last position

// A kernel may choose its path by a call's largest position, or by the rows of the tables. So there are calls that end
// at every power of two, and at a random place in each quarter between two of them. Where a table takes megabytes,
// there are fewer.
std::vector<std::int64_t> ends_of_paths(std::int64_t most, Level level, std::uint64_t seed) {
  constexpr std::int64_t megabytes = std::int64_t{1} << 17;
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> ends;
  for (std::int64_t power = 16; power < most; power *= 2) {
    ends.push_back(power);
    const std::int64_t parts = power < megabytes ? 4 : level == Level::quick ? 1 : 2;
    const std::int64_t part = power / parts;
    for (std::int64_t i = 0; i < parts; ++i) {
      ends.push_back(power + i * part + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(part)));
    }
  }
  std::erase_if(ends, [most](std::int64_t end) { return end >= most; });
  ends.push_back(most);
  std::ranges::reverse(ends);  // the longest table first: the others are parts of it
  return ends;
}

// With as few pairs as are claimed: long tables then take little time and memory.
Case with_few_pairs(const CaseList& list, const Case& c, int features) {
  if (list.spec()) return c;
  for (const auto& [head_dim, rotary_dim] : {std::pair(features, features), std::pair(c.spec.head_dim, features)}) {
    Case few = c;
    few.spec.head_dim = head_dim;
    few.spec.rotary_dim = rotary_dim;
    if (rotary_dim <= head_dim && list.covers(few)) return few;
  }
  return c;
}

// The ways to give tables: any, and those that can share one table.
struct WaysOfTables {
  std::vector<Case> all, alike;

  void add(const Case& c, const CaseList& list) {
    all.push_back(c);
    const bool is_usual = list.representative().is_given_type_of(c) && list.representative().is_width_of(c);
    if (is_usual && (alike.empty() || alike.front().spec.pairing == c.spec.pairing)) alike.push_back(c);
  }
};

// Of a table: they take time and memory.
std::int64_t most_numbers(Level level) {
  return std::int64_t{1} << (level == Level::quick ? 20 : level == Level::full ? 22 : 24);
}

// Whether the case's tables have at most so many numbers for the pairs. Of larger ones only the last rows shall exist,
// if the kernel's worker can do that.
bool give_quick_tables(const CaseList& list, Case& c, std::int64_t most) {
  if (c.source != AngleSource::tables || (largest_position(c) + 1) * c.spec.rotary_dim / 2 <= most) return true;
  c.layout = Layout::late_rows;
  return list.covers(c);
}

// One way for each type and source of angles.
bool stands_for_its_source(const Case& c, const CaseList& list) {
  const Representative& representative = list.representative();
  return representative.is_output_type_of(c) && representative.is_given_type_of(c) && representative.is_width_of(c);
}

// The ways in which a call may give positions, where a kernel may have a path for each. A shared row falls, so a
// token's number is not its position.
std::vector<Case> claimed_forms(const CaseList& list, const Case& c) {
  std::vector<Case> all;
  for (const PositionForm form : {PositionForm::offset, PositionForm::shared, PositionForm::seqlen_offsets,
                                  PositionForm::cu_seqlens}) {
    Case one = c;
    one.form = form;
    if (gives_positions(form)) one.pattern = PositionPattern::descending;
    one.position_dtype = list.claims().position_dtype();
    if (list.covers(one)) all.push_back(std::move(one));
  }
  return all;
}

// Every position from 0 to `last`. A kernel that counts from 0 meets them only in one call.
void add_walk(CaseList& list, Case c, std::int64_t last) {
  // In an interpreter, a call with as many elements as in a compiled one may take longer than a deadline.
  const std::int64_t most_elements = std::int64_t{1} << (list.claims().compiled ? 22 : 20);
  constexpr std::int64_t most_at_once = std::int64_t{1} << 23;
  constexpr std::int64_t most_tokens = std::int64_t{1} << 20;  // of a case, whose text is read again
  const std::int64_t head = c.spec.head_dim;
  const bool at_once = counts_from_zero(list.claims()) || (c.form == PositionForm::cu_seqlens && c.start == 0);
  if (at_once) last = std::min(last, std::min(most_at_once / head, most_tokens) - 1);
  const std::int64_t tokens = at_once ? last + 1 : std::clamp<std::int64_t>(most_elements / head, 1, most_tokens);
  for (std::int64_t begin = 0; begin <= last; begin += tokens) {
    c.start = begin;
    c.seq = static_cast<int>(std::min(tokens, last + 1 - begin));
    Case part = c;
    if (give_quick_tables(list, part, most_at_once)) list.add(part);
  }
}

// Where a kernel may begin to be wrong: at each power of two, at parts of it, and anywhere between.
struct FarStarts {
  std::vector<std::int64_t> powers, between;
};

FarStarts far_starts(std::int64_t most, Level level, std::uint64_t seed) {
  FarStarts starts;
  std::mt19937_64 random(seed);
  const std::int64_t parts = level == Level::quick ? 4 : 16;
  for (std::int64_t power = std::int64_t{1} << 10; power <= most; power *= 2) {
    starts.powers.push_back(power);
    if (power < usual_walk) continue;  // between them every position is asked for
    const std::int64_t part = power / parts;
    for (std::int64_t i = 0; i < parts; ++i) {
      if (i > 0) starts.between.push_back(power + i * part);
      starts.between.push_back(power + i * part +
                               static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(part)));
    }
  }
  std::erase_if(starts.between, [most](std::int64_t start) { return start > most; });
  return starts;
}

}  // namespace

Case probe(Case c, std::int64_t start) {
  c.batch = 1;
  c.heads = 1;
  c.input = InputKind::unit;
  c.start = start;
  return c;
}

Case around(Case c, std::int64_t position, std::int64_t most) {
  constexpr int bits = std::numeric_limits<float>::digits;
  position = std::min(position, most);
  const auto width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(position)));
  if (c.source == AngleSource::tables || c.dtype == DType::f64 || width < bits) {
    c.seq = 5;
    c.start = std::clamp<std::int64_t>(position - 2, 0, std::max<std::int64_t>(most - c.seq + 1, 0));
  } else {
    c.seq = 1;
    c.start = position >> std::max(width - bits, 0) << std::max(width - bits, 0);
  }
  return c;
}

bool counts_from_zero(const Claims& claims) {
  return !claims.has(ROPE_FEATURE_OFFSET) && !claims.has(ROPE_FEATURE_POSITIONS);
}

void every_position_cases(CaseList& list) {
  const bool quick = list.level() == Level::quick;
  const std::int64_t most = list.claims().capabilities.max_position;
  std::size_t turn = 0;
  list.for_each_variant(4, [&](const Case& way) {
    const Representative& representative = list.representative();
    const Case c = with_few_pairs(list, probe(way, 0), 2);
    const bool of_source = stands_for_its_source(way, list);
    const bool is_first = of_source && representative.is_type_of(way) && representative.is_source_of(way);
    if (quick && !of_source) {  // the limits of 8, 11, 15 and 16 bits, as indices of rows or as integers
      for (const std::int64_t start : {254, 2046, 32766, 65534}) {
        Case limit = c;
        limit.start = start;
        limit.seq = 5;
        limit.in_place = turn++ % 2 == 1 && c.dtype == c.out_dtype && list.claims().has(ROPE_FEATURE_IN_PLACE);
        if (give_quick_tables(list, limit, std::int64_t{1} << 20)) list.add(limit);
      }
      return;
    }
    const bool is_small = c.spec.head_dim <= small_head;
    if (!is_small && !of_source) return;
    std::int64_t last = std::min(most, of_source && !quick && (is_small || is_first) ? long_walk : usual_walk);
    Case walking = c;
    if (!is_small) walking.input = InputKind::spread;  // made in a tenth of the time
    std::vector<Case> forms = claimed_forms(list, walking);
    // Of wide heads, at level quick, only given positions: engines give them.
    const auto given = std::ranges::find(forms, PositionForm::shared, &Case::form);
    if (quick && !is_small && !forms.empty()) forms = {given == forms.end() ? forms.front() : *given};
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (!is_first && i != turn / 2 % forms.size()) continue;
      std::vector<Case> walks(2, forms[i]);
      walks[1].in_place = true;
      if (!list.covers(walks[1])) walks.pop_back();
      if (!is_first || !is_small) walks = {walks[(turn + i) % walks.size()]};
      for (const Case& walk : walks) {
        add_walk(list, walk, last);
        last = std::min(last, usual_walk);  // the way's others need not go as far
      }
    }
    ++turn;
  });
}

void far_position_cases(CaseList& list) {
  // As far as the exact angles are made quickly.
  const std::int64_t most = std::min(list.claims().capabilities.max_position, std::int64_t{1} << 36);
  std::size_t turn = 0;
  std::vector<Case> ways;
  list.for_each_variant(128, [&](const Case& way) {
    if (stands_for_its_source(way, list)) ways.push_back(probe(way, 0));
  });
  if (ways.empty() || counts_from_zero(list.claims())) return;
  const auto add = [&](Case c, std::int64_t middle) {
    c = around(std::move(c), middle, most);
    // With the usual base, in f32, the angle of the slowest pair may be off by a turn there.
    if (middle >= std::int64_t{1} << 28) c.spec.base = 1e11;
    const std::int64_t most_dense = most_numbers(list.level());
    const bool is_quick = give_quick_tables(list, c, most_dense);
    if (!is_quick) c = with_few_pairs(list, c, 4);
    if (!is_quick && !give_quick_tables(list, c, most_dense)) return;
    if (!list.covers(c)) return;
    const std::vector<Case> forms = claimed_forms(list, c);
    if (forms.empty()) return;
    const bool all = list.representative().is_type_of(c) && list.representative().is_source_of(c);
    for (std::size_t i = 0; i < (all ? forms.size() : 1); ++i) {
      Case one = forms[(turn + i) % forms.size()];
      one.in_place = turn % 2 == 1 && one.dtype == one.out_dtype && list.claims().has(ROPE_FEATURE_IN_PLACE);
      list.add(one);
    }
    ++turn;
  };
  FarStarts starts = far_starts(most, list.level(), ways.front().seed);
  starts.powers.push_back(most);
  for (const std::int64_t power : starts.powers) {
    for (const Case& way : ways) add(way, power);
  }
  for (const std::int64_t between : starts.between) add(ways[turn % ways.size()], between);
}

void path_cases(CaseList& list) {
  if (counts_from_zero(list.claims())) return;
  constexpr std::int64_t most_of_a_kind = std::int64_t{1} << 17;  // numbers; larger tables are made only once
  const std::int64_t most = std::int64_t{1} << (list.level() == Level::quick ? 21 : 24);
  WaysOfTables tables;
  list.for_each_variant(64, [&](const Case& c) {
    if (c.source == AngleSource::tables) tables.add(c, list);
  });
  if (tables.alike.empty()) return;
  std::size_t turn = 0;
  const std::int64_t last = std::min(list.claims().capabilities.max_position, most);
  for (const std::int64_t end : ends_of_paths(last, list.level(), tables.alike.front().seed)) {
    ++turn;
    const auto ending = [&](const std::vector<Case>& ways, int features) {
      Case c = with_few_pairs(list, probe(ways[turn % ways.size()], 0), features);
      c.start = std::max<std::int64_t>(end + 1 - c.seq, 0);
      return c;
    };
    const auto numbers = [&](const Case& c) { return end * c.spec.rotary_dim / 2; };
    Case c = ending(tables.all, 4);
    if (numbers(c) > most_of_a_kind) c = ending(tables.alike, 2);
    if (numbers(c) <= most_numbers(list.level())) list.add(c);
  }
}

}  // namespace rope
