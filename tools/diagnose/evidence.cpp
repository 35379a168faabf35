#include "tools/diagnose/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/input_error.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/random_case.hpp"

namespace rope::diagnosis {
namespace {

// Larger calls say no more about what is computed, and cost a multiple.
constexpr std::int64_t most_elements = 20000;

std::int64_t elements_of(const Case& c) {
  return std::int64_t{c.batch} * c.seq * (c.heads + c.key_heads) * c.spec.head_dim;
}

void read_output(Observation& seen, bool key) {
  const Tensor& tensor = key ? seen.trial.call.k_result() : seen.trial.call.q_result();
  const std::size_t size = size_of(tensor.dtype);
  for_each_row(tensor, [&](const RowIndex& row, const std::byte* data) {
    const std::vector<std::int64_t> at = token_position(seen.before, row.batch, row.seq);
    seen.rows.push_back({key, row.batch, row.seq, row.head, at[0]});
    for (std::int64_t f = 0; f < tensor.shape[3]; ++f) {
      const std::byte* element = data + f * tensor.strides[3] * static_cast<std::int64_t>(size);
      std::uint64_t bits = 0;
      std::memcpy(&bits, element, size);
      seen.actual.push_back(load(tensor.dtype, element));
      seen.poison.push_back(!seen.before.in_place && bits == poison(tensor.dtype));
    }
  });
}

// Whether the outputs still hold what they held before.
bool is_untouched(const Observation& seen) {
  const Call& after = seen.trial.call;
  return seen.before.q_result().bytes == after.q_result().bytes &&
         (!seen.before.k || seen.before.k_result().bytes == after.k_result().bytes);
}

// Cases that differ from one in one thing each.
class Neighbours {
 public:
  explicit Neighbours(const Case& c) : c_(c) {}

  std::vector<Case> all() {
    change_shapes();
    change_positions();
    change_spec();
    change_angles();
    return std::move(found_);
  }

 private:
  template <class Change>
  void propose(Change change) {
    Case other = c_;
    change(other);
    if (to_text(other) != to_text(c_)) found_.push_back(std::move(other));
  }

  void change_shapes() {
    propose([](Case& s) { s.in_place = !s.in_place; });
    propose([](Case& s) { s.layout = s.layout == Layout::contiguous ? Layout::strided : Layout::contiguous; });
    propose([](Case& s) { s.output = OutputLayout::as_input; });
    propose([](Case& s) { s.output = OutputLayout::contiguous; });
    propose([](Case& s) { s.batch = s.batch > 1 ? 1 : 2; });
    propose([](Case& s) { s.batch = 3; });
    propose([](Case& s) { s.seq = s.seq > 1 ? 1 : 4; });
    propose([](Case& s) { ++s.seq; });
    // These tell what is left over from blocks of one size, of another, and what is past a limit.
    if (c_.seq > 9) {
      propose([](Case& s) { s.seq *= 2; });
      propose([](Case& s) { s.seq += s.seq / 3; });
      propose([](Case& s) { s.seq -= s.seq * 2 / 5; });
    }
    propose([](Case& s) { s.heads = s.heads > 1 ? 1 : 3; });
    propose([](Case& s) { s.key_heads = s.key_heads > 0 ? 0 : s.heads; });
    propose([](Case& s) { s.key_heads = 1; });
  }

  void change_positions() {
    propose(
        [](Case& s) { s.direction = s.direction == Direction::forward ? Direction::backward : Direction::forward; });
    propose([](Case& s) { s.start = s.start == 0 ? 5 : 0; });
    propose([](Case& s) { s.start += 37; });
    propose([](Case& s) { s.form = PositionForm::offset, s.pattern = PositionPattern::consecutive; });
    propose([](Case& s) { s.form = PositionForm::shared; });
    propose([](Case& s) { s.form = PositionForm::per_batch, s.pattern = PositionPattern::scattered; });
    propose([](Case& s) { s.position_dtype = s.position_dtype == DType::i32 ? DType::i64 : DType::i32; });
  }

  void change_spec() {
    propose([](Case& s) { s.spec.axes = {}; });
    propose([](Case& s) { s.spec.scaling = scaling::None{}; });
    propose([](Case& s) { s.spec.attention_factor = s.spec.attention_factor ? 1.0 : 0.75; });
    propose([](Case& s) { s.spec.base = s.spec.base == 10000 ? 500000 : 10000; });
    propose([](Case& s) {
      s.spec.pairing = s.spec.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
    });
    propose([](Case& s) {
      if (s.spec.axes.sections.empty()) s.spec.head_dim = s.spec.rotary_dim * 2;
    });
    propose([](Case& s) {
      if (s.spec.axes.sections.empty()) s.spec.head_dim = s.spec.rotary_dim;
    });
    for (int dim : {2, 8, 20, 32, 48, 64, 128}) {
      propose([&](Case& s) {
        if (s.spec.axes.sections.empty() && std::holds_alternative<scaling::None>(s.spec.scaling)) {
          s.spec.head_dim = s.spec.rotary_dim = dim;
        }
      });
    }
  }

