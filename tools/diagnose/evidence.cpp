#include "tools/diagnose/evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "reference/input_error.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/crossed.hpp"
#include "tools/judge/case/fields.hpp"
#include "tools/judge/case/random_case.hpp"

namespace rope::diagnosis {
namespace {

// Larger calls say nothing more about the computation, and cost a multiple.
constexpr std::int64_t most_elements = 20000;
constexpr std::int64_t most_of_random = 10000;  // hundreds of these are weighed

std::int64_t elements_of(const Case& c) {
  return std::int64_t{c.batch} * c.seq * (c.heads + c.key_heads) * c.spec.head_dim;
}

void add_rows(Observation& seen, const Tensor& tensor, bool key) {
  for_each_row(tensor, [&](const RowIndex& row, const std::byte*) {
    const std::vector<std::int64_t> at = token_position(seen.before, row.batch, row.seq);
    seen.rows.push_back({key, row.batch, row.seq, row.head, at[0]});
  });
}

void read_output(Observation& seen, bool key) {
  const Tensor& tensor = key ? seen.trial.call.k_result() : seen.trial.call.q_result();
  add_rows(seen, tensor, key);
  for_each_row(tensor, [&](const RowIndex& row, const std::byte*) {
    for (std::int64_t f = 0; f < tensor.shape[3]; ++f) {
      seen.actual.push_back(value_at(tensor, row, f));
      seen.poison.push_back(tensor.poison == bits_at(tensor, row, f));
    }
  });
}

// Whether the outputs still have their content from before the call.
bool is_untouched(const Observation& seen) {
  const Call& after = seen.trial.call;
  return seen.before.q_result().bytes == after.q_result().bytes &&
         (!seen.before.k || seen.before.k_result().bytes == after.k_result().bytes);
}

// Cases that differ from this one in one thing each.
std::vector<Case> neighbours_of(const Case& c) {
  std::vector<Case> all;
  for (const CaseChange& of_field : neighbour_changes()) of_field.propose(c, all);
  std::erase_if(all, [text = to_text(c)](const Case& other) { return to_text(other) == text; });
  return all;
}

bool is_usable(const Case& c, const SubjectReport& report, const Claims& claims) {
  try {
    validate(c.spec);
    if (elements_of(c) == 0 || !is_affordable(c)) return false;
    if (elements_of(c) > most_elements || c.fault != Fault::none || !c.golden.empty()) return false;
    // Each would start a process. from_requirements() says what earlier calls do.
    if (!c.before.empty()) return false;
    const std::vector<DType>& dtypes = report.selection.dtypes;
    if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), c.dtype) == dtypes.end()) return false;
    if (to_json(c.spec) != to_json(report.selection.spec_for(c.spec))) return false;
    return uncovered(c, claims).empty();
  } catch (const InputError&) {
    return false;
  }
}

Scaling of_original_length(Scaling rule, double length) {
  std::visit(
      [&](auto& r) {
        if constexpr (requires { r.original_max_position_embeddings; }) r.original_max_position_embeddings = length;
      },
      rule);
  return rule;
}

// The same call under each other rule, in a sequence longer than its original length, and with other choices of its own
// rule. A mistake in what rules share shows under all of them. A flag that is ignored looks inverted where only one of
// its values was seen.
std::vector<Case> under_other_rules(Case failed) {
  std::vector<Case> all;
  if (failed.source != AngleSource::computed || std::holds_alternative<scaling::None>(failed.spec.scaling)) return all;
  constexpr std::int64_t original = 32;
  constexpr int least_pairs = 4;  // some rules need several pairs, and show nothing if they have few
  if (failed.spec.rotary_dim < 2 * least_pairs && failed.spec.rotary_dim == failed.spec.head_dim) {
    failed.spec.head_dim = failed.spec.rotary_dim = 2 * least_pairs;
    failed.spec.scaling = for_pairs(failed.spec.scaling, least_pairs);
  }
  const scaling::Setting setting{failed.spec.head_dim, failed.spec.rotary_dim, failed.spec.base, 0};
  const auto add = [&](const Scaling& rule) {
    all.push_back(failed);
    all.back().spec.scaling = rule;
  };
  for (const scaling::Example<Scaling>& example : example_rules(setting, original)) {
    if (example.rule.index() == failed.spec.scaling.index()) continue;
    add(example.rule);
    all.back().sequence_length = largest_position(failed) + 3 * original;
  }
  for (const Scaling& rule : with_other_choices(failed.spec.scaling)) add(rule);
  return all;
}

}  // namespace

