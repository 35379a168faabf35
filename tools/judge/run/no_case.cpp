#include "tools/judge/run/no_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tools/judge/case/missing_claim.hpp"
#include "tools/judge/case/single_claims.hpp"

namespace rope {
namespace {

struct NoCase {
  Verdict verdict = Verdict::no_case;  // or not_claimed
  std::string lacks;
};

// What the subject could have besides its own claims.
struct Addition {
  std::string words;
  bool is_claim = true;  // false: it depends on how the kernel is called
  std::function<void(Claims&)> add;
};

std::vector<Addition> additions(const Claims& claims) {
  std::vector<Addition> all;
  for (const SingleClaim& claim : single_claims()) {
    if (!claim.is_made(claims)) all.push_back({claim.words, true, [make = claim.make](Claims& c) { make(c, true); }});
  }
  const auto add = [&](std::string words, std::function<void(Claims&)> addition) {
    all.push_back({std::move(words), true, std::move(addition)});
  };
  const auto add_way = [&](const char* words, bool Claims::* way) {
    if (!(claims.*way)) all.push_back({words, false, [=](Claims& c) { c.*way = true; }});
  };
  if (!claims.head_dims.empty()) add("other head_dims", [](Claims& c) { c.head_dims.clear(); });
  const rope_capabilities& k = claims.capabilities;
  if (k.device != ROPE_CUDA) add("a CUDA device", [](Claims& c) { c.capabilities.device = ROPE_CUDA; });
  if (k.base != 0) add("other bases", [](Claims& c) { c.capabilities.base = 0; });
  if (k.least_rotary_dim > 2) add("a smaller rotary_dim", [](Claims& c) { c.capabilities.least_rotary_dim = 0; });
  if (k.alignment > 1) add("data at any address", [](Claims& c) { c.capabilities.alignment = 0; });
  if (k.seq_within_rows != 0) add("more tokens than rows", [](Claims& c) { c.capabilities.seq_within_rows = 0; });
  if (k.overwrites_inputs != 0) add("keeping its inputs", [](Claims& c) { c.capabilities.overwrites_inputs = 0; });
  add(fmt::format("positions beyond {}", k.max_position),
      [](Claims& c) { c.capabilities.max_position = std::numeric_limits<std::int64_t>::max() / 2; });
  add_way("runs no compiled code", &Claims::compiled);
  add_way("cannot begin a tensor at any element", &Claims::shifted_tensors);
  add_way("cannot place rows far apart", &Claims::far_tensors);
  add_way("cannot put q and k into one memory", &Claims::packed_tensors);
  add_way("cannot make two calls at once", &Claims::concurrent_calls);
  return all;
}

class Search {
 public:
  Search(const Requirement& requirement, const Manifest* golden, const Stop* stop)
      : requirement_(requirement), golden_(golden), stop_(stop) {}

  bool finds(const Claims& claims, const Selection& selection) {
    CaseList list(requirement_.id, claims, selection, golden_, stop_);
    list.end_with_first();
    try {
      requirement_.cases(list);
    } catch (const CaseList::Found&) {
      return true;
    }
    reason_ = list.lacks_golden() ? "there are no golden files" : list.most_frequent_reason();
    return false;
  }

  const std::string& reason() const { return reason_; }  // why the last search found none; empty: nothing was proposed

  // The additions without which there is no case, found by halving: of all that are added, the first few that do.
  // nullopt: no addition gives it one.
  std::optional<std::vector<Addition>> missing(const Claims& claims, const Selection& selection) {
    const std::vector<Addition> all = additions(claims);
    std::vector<Addition> needed;
    const auto with_first = [&](std::size_t count) {
      Claims more = claims;
      for (std::size_t i = 0; i < count; ++i) all[i].add(more);
      for (const Addition& one : needed) one.add(more);
      return more;
    };
    std::size_t enough = all.size();
    if (!finds(with_first(enough), selection)) return std::nullopt;
    while (!finds(with_first(0), selection)) {
      std::size_t too_few = 0;
      while (enough - too_few > 1) {
        const std::size_t middle = (too_few + enough) / 2;
        (finds(with_first(middle), selection) ? enough : too_few) = middle;
      }
      needed.push_back(all[--enough]);
    }
    return needed;
  }