  void change_angles() {
    for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
      propose([&](Case& s) { s.dtype = s.out_dtype = dtype; });
    }
    for (AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
      propose([&](Case& s) {
        s.source = source;
        if (source != AngleSource::tables) s.full_tables = s.unequal_halves = false, s.spare_rows = 0;
        if (source == AngleSource::tables) s.start = std::min<std::int64_t>(s.start, 200);
      });
    }
    propose([](Case& s) { s.spare_rows = s.source == AngleSource::tables && s.spare_rows == 0 ? 50 : 0; });
    propose([](Case& s) {
      s.full_tables = s.source == AngleSource::tables && !s.full_tables;
      s.unequal_halves = false;
    });
  }

  const Case& c_;
  std::vector<Case> found_;
};

bool is_usable(const Case& c, const SubjectReport& report, const Claims& claims) {
  try {
    validate(c.spec);
    if (elements_of(c) == 0 || !is_affordable(c)) return false;
    if (elements_of(c) > most_elements || c.fault != Fault::none || !c.golden.empty()) return false;
    const std::vector<DType>& dtypes = report.selection.dtypes;
    if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), c.dtype) == dtypes.end()) return false;
    if (report.selection.spec && to_json(c.spec) != to_json(*report.selection.spec)) return false;
    if (report.selection.pairing && c.spec.pairing != *report.selection.pairing) return false;
    return uncovered(c, claims).empty();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

bool is_affordable(const Case& c) {
  constexpr std::int64_t most_rows = 1 << 14;
  return c.source != AngleSource::tables || largest_position(c) < most_rows;
}

bool Observation::failed() const {
  return !problem.passed() || std::find(wrong.begin(), wrong.end(), 1) != wrong.end();
}

bool agrees(const Observation& seen, const Prediction& said, std::size_t i) {
  const double bound = said.bound[i];
  if (std::isinf(bound)) return true;
  if (!said.written[i] && !seen.before.in_place) return seen.poison[i] != 0;
  if (seen.poison[i] != 0) return false;
  const double expected = said.value[i], actual = seen.actual[i];
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (expected == actual) return true;
  // The model itself rounds in double, so where the kernel does too both errors count.
  const bool wide = seen.before.q.dtype == DType::f64;
  return std::fabs(actual - expected) <= (wide ? 2 : 1.001) * bound;
}

namespace {

std::unique_ptr<Observation> observe_with(const Case& c, Examiner& examiner, bool at_start) {
  auto seen = std::make_unique<Observation>();
  seen->c = c;
  seen->before = examiner.build(c);
  seen->trial = at_start ? examiner.run_at_start(c) : examiner.run(seen->before);
  seen->head_dim = c.spec.head_dim;
  seen->problem = seen->trial.problem;
  seen->expectation.emplace(seen->before, c.spec, examiner.oracles());
  // What was written into gaps does not keep the rows from being read; what ended the call does.
  if (!seen->problem.passed() && (seen->problem.kind != FailureKind::misbehaviour || is_untouched(*seen))) {
    seen->rows.push_back({});
    seen->wrong.push_back(1);
    return seen;
  }
  read_output(*seen, false);
  if (seen->before.k) read_output(*seen, true);
  seen->right = predict(seen->before, *seen->expectation, {});
  seen->wrong.assign(seen->rows.size(), 0);
  const auto dim = static_cast<std::size_t>(seen->head_dim);
  for (std::size_t i = 0; i < seen->actual.size(); ++i) {
    if (!agrees(*seen, seen->right, i)) seen->wrong[i / dim] = 1;
  }
  return seen;
}

}  // namespace

std::unique_ptr<Observation> observe(const Case& c, Examiner& examiner) { return observe_with(c, examiner, false); }

std::unique_ptr<Observation> observe_beyond(const Observation& stopped, Examiner& examiner) {
  if (stopped.answered()) return nullptr;
  const std::optional<OutsideAccess>& access = stopped.problem.access;
  if (!access || access->write || access->element < 0) return nullptr;
  std::unique_ptr<Observation> seen = observe_with(stopped.c, examiner, true);
  return seen->answered() ? std::move(seen) : nullptr;
}

std::vector<Case> random_cases(const SubjectReport& report, const Claims& claims, std::uint64_t stream, int count) {
  std::vector<Case> all;
  rc::Random random(report.selection.seed + stream);
  for (int i = 0; i < count; ++i) {
    std::optional<Case> c = random_case(random, claims, [&](Case& drawn) {
      if (report.selection.spec) drawn.spec = *report.selection.spec;
      if (report.selection.pairing) drawn.spec.pairing = *report.selection.pairing;
      if (!report.selection.dtypes.empty()) {
        drawn.dtype = drawn.out_dtype =
            report.selection.dtypes[static_cast<std::size_t>(i) % report.selection.dtypes.size()];
      }
      // Far out the bounds are so wide that they tell little apart; tables are made row by row.
      if (drawn.source == AngleSource::tables || i % 4 != 0) drawn.start %= 300;
    });
    if (!c) break;
    c->requirement = "ROT-01";
    if (is_usable(*c, report, claims)) all.push_back(std::move(*c));
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
  // The first requirements draw from all that a call can hold; the later ones add little that they have not.
  for (std::size_t i = 0; i < failing.size() && all.size() < most_neighbours; ++i) {
    for (Case& c : Neighbours(failing[i]).all()) add(std::move(c));
  }
  for (Case& c : random_cases(report, claims, 77, 160)) add(std::move(c));
  return all;
}

}  // namespace rope::diagnosis
