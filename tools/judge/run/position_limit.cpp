#include "tools/judge/run/position_limit.hpp"

#include <algorithm>
#include <vector>

#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

// Of a call. Fewer tell better which position is wrong, but some bugs need more than one.
constexpr int few_tokens[] = {1, 4};

// The lowest position that a call of few tokens can end at: batches and axes begin apart.
constexpr std::int64_t most_first = 64;

// A bug that hangs on the numbers fails some calls on either side of any position. If it fails half of them, the chance
// that this many calls on each side look like a limit is 2^-16.
constexpr std::uint64_t confirming_seeds = 8;

bool can_be_moved(const Case& c) {
  return c.golden.empty() && c.fault == Fault::none && c.tool == SanitizerTool::none && c.before.empty() &&
         c.pattern != PositionPattern::scattered && !is_packed(c.form) && c.sequence_length == 0 && c.seq > 0;
}

// Whether the kernel takes positions that begin anywhere.
bool has_start(const Case& c, const Claims& claims) {
  return gives_positions(c.form) || gives_starts(c.form) || claims.has(ROPE_FEATURE_OFFSET);
}

// The same call with `position` as its largest; nullopt if it has too many tokens, or is not claimed.
std::optional<Case> ending_at(std::int64_t position, int seq, Case c, const Claims& claims) {
  c.spare_rows = 0;
  c.start = 0;
  if (has_start(c, claims)) {
    c.seq = std::min(c.seq, seq);
    c.start = position - largest_position(c);
  } else {
    c.seq = static_cast<int>(position + 1);
  }
  keep_to_claims(c, claims);
  if (c.start < 0 || largest_position(c) != position || !uncovered(c, claims).empty()) return std::nullopt;
  return c;
}

class Mover {
 public:
  Mover(const Case& c, const Requirement& requirement, Examiner& examiner)
      : case_(c), requirement_(requirement), examiner_(examiner) {}

  // Where the calls begin to fail, between one that holds and one that fails.
  std::optional<std::int64_t> limit(int seq) {
    std::int64_t first = 0, last = largest_position(case_);
    while (first < most_first && !holds(first, seq).has_value()) ++first;
    if (holds(first, seq) != true || holds(last, seq) != false) return std::nullopt;
    while (last - first > 1) {
      const std::int64_t middle = first + (last - first) / 2;
      const std::optional<bool> found = holds(middle, seq);
      if (!found) return std::nullopt;
      (*found ? first : last) = middle;
    }
    for (std::uint64_t seed = 1; seed <= confirming_seeds; ++seed) {
      if (holds(last, seq, seed) != false) return std::nullopt;
      for (const int any : few_tokens) {
        if (holds(first, any, seed) != true) return std::nullopt;
      }
    }
    return first;
  }

 private:
  // nullopt if the call cannot be made, or decides nothing.
  std::optional<bool> holds(std::int64_t position, int seq, std::uint64_t more_seed = 0) {
    std::optional<Case> moved = ending_at(position, seq, case_, examiner_.subject().claims());
    if (!moved) return std::nullopt;
    moved->seed += more_seed;
    const Finding finding = checked(requirement_, *moved, examiner_);
    return finding.decided ? std::optional(finding.passed()) : std::nullopt;
  }

  const Case& case_;
  const Requirement& requirement_;
  Examiner& examiner_;
};

}  // namespace

std::optional<std::int64_t> position_limit(std::span<const Case> failing, std::span<const Requirement> requirements,
                                           Examiner& examiner) {
  const auto can = [](const Case& c) { return can_be_moved(c); };
  std::vector<Case> cases;
  std::ranges::copy_if(failing, std::back_inserter(cases), can);
  if (cases.empty()) return std::nullopt;
  const Case& nearest = *std::ranges::min_element(cases, {}, [](const Case& c) { return largest_position(c); });
  const auto requirement = std::ranges::find(requirements, nearest.requirement, &Requirement::id);
  if (requirement == requirements.end()) return std::nullopt;
  Mover mover(nearest, *requirement, examiner);
  for (const int seq : few_tokens) {
    if (const std::optional<std::int64_t> limit = mover.limit(seq)) return limit;
  }
  return std::nullopt;
}

}  // namespace rope
