#include "tools/diagnose/wrong_rows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rope::diagnosis {
namespace {

// What a picture has room for.
constexpr std::size_t most_heads = 48, most_tokens = 256;

WrongRows rows_of(const Observation& seen) {
  WrongRows result{to_text(seen.c), {}};
  for (std::size_t i = 0; i < seen.rows.size(); ++i) {
    const RowKey& row = seen.rows[i];
    const auto same = [&](const WrongRows::Head& head) {
      return head.key == row.key && head.batch == row.batch && head.head == row.head;
    };
    auto head = std::ranges::find_if(result.heads, same);
    if (head == result.heads.end()) head = result.heads.insert(head, {row.key, row.batch, row.head, ""});
    head->tokens += seen.wrong[i] != 0 ? 'x' : '.';
  }
  std::ranges::stable_sort(result.heads, {},
                           [](const WrongRows::Head& h) { return std::tuple(h.key, h.batch, h.head); });
  return result;
}

bool has_room(const WrongRows& rows) {
  return rows.heads.size() <= most_heads && rows.heads.front().tokens.size() <= most_tokens;
}

}  // namespace

std::optional<WrongRows> wrong_rows(const Observations& seen) {
  std::optional<WrongRows> best;
  std::pair<bool, std::size_t> best_worth;
  for (const auto& one : seen) {
    const auto wrong = static_cast<std::size_t>(std::ranges::count(one->wrong, 1));
    if (!one->answered() || wrong == 0 || one->rows.size() != one->wrong.size()) continue;
    // Rows that are right beside wrong ones say where the bug is.
    const std::pair worth(wrong < one->rows.size(), one->rows.size());
    if (best && worth <= best_worth) continue;
    WrongRows rows = rows_of(*one);
    if (!has_room(rows)) continue;
    best = std::move(rows);
    best_worth = worth;
  }
  return best;
}

}  // namespace rope::diagnosis
