#include "tests/diagnosis/trigger.hpp"

#include <fmt/format.h>

#include "reference/input_error.hpp"
#include "tests/conformance/coverage.hpp"
#include "tests/conformance/requirement.hpp"
#include "tests/diagnosis/evidence.hpp"

namespace rope::diagnosis {
namespace {

// One circumstance: what it is called where it is on, and the case without it. A case that is already without stays.
struct Switch {
  std::string (*words)(const Case&);  // empty: it is off
  void (*off)(Case&);
};

int plain_dim(const Case& c) { return c.spec.axes.sections.empty() ? 4 : c.spec.head_dim; }

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all{
      {[](const Case& c) { return std::string(c.spec.axes.count() > 1 ? "several axes" : ""); },
       [](Case& c) { c.spec.axes = {}; }},
      {[](const Case& c) {
         const std::string_view kind = kind_of(c.spec.scaling);
         return kind == "none" ? "" : fmt::format("{} scaling", kind);
       },
       [](Case& c) { c.spec.scaling = scaling::None{}; }},
      {[](const Case& c) { return std::string(c.spec.attention_factor ? "an attention factor" : ""); },
       [](Case& c) { c.spec.attention_factor.reset(); }},
      {[](const Case& c) { return c.spec.base == 10000 ? "" : fmt::format("base {}", c.spec.base); },
       [](Case& c) { c.spec.base = 10000; }},
      {[](const Case& c) {
         return std::string(c.spec.rotary_dim < c.spec.head_dim ? "rotary_dim below head_dim" : "");
       },
       [](Case& c) { c.spec.rotary_dim = c.spec.head_dim; }},
      {[](const Case& c) { return std::string(c.spec.pairing == Pairing::interleaved ? "interleaved pairs" : ""); },
       [](Case& c) { c.spec.pairing = Pairing::half_split; }},
      {[](const Case& c) { return std::string(c.direction == Direction::backward ? "backward" : ""); },
       [](Case& c) { c.direction = Direction::forward; }},
      {[](const Case& c) { return std::string(c.in_place ? "in place" : ""); }, [](Case& c) { c.in_place = false; }},
      {[](const Case& c) {
         switch (c.layout) {
           case Layout::contiguous: return std::string();
           case Layout::shifted: return std::string("data that begins between aligned addresses");
           case Layout::strided: return std::string("padded strides");
           case Layout::key_strided: return std::string("padded strides of k alone");
           case Layout::angles_strided: return std::string("padded strides of positions and tables alone");
           case Layout::seq_last: return std::string("heads before tokens in memory");
           case Layout::reversed: return std::string("tokens in reverse order in memory, features two apart");
           case Layout::packed: return std::string("q and k in one memory");
           case Layout::expanded: return std::string("one row for all batches and heads");
           case Layout::distant_rows: return std::string("table rows more than 2^31 elements apart");
           default: return std::string("rows more than 2^31 elements apart");
         }
       },
       [](Case& c) { c.layout = Layout::contiguous; }},
      {[](const Case& c) {
         switch (c.output) {
           case OutputLayout::as_input: return std::string();
           case OutputLayout::contiguous: return std::string("a contiguous output");
           case OutputLayout::key_strided: return std::string("padded strides of k_out alone");
           case OutputLayout::shifted: return std::string("an output that begins between aligned addresses");
           default: return std::string("an output with padded strides");
         }
       },
       [](Case& c) { c.output = OutputLayout::as_input; }},
      {[](const Case& c) { return std::string(c.key_heads > 0 && c.key_heads != c.heads ? "k with fewer heads" : ""); },
       [](Case& c) { c.key_heads = c.heads; }},
      {[](const Case& c) { return std::string(c.key_heads > 0 ? "k in the same call" : ""); },
       [](Case& c) { c.key_heads = 0; }},
      {[](const Case& c) { return c.batch > 1 ? fmt::format("{} batches", c.batch) : ""; },
       [](Case& c) { c.batch = 1; }},
      {[](const Case& c) { return c.heads > 1 ? fmt::format("{} heads", c.heads) : ""; }, [](Case& c) { c.heads = 1; }},
      {[](const Case& c) { return c.seq > 1 ? fmt::format("{} tokens", c.seq) : ""; }, [](Case& c) { c.seq = 1; }},
      {[](const Case& c) {
         return std::string(c.dtype == DType::f32 && c.out_dtype == DType::f32 ? "" : name(c.dtype));
       },
       [](Case& c) { c.dtype = c.out_dtype = DType::f32; }},
      {[](const Case& c) { return std::string(c.spare_rows > 0 ? "more rows in the tables than positions need" : ""); },
       [](Case& c) { c.spare_rows = 0; }},
      {[](const Case& c) { return std::string(c.unequal_halves ? "tables with unequal halves" : ""); },
       [](Case& c) { c.unequal_halves = false; }},
      {[](const Case& c) { return std::string(c.full_tables ? "full-width tables" : ""); },
       [](Case& c) { c.full_tables = c.unequal_halves = false; }},
      {[](const Case& c) {
         return c.source == AngleSource::tables ? "" : fmt::format("angles from {}", name(c.source));
       },
       [](Case& c) { c.source = AngleSource::tables; }},
      {[](const Case& c) {
         return c.source == AngleSource::computed || c.given == DType::f32 ? ""
                                                                           : fmt::format("{} given", name(c.given));
       },
       [](Case& c) { c.given = DType::f32; }},
      {[](const Case& c) {
         return std::string(c.pattern == PositionPattern::consecutive ? "" : "positions that do not follow on");
       },
       [](Case& c) { c.pattern = PositionPattern::consecutive; }},
      {[](const Case& c) { return std::string(c.form == PositionForm::per_batch ? "positions for each batch" : ""); },
       [](Case& c) { c.form = PositionForm::shared; }},
      {[](const Case& c) { return std::string(c.form == PositionForm::offset ? "" : "given positions"); },
       [](Case& c) { c.form = PositionForm::offset, c.pattern = PositionPattern::consecutive; }},
      {[](const Case& c) {
         return std::string(c.position_dtype == DType::i32 && c.form != PositionForm::offset ? "i32 positions" : "");
       },
       [](Case& c) { c.position_dtype = DType::i64; }},
      {[](const Case& c) { return c.start == 0 ? "" : fmt::format("position {}", c.start); },
       [](Case& c) { c.start = 0; }},
      {[](const Case& c) {
         return c.spec.head_dim == plain_dim(c) || c.spec.head_dim == 2 ? ""
                                                                        : fmt::format("head_dim {}", c.spec.head_dim);
       },
       [](Case& c) {
         c.spec.rotary_dim =
             c.spec.rotary_dim == c.spec.head_dim ? plain_dim(c) : std::min(c.spec.rotary_dim, plain_dim(c));
         c.spec.head_dim = plain_dim(c);
       }},
  };
  return all;
}

class Isolation {
 public:
  Isolation(const Case& failing, Examiner& examiner)
      : check_(requirement_called(failing.requirement).check), examiner_(examiner) {}

