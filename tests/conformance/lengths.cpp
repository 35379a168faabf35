#include "tests/conformance/lengths.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace rope {
namespace {

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

}  // namespace

Case probe(Case c, std::int64_t start) {
  c.batch = 1;
  c.heads = 1;
  c.input = InputKind::unit;
  c.start = start;
  return c;
}

bool counts_from_zero(const Claims& claims) {
  return !claims.has(ROPE_FEATURE_OFFSET) && !claims.has(ROPE_FEATURE_POSITIONS);
}

void path_cases(CaseList& list) {
  if (counts_from_zero(list.claims())) return;
  constexpr std::int64_t most_of_a_kind = std::int64_t{1} << 17;  // numbers; larger tables are made only once
  const std::int64_t most = std::int64_t{1} << (list.level() == Level::quick ? 21 : 24);
  WaysOfTables tables;
  std::vector<Case> others;
  list.for_each_way(64, [&](const Case& c) {
    if (c.source == AngleSource::tables) {
      tables.add(c, list);
    } else {
      others.push_back(c);
    }
  });
  if (tables.alike.empty() && others.empty()) return;
  const std::uint64_t seed = (others.empty() ? tables.alike : others).front().seed;
  std::size_t turn = 0;
  const std::int64_t last = std::min(list.claims().capabilities.max_position, most);
  for (const std::int64_t end : ends_of_paths(last, list.level(), seed)) {
    ++turn;
    const auto ending = [&](const std::vector<Case>& ways, int features) {
      Case c = with_few_pairs(list, probe(ways[turn % ways.size()], 0), features);
      c.start = std::max<std::int64_t>(end + 1 - c.seq, 0);
      return c;
    };
    const auto numbers = [&](const Case& c) { return end * c.spec.rotary_dim / 2; };
    if (!tables.alike.empty()) {
      Case c = ending(tables.all, 4);
      if (numbers(c) > most_of_a_kind) c = ending(tables.alike, 2);
      if (numbers(c) <= most_numbers(list.level())) list.add(c);
    }
    if (!others.empty() && end >= longest_table) list.add(ending(others, 4));
  }
}

}  // namespace rope
