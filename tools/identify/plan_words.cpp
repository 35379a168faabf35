#include "tools/identify/plan_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/identify/describe.hpp"

namespace rope {

std::string kind_words(BlockKind kind) {
  switch (kind) {
    case BlockKind::rotation: return "rotation";
    case BlockKind::reflection: return "reflection: (a cos + b sin, a sin - b cos)";
    case BlockKind::unsigned_: return "no rotation: (a cos + b sin, b cos + a sin), the minus is missing";
    case BlockKind::two_angles: return "no rotation: the two features of a pair turn by different angles";
    case BlockKind::other: return "no rotation: some other mixture of the two features of a pair";
  }
  return "";
}

std::map<BlockKind, int> kinds(const ExecutedPlan& plan) {
  std::map<BlockKind, int> count;
  for (const FeaturePair& pair : plan.structure.pairs) ++count[pair.kind];
  return count;
}

std::string entry_words(const TableEntry& e) {
  switch (e.from) {
    case TableEntry::From::none: return "0";
    case TableEntry::From::other: return "something else";
    case TableEntry::From::cos:
    case TableEntry::From::sin: break;
  }
  return fmt::format("{}{}[{}][{}]{}", e.sign < 0 ? "-" : "", e.from == TableEntry::From::cos ? "cos" : "sin", e.row,
                     e.column, e.factor == 1 ? "" : fmt::format(" times {:.4g}", e.factor));
}

std::string pair_words(const std::vector<FeaturePair>& pairs) {
  if (pairs.empty()) return "none";
  const int distance = pairs.front().second - pairs.front().first;
  bool shifted = pairs.size() > 1, adjacent = pairs.size() > 1;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    shifted = shifted && pairs[p].second - pairs[p].first == distance &&
              pairs[p].first == pairs[0].first + static_cast<int>(p);
    adjacent =
        adjacent && pairs[p].second == pairs[p].first + 1 && pairs[p].first == pairs[0].first + 2 * static_cast<int>(p);
  }
  if (shifted) return fmt::format("(i, i+{}) for i = {} .. {}", distance, pairs.front().first, pairs.back().first);
  if (adjacent && pairs.front().first % 2 == 0) {
    return fmt::format("(2i, 2i+1) for i = {} .. {}", pairs.front().first / 2, pairs.back().first / 2);
  }
  std::string text;
  for (std::size_t p = 0; p < std::min(pairs.size(), most_listed); ++p) {
    text += fmt::format("{}({},{})", p > 0 ? " " : "", pairs[p].first, pairs[p].second);
  }
  return pairs.size() > most_listed ? fmt::format("{} .. ({} of them)", text, pairs.size()) : text;
}

std::string index_words(const std::vector<int>& indices) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t end = i;
    while (end + 1 < indices.size() && indices[end + 1] == indices[end] + 1) ++end;
    runs.push_back(end > i ? fmt::format("{} .. {}", indices[i], indices[end]) : std::to_string(indices[i]));
    i = end + 1;
  }
  if (runs.size() > most_listed) {
    runs.resize(most_listed);
    runs.push_back(fmt::format(".. ({} of them)", indices.size()));
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

}  // namespace rope