  // nullopt: the case cannot be made, so it says nothing.
  std::optional<bool> fails(const Case& c) const {
    try {
      validate(c.spec);
      if (!uncovered(c, examiner_.subject().claims()).empty()) return std::nullopt;
      if (!is_affordable(c)) return std::nullopt;
    } catch (const InputError&) {
      return std::nullopt;
    }
    return !check_(c, examiner_).passed();
  }

  // The smallest position that fails, by halving what is left between one that holds and one that fails.
  void smallest_start(Case& c) const {
    std::int64_t holds = 0, breaks = c.start;
    while (breaks - holds > 1) {
      Case middle = c;
      middle.start = holds + (breaks - holds) / 2;
      (fails(middle) == true ? breaks : holds) = middle.start;
    }
    c.start = breaks;
  }

 private:
  Finding (*check_)(const Case&, Examiner&);
  Examiner& examiner_;
};

}  // namespace

Trigger isolate(const Case& failing, Examiner& examiner) {
  const Isolation isolation(failing, examiner);
  Trigger trigger{failing, {}, false};
  // Twice: what was needed beside something else may not be needed without it.
  for (int round = 0; round < 2; ++round) {
    for (const Switch& s : switches()) {
      if (s.words(trigger.c).empty()) continue;
      Case without = trigger.c;
      s.off(without);
      if (isolation.fails(without) == true) trigger.c = without;
    }
  }
  if (trigger.c.start > 1) isolation.smallest_start(trigger.c);
  for (const Switch& s : switches()) {
    const std::string words = s.words(trigger.c);
    if (words.empty()) continue;
    Case without = trigger.c;
    s.off(without);
    if (to_text(without) != to_text(trigger.c) && isolation.fails(without) == false) trigger.needed.push_back(words);
  }
  trigger.any_call = trigger.needed.empty();
  return trigger;
}

std::string words_of(const Trigger& trigger) {
  if (trigger.any_call) return "any call";
  return fmt::format("{}; without any one of these it holds", fmt::join(trigger.needed, ", "));
}

}  // namespace rope::diagnosis
