#include "tools/diagnose/trigger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/diagnose/evidence.hpp"
#include "tools/diagnose/literal.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::diagnosis {
namespace {

// One thing that a case may have: whether it does, what it is called, and the case without it.
struct Switch {
  bool (*on)(const Case&);
  std::string (*words)(const Case&);  // where it is on
  void (*off)(Case&);
};

template <Circumstance what>
std::string named(const Case&) {
  return std::string(entry_of(what).words);
}

int plain_dim(const Case& c) { return c.spec.axes.sections.empty() ? 4 : c.spec.head_dim; }

std::string words_of(Layout layout) {
  switch (layout) {
    case Layout::contiguous: break;
    case Layout::shifted: return std::string(entry_of(Circumstance::unaligned_data).words);
    case Layout::strided: return "padded strides";
    case Layout::key_strided: return "padded strides of k alone";
    case Layout::angles_strided: return "padded strides of positions and tables alone";
    case Layout::seq_last: return std::string(entry_of(Circumstance::heads_before_tokens).words);
    case Layout::reversed: return "tokens in reverse order in memory, features two apart";
    case Layout::packed: return std::string(entry_of(Circumstance::q_and_k_in_one_memory).words);
    case Layout::expanded: return std::string(entry_of(Circumstance::one_row_for_all).words);
    case Layout::distant_rows: return "table rows more than 2^31 elements apart";
    case Layout::distant_batches:
    case Layout::distant_tokens:
    case Layout::distant_heads: return "rows more than 2^31 elements apart";
  }
  return "";
}

std::string words_of(OutputLayout layout) {
  switch (layout) {
    case OutputLayout::as_input: break;
    case OutputLayout::contiguous: return "a contiguous output";
    case OutputLayout::key_strided: return "padded strides of k_out alone";
    case OutputLayout::shifted: return "an output that begins between aligned addresses";
    case OutputLayout::strided: return "an output with padded strides";
  }
  return "";
}

void make_plain_dim(Case& c) {
  const int plain = plain_dim(c);
  c.spec.rotary_dim = c.spec.rotary_dim == c.spec.head_dim ? plain : std::min(c.spec.rotary_dim, plain);
  c.spec.head_dim = plain;
}

constexpr Switch of_the_spec[] = {
    {[](const Case& c) { return c.spec.axes.count() > 1; }, named<Circumstance::several_axes>,
     [](Case& c) { c.spec.axes = {}; }},
    {[](const Case& c) { return !std::holds_alternative<scaling::None>(c.spec.scaling); },
     [](const Case& c) { return words_of(Literal{UnderRule{c.spec.scaling.index()}}); },
     [](Case& c) { c.spec.scaling = scaling::None{}; }},
    {[](const Case& c) { return c.spec.attention_factor.has_value(); }, named<Circumstance::attention_factor>,
     [](Case& c) { c.spec.attention_factor.reset(); }},
    {[](const Case& c) { return c.spec.base != 10000; },
     [](const Case& c) { return fmt::format("base {}", c.spec.base); }, [](Case& c) { c.spec.base = 10000; }},
    {[](const Case& c) { return c.spec.rotary_dim < c.spec.head_dim; }, named<Circumstance::rotary_below_head_dim>,
     [](Case& c) { c.spec.rotary_dim = c.spec.head_dim; }},
    {[](const Case& c) { return c.spec.pairing == Pairing::interleaved; }, named<Circumstance::interleaved_pairs>,
     [](Case& c) { c.spec.pairing = Pairing::half_split; }},
};

constexpr Switch of_the_tensors[] = {
    {[](const Case& c) { return c.direction == Direction::backward; }, named<Circumstance::backward>,
     [](Case& c) { c.direction = Direction::forward; }},
    {[](const Case& c) { return c.in_place; }, named<Circumstance::in_place>, [](Case& c) { c.in_place = false; }},
    {[](const Case& c) { return c.layout != Layout::contiguous; }, [](const Case& c) { return words_of(c.layout); },
     [](Case& c) { c.layout = Layout::contiguous; }},
    {[](const Case& c) { return c.output != OutputLayout::as_input; }, [](const Case& c) { return words_of(c.output); },
     [](Case& c) { c.output = OutputLayout::as_input; }},
    {[](const Case& c) { return c.key_heads > 0 && c.key_heads != c.heads; },
     [](const Case&) { return std::string("k with fewer heads"); }, [](Case& c) { c.key_heads = c.heads; }},
    {[](const Case& c) { return c.key_heads > 0; }, [](const Case&) { return std::string("k in the same call"); },
     [](Case& c) { c.key_heads = 0; }},
    {[](const Case& c) { return c.batch > 1; }, [](const Case& c) { return fmt::format("{} batches", c.batch); },
     [](Case& c) { c.batch = 1; }},
    {[](const Case& c) { return c.heads > 1; }, [](const Case& c) { return fmt::format("{} heads", c.heads); },
     [](Case& c) { c.heads = 1; }},
    {[](const Case& c) { return c.seq > 1; }, [](const Case& c) { return fmt::format("{} tokens", c.seq); },
     [](Case& c) { c.seq = 1; }},
    {[](const Case& c) { return c.dtype != DType::f32 || c.out_dtype != DType::f32; },
     [](const Case& c) { return std::string(name(c.dtype)); }, [](Case& c) { c.dtype = c.out_dtype = DType::f32; }},
};

constexpr Switch of_the_angles[] = {
    {[](const Case& c) { return c.spare_rows > 0; }, named<Circumstance::spare_rows>,
     [](Case& c) { c.spare_rows = 0; }},
    {[](const Case& c) { return c.unequal_halves; }, named<Circumstance::unequal_halves>,
     [](Case& c) { c.unequal_halves = false; }},
    {[](const Case& c) { return c.full_tables; }, named<Circumstance::full_width_tables>,
     [](Case& c) { c.full_tables = c.unequal_halves = false; }},
    {[](const Case& c) { return c.source != AngleSource::tables; },
     [](const Case& c) { return fmt::format("angles from {}", name(c.source)); },
     [](Case& c) { c.source = AngleSource::tables; }},
    {[](const Case& c) { return c.source != AngleSource::computed && c.given != DType::f32; },
     [](const Case& c) { return fmt::format("{} given", name(c.given)); }, [](Case& c) { c.given = DType::f32; }},
    {[](const Case& c) { return c.pattern != PositionPattern::consecutive; },
     [](const Case&) { return std::string("positions that do not follow on"); },
     [](Case& c) { c.pattern = PositionPattern::consecutive; }},
    {[](const Case& c) { return c.form == PositionForm::per_batch; }, named<Circumstance::positions_for_each_batch>,
     [](Case& c) { c.form = PositionForm::shared; }},
    {[](const Case& c) { return c.form != PositionForm::offset; }, named<Circumstance::given_positions>,
     [](Case& c) { c.form = PositionForm::offset, c.pattern = PositionPattern::consecutive; }},
    {[](const Case& c) { return c.position_dtype == DType::i32 && c.form != PositionForm::offset; },
     named<Circumstance::i32_positions>, [](Case& c) { c.position_dtype = DType::i64; }},
    {[](const Case& c) { return c.start != 0; },
     [](const Case& c) {
       return words_of(Literal{Quantity::position, Comparison::equal, c.start});
     },
     [](Case& c) { c.start = 0; }},
    {[](const Case& c) { return c.spec.head_dim != plain_dim(c) && c.spec.head_dim != 2; },
     [](const Case& c) {
       return words_of(Literal{Quantity::head_dim, Comparison::equal, c.spec.head_dim});
     },
     make_plain_dim},
};

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all = [] {
    std::vector<Switch> list(std::begin(of_the_spec), std::end(of_the_spec));
    list.insert(list.end(), std::begin(of_the_tensors), std::end(of_the_tensors));
    list.insert(list.end(), std::begin(of_the_angles), std::end(of_the_angles));
    return list;
  }();
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
      if (!s.on(trigger.c)) continue;
      Case without = trigger.c;
      s.off(without);
      if (isolation.fails(without) == true) trigger.c = without;
    }
  }
  if (trigger.c.start > 1) isolation.smallest_start(trigger.c);
  for (const Switch& s : switches()) {
    if (!s.on(trigger.c)) continue;
    Case without = trigger.c;
    s.off(without);
    if (to_text(without) != to_text(trigger.c) && isolation.fails(without) == false) {
      trigger.needed.push_back(s.words(trigger.c));
    }
  }
  trigger.any_call = trigger.needed.empty();
  return trigger;
}

std::string words_of(const Trigger& trigger) {
  if (trigger.any_call) return "any call";
  return fmt::format("{}; without any one of these it holds", fmt::join(trigger.needed, ", "));
}

}  // namespace rope::diagnosis