bool is_affordable(const Case& c) {
  constexpr std::int64_t most_entries = 1 << 19;
  return c.source != AngleSource::tables || (largest_position(c) + 1) * c.spec.rotary_dim / 2 <= most_entries;
}

bool Observation::failed() const {
  return !problem.passed() || std::find(wrong.begin(), wrong.end(), 1) != wrong.end();
}

bool agrees(const Observation& seen, const Prediction& said, std::size_t i) {
  const double bound = said.bound[i];
  if (std::isinf(bound)) return true;
  if (!said.written[i] && !seen.before.in_place) {
    return seen.poison[i] != 0 || (std::isnan(said.value[i]) && std::isnan(seen.actual[i]));
  }
  if (seen.poison[i] != 0) return false;
  const double expected = said.value[i], actual = seen.actual[i];
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (expected == actual) return true;
  if (std::isinf(actual)) {  // no number of its type is as large
    const double largest = largest_finite(seen.before.q_result().dtype);
    return std::signbit(expected) == std::signbit(actual) && std::fabs(expected) + bound > largest;
  }
  // The model itself rounds in double. If the kernel does too, both errors count.
  const bool wide = seen.before.q.dtype == DType::f64;
  return std::fabs(actual - expected) <= (wide ? 2 : 1.001) * bound;
}

namespace {

std::unique_ptr<Observation> begin(const Case& c, Examiner& examiner) {
  auto seen = std::make_unique<Observation>();
  seen->c = c;
  seen->before = examiner.build(c);
  seen->head_dim = c.spec.head_dim;
  const Allowed allowed{{}, examiner.allowed().theta_as_period};
  seen->expectation.emplace(seen->before, c.spec, examiner.oracles(), allowed);
  seen->model.emplace(seen->before, *seen->expectation);
  const rope_capabilities& claims = examiner.subject().claims().capabilities;
  const bool end_at_a_page = claims.alignment <= size_of(DType::bf16);  // no gap that aligns them
  seen->is_guarded = claims.device == ROPE_CPU && end_at_a_page;
  return seen;
}

std::unique_ptr<Observation> observe_with(const Case& c, Examiner& examiner, bool at_start) {
  std::unique_ptr<Observation> seen = begin(c, examiner);
  seen->trial = at_start ? examiner.run_at_start(c) : examiner.run(seen->before);
  seen->is_guarded = seen->is_guarded && !at_start;
  seen->problem = seen->trial.problem;
  // Rows are readable after a write into gaps, but not after a call that ended early.
  if (!seen->problem.passed() && (seen->problem.kind != FailureKind::misbehaviour || is_untouched(*seen))) {
    seen->rows.push_back({});
    seen->wrong.push_back(1);
    return seen;
  }
  read_output(*seen, false);
  if (seen->before.k) read_output(*seen, true);
  seen->right = seen->model->predict({});
  seen->wrong.assign(seen->rows.size(), 0);
  seen->wrong_elements.assign(seen->actual.size(), 0);
  const auto dim = static_cast<std::size_t>(seen->head_dim);
  for (std::size_t i = 0; i < seen->actual.size(); ++i) {
    if (!agrees(*seen, seen->right, i)) seen->wrong[i / dim] = seen->wrong_elements[i] = 1;
  }
  return seen;
}

}  // namespace

std::unique_ptr<Observation> prepare(const Case& c, Examiner& examiner) {
  std::unique_ptr<Observation> one = begin(c, examiner);
  for (const bool key : {false, true}) {
    if (!key || one->before.k) add_rows(*one, key ? one->before.k_result() : one->before.q_result(), key);
  }
  one->right = one->model->predict({});
  return one;
}

