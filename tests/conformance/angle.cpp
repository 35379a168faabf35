// ANG: the angles, pair by pair, at every length and by every rule.
#include <algorithm>
#include <functional>

#include "reference/axis_orders.hpp"
#include "tests/conformance/lengths.hpp"
#include "tests/conformance/requirements.hpp"

namespace rope {
namespace {

bool within_table(const Case& c) { return c.source != AngleSource::tables || largest_position(c) < longest_table; }

// Next to position 0, the sines of slow pairs are subnormal in f16. Tables in a type of their own are rare elsewhere.
void small_entry_cases(CaseList& list) {
  list.for_each_variant(64, [&](const Case& c) {
    if (c.source != AngleSource::tables) return;
    Case small = probe(c, 1);
    small.spec.base = 1e6;
    for (const DType given : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      small.given = given;
      list.add(small);
    }
  });
}

void theta_cases(CaseList& list) {
  for (int dim : {64, 128, 96}) {
    if (list.level() == Level::quick && dim != 128) continue;
    for (double base : {10000.0, 500000.0, 1000000.0, 100000000042.0}) {  // the last: no i32, no float
      if (list.level() == Level::quick && base == 1000000.0) continue;
      list.for_each_variant(dim, [&](Case c) {
        if (c.dtype != DType::f32 && dim != 128) return;
        c.spec.base = base;
        list.add(probe(c, 0));
        list.add(probe(c, 1000));
      });
    }
  }
  small_entry_cases(list);
}

void long_cases(CaseList& list) {
  far_position_cases(list);
  path_cases(list);
}

constexpr std::int64_t trained_length = 1024;

// Examples of every rule that fits the dimensions of the case.
std::vector<scaling::Example<Scaling>> every_rule(const Case& c) {
  return example_rules({c.spec.head_dim, c.spec.rotary_dim, c.spec.base, 0}, static_cast<double>(trained_length));
}

// The rules on a part of the head: a kernel may use head_dim in place of rotary_dim. The lengths are the original one
// and twice the original, where LongRoPE and dynamic NTK change.
void partial_scaling_case(CaseList& list, Case c) {
  if (!turn_half(c.spec)) return;
  for (const auto& [rule, base] : every_rule(c)) {
    c.spec.scaling = rule;
    for (std::int64_t tokens : {trained_length, 2 * trained_length}) {
      Case p = probe(c, 0);
      p.start = tokens - p.seq;
      p.sequence_length = tokens;
      list.add(p);
      // The gradient of the same sequence's first tokens.
      p.start = 0;
      p.direction = Direction::backward;
      list.add(p);
    }
  }
}

// One pair: a rule that divides by the number of pairs less one, or by the length of a ramp, divides by 0 there.
void one_pair_case(CaseList& list, Case c) {
  const std::vector<std::int32_t>& dims = list.claims().head_dims;
  if (dims.empty() || std::find(dims.begin(), dims.end(), 2) != dims.end()) c.spec.head_dim = 2;
  c.spec.rotary_dim = 2;
  for (const auto& [rule, base] : every_rule(c)) {
    c.spec.scaling = rule;
    Case p = probe(c, 0);
    p.sequence_length = 2 * trained_length;
    list.add(p);
  }
}

// A rule may lose its effect far from the original length: at a limit of a table, or of an integer.
void far_scaling_cases(CaseList& list) {
  const std::int64_t most = list.claims().capabilities.max_position;
  list.for_each_variant(64, [&](Case c) {
    if (c.source != AngleSource::computed || !list.representative().is_type_of(c)) return;
    if (!list.representative().is_output_type_of(c)) return;
    for (const auto& [rule, base] : every_rule(c)) {
      c.spec.scaling = rule;
      c.spec.base = base;
      c.spec.attention_factor.reset();
      if (!list.claims().has(ROPE_FEATURE_ATTENTION_FACTOR)) c.spec.attention_factor = 1;
      for (std::int64_t power = 4 * trained_length; power <= std::min(most, std::int64_t{1} << 31); power *= 2) {
        list.add(around(probe(c, 0), power, most));
      }
    }
  });
}

void scaling_cases(CaseList& list) {
  far_scaling_cases(list);
  constexpr std::int64_t length = trained_length;
  for (int dim : {64, 128}) {
    list.for_each_variant(dim, [&](Case c) {
      // The kernel applies the rule only where it computes angles. Tables and frequencies already hold the rule's
      // result, so only lambda can show.
      const bool computed = c.source == AngleSource::computed;
      if (!computed && !(list.representative().is_type_of(c) && list.representative().is_given_type_of(c))) return;
      const bool is_usual = dim == 64 && list.representative().is_output_type_of(c);
      if (list.level() == Level::quick && !is_usual) return;
      if (list.level() == Level::full && dim != 64 && !list.representative().is_output_type_of(c)) return;
      if (computed && list.representative().is_type_of(c)) {
        partial_scaling_case(list, c);
        one_pair_case(list, c);
      }
      for (const auto& [rule, base] : every_rule(c)) {
        const scaling::Setting setting{c.spec.head_dim, c.spec.rotary_dim, base, 0};
        if (!computed && attention_factor<double>(rule, setting) == 1) continue;
        c.spec.scaling = rule;
        c.spec.base = base;
        c.spec.attention_factor.reset();
        // A kernel that knows no attention factor is still judged on the rule's frequencies.
        if (!list.claims().has(ROPE_FEATURE_ATTENTION_FACTOR)) c.spec.attention_factor = 1;
        // The boundary is tested where errors show most: in f32 and f64, with the kernel's own rule.
        const bool narrow = c.dtype == DType::bf16 || c.dtype == DType::f16;
        const bool both_sides_do = list.level() == Level::quick && (!computed || narrow);
        for (std::int64_t tokens : {length / 2, length - 1, length, length + 1, 2 * length, 4 * length - 5}) {
          if (both_sides_do && tokens != length / 2 && tokens != 2 * length) continue;
          Case p = probe(c, 0);
          p.start = tokens - p.seq;  // the last token is the last of the sequence
          p.sequence_length = tokens;
          if (within_table(p)) list.add(p);
          // Decoding is a separate path in many kernels. It must follow the same rule.
          Case decode = p;
          decode.seq = 1;
          decode.start = tokens - 1;
          if (within_table(decode) && tokens == 2 * length) list.add(decode);
          // Where a rule is applied once for q and once for k, one of the two may be forgotten.
          Case with_key = p;
          with_key.key_heads = 1;
          with_key.heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 2 : 1;
          if (within_table(with_key) && tokens == 2 * length) list.add(with_key);
          Case gradient = p;
          gradient.direction = Direction::backward;
          if (within_table(gradient) && tokens == 2 * length) list.add(gradient);
          // The first tokens of such a long sequence: the rule follows the sequence, not the positions of the call.
          const bool is_first = !narrow && (tokens == length || tokens == 2 * length);
          if (!is_first) continue;
          p.start = 0;
          list.add(p);
        }
      }
    });
  }
}

void factor_cases(CaseList& list) {
  for (double lambda : {0.5, 1.1386294361119891, 1.2079441541679836, 0.8660254037844386}) {
    list.for_each_variant(64, [&](Case c) {
      if (!list.claims().has(ROPE_FEATURE_ATTENTION_FACTOR)) return;
      c.spec.attention_factor = lambda;
      c.start = 41;
      list.add(c);
    });
  }
  // A factor of 1 is given, too, under a rule that has another one of its own.
  list.for_each_variant(64, [&](Case c) {
    if (c.source != AngleSource::computed || !list.claims().has(ROPE_FEATURE_ATTENTION_FACTOR)) return;
    for (const auto& [rule, base] : every_rule(c)) {
      if (attention_factor<double>(rule, {c.spec.head_dim, c.spec.rotary_dim, base, 0}) == 1) continue;
      c.spec.scaling = rule;
      c.spec.base = base;
      c.spec.attention_factor = 1;
      list.add(c);
    }
  });
}

void halves_cases(CaseList& list) {
  for (int dim : {64, 128}) {
    list.for_each_variant(dim, [&](Case c) {
      if (!c.full_tables) return;
      c.unequal_halves = true;
      c.start = 20;
      list.add(c);
      if (turn_half(c.spec)) list.add(c);
    });
  }
}

std::vector<AxisLayout> axis_layouts(int pairs) {
  const int third = pairs / 3;
  AxisLayout axial;
  axial.sections = {pairs - pairs / 2, pairs / 2};
  axial.restart = true;
  AxisLayout first_alone;  // whatever the other sections say; the call names no axes then
  first_alone.sections = {pairs, 0, 0};
  std::vector<AxisLayout> found{axial, first_alone};
  for (const AxisOrder& each : axis_orders()) found.push_back({{pairs - 2 * third, third, third}, each.order, false});
  return found;
}

void axis_cases(CaseList& list) {
  const Representative& representative = list.representative();
  std::size_t turn = 0;
  for (int dim : {64, 128, 256}) {
    if (list.level() == Level::quick && dim == 128) continue;
    list.for_each_variant(dim, [&](Case c) {
      if (!list.claims().has(ROPE_FEATURE_AXES)) return;
      // More pairs than two warps have threads, each pair with its axis. Only in the representative types and width.
      const bool of_types = representative.is_type_of(c) && representative.is_given_type_of(c);
      if (dim == 256 && !(of_types && representative.is_width_of(c))) return;
      const bool all_forms = list.level() != Level::full ||
                             (representative.is_output_type_of(c) && representative.is_given_type_of(c) &&
                              representative.is_width_of(c));
      c.start = 11;
      do {
        for (const AxisLayout& axes : axis_layouts(c.spec.rotary_dim / 2)) {
          c.spec.axes = axes;
          std::vector<Case> forms(3, c);
          forms[0].form = PositionForm::shared;
          forms[1].form = PositionForm::per_batch;
          forms[2].form = PositionForm::offset;
          all_forms ? list.add_in_turn(turn++, std::move(forms)) : list.add_one_in_turn(turn++, std::move(forms));
          if (axes.count() == 3 && axes.sections.back() > 0 && of_types) {
            Case image = c;
            image.seq = 9;
            image.form = PositionForm::shared;
            image.pattern = PositionPattern::image;
            list.add(image);
          }
        }
      } while (turn_half(c.spec));
    });
  }
}

}  // namespace

std::span<const Requirement> angle_requirements() {
  static constexpr Requirement requirements[] = {
      {"ANG-01", "Every pair MUST turn by its own frequency, theta = base^(-2p/rotary_dim).", "FREQ, PREC-01, SCALE-21",
       "bases other than those tried", theta_cases, accuracy},
      {"ANG-02", "Angles MUST be right at every position from 0 on, as far as every one can be tried.", "PREC, POS-11",
       "positions beyond 65,536 at level quick, 2^20 at the others (65,536 for most types of wide heads)",
       every_position_cases, accuracy},
      {"ANG-03", "Angles MUST be right up to the largest claimed position.", "PREC, LIM-01",
       "most positions between powers of two; large tables, if the worker cannot leave out rows",
       long_cases, accuracy},
      {"ANG-04", "Every claimed scaling rule MUST give its frequencies, also at and around its original length.",
       "SCALE", "parameters other than those tried", scaling_cases, accuracy},
      {"ANG-05", "The output MUST be multiplied by the attention factor, once.", "SCALE-07, SCALE-09, PIPE-05",
       "how the factor was computed: the call gives it", factor_cases, accuracy},
      {"ANG-06", "If the halves of a full-width table differ, each feature MUST use its own column.", "BWD-07, PAIR-03",
       "kernels that do not claim unequal halves", halves_cases, accuracy},
      {"ANG-07", "Every pair MUST follow the position coordinate of its own axis.", "AXIS, PAIR-07",
       "kernels that do not claim several axes", axis_cases, accuracy},
  };
  return requirements;
}

}  // namespace rope