 private:
  const Requirement& requirement_;
  const Manifest* golden_;
  const Stop* stop_;
  std::string reason_;
};

// The same choices without those that leave cases out, and what these are called.
struct Choice {
  const char* words;
  std::function<void(Selection&)> undo;
};

std::vector<Choice> choices(const Selection& selection) {
  std::vector<Choice> all;
  if (!selection.dtypes.empty()) all.push_back({"the choice of dtypes", [](Selection& s) { s.dtypes.clear(); }});
  if (selection.pairing) all.push_back({"the choice of a pairing", [](Selection& s) { s.pairing.reset(); }});
  if (selection.base) all.push_back({"the choice of a base", [](Selection& s) { s.base.reset(); }});
  if (selection.most_tokens) {
    all.push_back({"the model's longest sequence", [](Selection& s) { s.most_tokens.reset(); }});
  }
  if (selection.spec) all.push_back({"the choice of a rotation", [](Selection& s) { s.spec.reset(); }});
  return all;
}

// Why the user's choices leave no case of the claims; empty if they do not.
std::string left_out_by_choice(Search& search, const Claims& claims, const Selection& selection) {
  const std::vector<Choice> all = choices(selection);
  Selection free = selection;
  for (const Choice& choice : all) {
    Selection one = selection;
    choice.undo(one);
    if (search.finds(claims, one)) return fmt::format("{} leaves none", choice.words);
    choice.undo(free);
  }
  if (all.size() > 1 && search.finds(claims, free)) return "what was chosen leaves none";
  if (selection.level == Level::exhaustive) return "";
  free.level = Level::exhaustive;
  return search.finds(claims, free) ? "only higher levels ask for it" : "";
}

NoCase why_no_case(const Task& task, const Claims& claims, const SuiteOptions& options) {
  if (!task.cases.empty()) return {Verdict::no_case, "none could be decided"};
  if (options.cases != nullptr) return {Verdict::no_case, "the files have none"};
  const Selection& selection = options.selection;
  Search search(task.requirement, options.golden, options.stop);
  // A choice that is not claimed at all is not what leaves a case out: `--dtype bf16` for a kernel without bf16.
  const bool chooses_claims = missing_claim(claims, selection).empty();
  const std::string why = chooses_claims ? left_out_by_choice(search, claims, selection) : "";
  if (!why.empty()) return {Verdict::no_case, why};
  std::optional<std::vector<Addition>> missing = search.missing(claims, selection);
  if (!missing) {
    Selection free = selection;
    for (const Choice& choice : choices(selection)) choice.undo(free);
    missing = search.missing(claims, free);
  }
  if (!missing) {
    return {Verdict::no_case, search.reason().empty() ? "it asks nothing of such claims" : search.reason()};
  }
  const auto words_of = [&](bool of_claims) {
    std::vector<std::string> found;
    for (const Addition& one : *missing) {
      if (one.is_claim == of_claims) found.insert(found.begin(), one.words);
    }
    return fmt::format("{}", fmt::join(found, ", "));
  };
  const std::string of_claims = words_of(true), of_worker = words_of(false);
  if (of_claims.empty()) return {Verdict::no_case, "its worker " + of_worker};
  return {Verdict::not_claimed, of_claims + (of_worker.empty() ? "" : "; its worker " + of_worker)};
}

}  // namespace

void say_why_no_case(std::span<Task> tasks, const Claims& claims, const SuiteOptions& options,
                     const std::function<bool(const Task&)>& is_dropped) {
  Lanes each;
  for (const Task& task : tasks) {
    const bool was_cut_short = !task.cases.empty() && task.executed == 0;
    if (task.result.cases == 0 && !was_cut_short && !is_dropped(task)) each.push_back({task.index});
  }
  run_lanes(each, options.jobs, [&](std::size_t i, std::size_t, std::size_t) {
    try {
      NoCase why = why_no_case(tasks[i], claims, options);
      tasks[i].result.verdict = why.verdict;
      tasks[i].result.lacks = std::move(why.lacks);
    } catch (const Interrupted&) {
      // Nobody waits for it any more.
    }
  });
}

}  // namespace rope