std::unique_ptr<Observation> observe(const Case& c, Examiner& examiner) { return observe_with(c, examiner, false); }

std::unique_ptr<Observation> observe_beyond(const Observation& stopped, Examiner& examiner) {
  if (stopped.answered()) return nullptr;
  const std::optional<OutsideAccess>& access = stopped.problem.access;
  if (!access || access->write || access->element < 0) return nullptr;
  std::unique_ptr<Observation> seen = observe_with(stopped.c, examiner, true);
  return seen->answered() ? std::move(seen) : nullptr;
}

constexpr std::int64_t most_drawn = 100'000;  // elements of a random case, as at level full; fewer are used

std::vector<Case> random_cases(const SubjectReport& report, const Claims& claims, std::uint64_t stream, int count) {
  std::vector<Case> all;
  rc::Random random(report.selection.seed + stream);
  for (int i = 0; i < count; ++i) {
    std::optional<Case> c = random_case(random, claims, most_drawn, [&](Case& drawn) {
      drawn.spec = report.selection.spec_for(drawn.spec);
      if (!report.selection.dtypes.empty()) {
        drawn.dtype = drawn.out_dtype =
            report.selection.dtypes[static_cast<std::size_t>(i) % report.selection.dtypes.size()];
      }
      // At large positions the bounds are too wide to tell causes apart. Tables are made row by row.
      if (drawn.source == AngleSource::tables || i % 4 != 0) drawn.start %= 300;
    });
    if (!c) break;
    c->requirement = "ROT-01";
    if (elements_of(*c) <= most_of_random && is_usable(*c, report, claims)) all.push_back(std::move(*c));
  }
  return all;
}

std::vector<Case> cases_to_observe(const SubjectReport& report, const Claims& claims) {
  std::vector<Case> all;
  std::set<std::string> known;
  const auto add = [&](Case c) {
    c.requirement = "ROT-01";
    if (!is_usable(c, report, claims)) return false;
    if (!known.insert(to_text(c)).second) return false;
    all.push_back(std::move(c));
    return true;
  };
  std::vector<Case> failing;
  for (const RequirementResult& result : report.results) {
    if (result.verdict != Verdict::fail || !result.failure) continue;
    if (add(result.failure->minimal)) failing.push_back(all.back());
    if (add(case_from_text(result.failure->first_seen))) failing.push_back(all.back());
  }
  constexpr std::size_t most_neighbours = 160;
  // The first requirements draw from everything that a call can hold; the later ones add little.
  for (std::size_t i = 0; i < failing.size() && all.size() < most_neighbours; ++i) {
    for (Case& c : neighbours_of(failing[i])) add(std::move(c));
  }
  for (Case& c : random_cases(report, claims, 77, 160)) add(std::move(c));
  return all;
}

namespace {

// The cases that were run; some of them failed.
class AlreadyRun {
 public:
  explicit AlreadyRun(const Observations& seen) {
    for (const auto& one : seen) {
      texts_.insert(to_text(one->c));
      if (one->failed()) failed.push_back(&one->c);
    }
  }

  // True once for each case that was not run.
  bool is_new(const Case& c) { return texts_.insert(to_text(c)).second; }

  std::vector<const Case*> failed;

 private:
  std::set<std::string> texts_;
};

}  // namespace

std::vector<Case> failing_cases_with(const std::function<void(Case&)>& change, const SubjectReport& report,
                                     const Claims& claims, const Observations& seen) {
  AlreadyRun run(seen);
  std::vector<Case> all;
  for (const Case* failed : run.failed) {
    Case changed = *failed;
    change(changed);
    if (is_usable(changed, report, claims) && run.is_new(changed)) all.push_back(std::move(changed));
  }
  return all;
}

std::vector<Case> discriminating_cases(const SubjectReport& report, const Claims& claims, const Observations& seen) {
  AlreadyRun run(seen);
  const std::vector<const Case*>& failed = run.failed;
  std::vector<Case> all;
  const auto add = [&](Case c) {
    if (is_usable(c, report, claims) && run.is_new(c)) all.push_back(std::move(c));
  };
  constexpr std::size_t ways_to_move = 4;
  constexpr std::size_t most_moved = 6 * ways_to_move;
  constexpr std::size_t most_lengthened = 12;
  constexpr std::size_t most_of_other_type = 6;
  constexpr std::size_t most_of_few_positions = 12;
  constexpr int most_tokens = 96;
  const std::vector<Case> random = random_cases(report, claims, 78, 120);
  for (std::size_t i = 0; i < std::max(random.size(), most_moved) && !failed.empty(); ++i) {
    // Many causes say the same of tokens that begin at position 0, or end before a rule's original length.
    if (i < most_moved) {
      const Case& near = *failed[i / ways_to_move % failed.size()];
      const auto original = static_cast<std::int64_t>(original_length(near.spec.scaling));
      const std::array<std::int64_t, ways_to_move> by = {1, 40, original - largest_position(near), original + 1};
      Case moved = near;
      moved.start = std::max<std::int64_t>(moved.start + by[i % ways_to_move], 0);
      moved.sequence_length = 0;
      add(moved);
      // Most calls end with the sequence. Then positions counted from its end look right.
      moved.sequence_length = largest_position(moved) + 38;
      add(std::move(moved));
    }
    // Large positions are drawn in 64 bits, so their type looks like the reason.
    if (i < failed.size() && i < most_of_other_type && has_position_dtype(failed[i]->form)) {
      Case other = *failed[i];
      other.position_dtype = other.position_dtype == DType::i64 ? DType::i32 : DType::i64;
      add(std::move(other));
    }
    // In most calls all batches start alike, or none as the first does. Of so few positions, some are alike.
    if (i < failed.size() && i < most_of_few_positions && failed[i]->form == PositionForm::per_batch) {
      Case few = *failed[i];
      few.batch = std::max(few.batch, 4);
      few.seq = std::max(few.seq, 4);
      few.pattern = PositionPattern::scattered;
      few.start = 1;
      few.sequence_length = 0;
      add(std::move(few));
    }
    // In calls with few tokens, what comes late looks like what never comes.
    if (i < failed.size() && i < most_lengthened) {
      Case longer = *failed[i];
      longer.seq = std::min(6 * longer.seq, most_tokens);
      longer.sequence_length = 0;
      add(std::move(longer));
    }
    // Few calls have more tokens than a rule's original length. In all others a rule that counts the call's tokens
    // looks like one that is ignored.
    if (i < failed.size() && i < most_lengthened && original_length(failed[i]->spec.scaling) > 0) {
      Case many = *failed[i];
      many.spec.scaling = of_original_length(many.spec.scaling, most_tokens / 2);
      many.seq = most_tokens;
      many.sequence_length = 0;
      add(std::move(many));
    }
    if (i >= random.size()) continue;
    Case drawn = random[i];
    drawn.spec = failed[i % failed.size()]->spec;
    add(std::move(drawn));
    add(random[i]);
  }
  // Last: much alike, they say less of a cause that all random cases can test.
  const std::size_t most = all.size() + 20;
  for (const Case* one : failed) {
    if (all.size() >= most) break;
    for (Case& other : under_other_rules(*one)) add(std::move(other));
  }
  return all;
}

std::vector<Case> cases_between(const SubjectReport& report, const Claims& claims, const Observations& seen) {
  AlreadyRun run(seen);
  constexpr int most_random = 240;
  rc::Random random(report.selection.seed + 80);
  const std::vector<Case> others = random_cases(report, claims, 79, most_random);
  std::vector<Case> all;
  for (const int eighths : {6, 4, 2}) {
    for (std::size_t i = 0; i < others.size() && !run.failed.empty(); ++i) {
      Case c = crossed(random, *run.failed[i % run.failed.size()], others[i], eighths);
      if (is_usable(c, report, claims) && run.is_new(c)) all.push_back(std::move(c));
    }
  }
  return all;
}

}  // namespace rope::diagnosis
