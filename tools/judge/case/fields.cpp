#include "tools/judge/case/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <variant>

#include "tools/judge/case/field_words.hpp"

namespace rope {
namespace {

using namespace case_change;
using namespace switched;
using namespace trait;

constexpr auto in_spec(auto member) {
  return [=](auto& c) -> auto& { return c.spec.*member; };
}
constexpr auto in_axes(auto member) {
  return [=](auto& c) -> auto& { return c.spec.axes.*member; };
}

template <class Access>
Trait among_floating(Access access) {
  return among(access, std::vector{DType::f64, DType::f32, DType::f16, DType::bf16});
}

FieldText head_dim_text() {
  FieldText text = text_of("head_dim", in_spec(&RopeSpec::head_dim));
  text.read = [read = text.read](Case& c, const std::string& words) {
    read(c, words);
    c.spec.rotary_dim = c.spec.head_dim;  // until the next field, rotary_dim, says otherwise
  };
  return text;
}

// The rules if angles are computed, the types and widths if they are given.
Trait angles() {
  const Trait rules{std::variant_size_v<Scaling>, [](const Case& c) { return c.spec.scaling.index(); }};
  const Trait frequencies = whether([](const Case& c) { return c.given == DType::f64; });
  const Trait tables = both(first_that({&Case::unequal_halves, &Case::full_tables}), among_floating(&Case::given));
  return either([](const Case& c) { return c.source == AngleSource::computed; }, rules,
                either([](const Case& c) { return c.source == AngleSource::frequencies; }, frequencies, tables));
}

Trait forms_of_positions() {
  const Trait offset{1, [](const Case&) { return std::size_t{0}; }};
  const Trait narrow = whether([](const Case& c) { return c.position_dtype == DType::i32; });
  const Trait given = both(whether([](const Case& c) { return c.form == PositionForm::per_batch; }), narrow);
  const Trait of_sequences = both(first_that({[](const Case& c) { return c.form == PositionForm::seqlen_offsets; },
                                              [](const Case& c) { return c.form == PositionForm::cu_seqlens; }}),
                                  narrow);
  return either([](const Case& c) { return c.form == PositionForm::offset; }, offset,
                either([](const Case& c) { return gives_positions(c.form); }, given, of_sequences));
}

// Multiples of the sizes of tiles and vectors, and sizes that leave a rest.
Trait multiples_of_head_dim() {
  return first_that({[](const Case& c) { return c.spec.head_dim % 16 == 0; },
                     [](const Case& c) { return c.spec.head_dim % 8 == 0; }});
}

Trait features_that_stay() {
  const auto rest = [](const Case& c) { return c.spec.head_dim - c.spec.rotary_dim; };
  return first_that({[=](const Case& c) { return rest(c) == 0; },
                     [=](const Case& c) { return 2 * rest(c) == c.spec.head_dim; },
                     [=](const Case& c) { return rest(c) == 2; }, [=](const Case& c) { return rest(c) % 8 == 0; }});
}

Trait orders_of_axes() {
  return first_that({[](const Case& c) { return c.spec.axes.count() == 1; },
                     [](const Case& c) { return c.spec.axes.order == AxisLayout::Order::chunked; }});
}

Trait bases() {
  return first_that({[](const Case& c) { return c.spec.base == 10000; },
                     [](const Case& c) { return c.spec.base == std::floor(c.spec.base); }});
}

Trait heads_of_k() {
  return first_that({[](const Case& c) { return c.key_heads == 0; },
                     [](const Case& c) { return c.key_heads == c.heads; },
                     [](const Case& c) { return c.key_heads == 1; }});
}

// With what goes with the form.
void give_form(Case& c, PositionForm form) {
  c.form = form;
  if (!is_packed(form)) c.sequences = 1;
  if (!gives_positions(form)) c.pattern = PositionPattern::consecutive;
}

void simplify_input(Case& c) {
  if (c.input == InputKind::spread) c.input = InputKind::unit;
  if (c.input == InputKind::repeated) c.input = InputKind::spread;
}

void draw_direction(Draw& draw, Case& c) {
  if (draw.one_in(4)) c.direction = Direction::backward;
}

void draw_in_place(Draw& draw, Case& c) { c.in_place = draw.one_in(3) && c.out_dtype == c.dtype; }

void draw_layout(Draw& draw, Case& c) {
  c.layout = draw.one_of({Layout::contiguous, Layout::strided, Layout::seq_last});
  if (draw.one_in(6)) c.layout = Layout::reversed;
  if (c.key_heads > 0 && draw.one_in(6)) c.layout = Layout::packed;
}

void draw_output(Draw& draw, Case& c) {
  if (draw.one_in(3)) c.output = draw.one_in(2) ? OutputLayout::contiguous : OutputLayout::strided;
}

// "3 batches"
template <class Count>
Words counted(Count Case::*field, std::string_view what) {
  return [=](const Case& c) { return fmt::format("{} {}", c.*field, what); };
}

template <class Count>
Switch more_than_one(Count Case::*field, std::string_view what) {
  return {[=](const Case& c) { return c.*field > 1; }, counted(field, what), [=](Case& c) { c.*field = 1; }};
}

int plain_dim(const Case& c) { return c.spec.axes.sections.empty() ? 4 : c.spec.head_dim; }

Switch unusual_dim() {
  return {[](const Case& c) { return c.spec.head_dim != plain_dim(c) && c.spec.head_dim != 2; },
          [](const Case& c) { return fmt::format("head_dim {}", c.spec.head_dim); },
          [](Case& c) {
            const int plain = plain_dim(c);
            c.spec.rotary_dim = c.spec.rotary_dim == c.spec.head_dim ? plain : std::min(c.spec.rotary_dim, plain);
            c.spec.head_dim = plain;
            keep_in_head(c.spec);
          }};
}

// The entries of one column. `order`: names of fields, each once for each of its entries.
template <class Entry>
std::vector<Entry> ordered(std::vector<Entry> Field::*column, const std::string& order) {
  std::map<std::string, std::size_t> taken;
  std::vector<Entry> all;
  std::istringstream names(order);
  for (std::string name; names >> name;) {
    const auto field = std::ranges::find(fields(), name, [](const Field& f) { return f.text.name; });
    all.push_back(((*field).*column).at(taken[name]++));
  }
  return all;
}

}  // namespace

std::span<const Field> fields() {
  static const std::array table{
      Field{.text = head_dim_text(),
            .traits = {sized(in_spec(&RopeSpec::head_dim), {4, 16, 63, 64, 127, 128, 255, 256, 512}),
                       multiples_of_head_dim()},  // simpler.cpp makes it smaller, with all that depends on it
            .switches = {unusual_dim()},
            .neighbours = {other_dims()}},
      Field{.text = text_of("rotary_dim", in_spec(&RopeSpec::rotary_dim)),
            .traits = {features_that_stay()},
            .simpler = {by([](Case& c) {
              if (!c.spec.axes.sections.empty()) return;
              c.spec.rotary_dim = c.spec.head_dim;
              c.spec.rotary_offset = 0;
            })},
            .switches = {{[](const Case& c) { return c.spec.rotary_dim < c.spec.head_dim; },
                          always(field_words::rotary_below_head_dim),
                          [](Case& c) {
                            c.spec.rotary_dim = c.spec.head_dim;
                            c.spec.rotary_offset = 0;
                          }}}},
      Field{.text = text_of("rotary_offset", in_spec(&RopeSpec::rotary_offset)),
            .traits = {first_that({[](const Case& c) { return c.spec.rotary_offset == 0; },
                                   [](const Case& c) {
                                     return c.spec.rotary_offset + c.spec.rotary_dim == c.spec.head_dim;
                                   },
                                   [](const Case& c) { return c.spec.rotary_offset % 16 == 0; }})},
            .simpler = {to_default(in_spec(&RopeSpec::rotary_offset))},
            .switches = {off_default(in_spec(&RopeSpec::rotary_offset), always(field_words::rotary_offset))}},
      Field{.text = text_of("pairing", in_spec(&RopeSpec::pairing)),
            .traits = {which(in_spec(&RopeSpec::pairing))},
            .switches = {off_default(in_spec(&RopeSpec::pairing), always(field_words::interleaved_pairs))},
            .neighbours = {between(in_spec(&RopeSpec::pairing), Pairing::half_split, Pairing::interleaved)}},
      Field{.text = text_of("base", in_spec(&RopeSpec::base)),
            .traits = {bases()},
            .simpler = {to_default(in_spec(&RopeSpec::base))},
            .switches = {off_default(in_spec(&RopeSpec::base),
                                     [](const Case& c) { return fmt::format("base {}", c.spec.base); })},
            .neighbours = {between(in_spec(&RopeSpec::base), 10000, 500000)}},
      Field{.text = text_of("scaling", in_spec(&RopeSpec::scaling)),  // combined in source
            .simpler = {to_default(in_spec(&RopeSpec::scaling))},
            .switches = {off_default(in_spec(&RopeSpec::scaling),
                                     [](const Case& c) { return fmt::format("{} scaling", kind_of(c.spec.scaling)); })},
            .neighbours = {to_default(in_spec(&RopeSpec::scaling))}},
      Field{.text = text_of("axes", in_axes(&AxisLayout::sections)),  // with order and restart
            .traits = {orders_of_axes()},
            .simpler = {to_default(in_spec(&RopeSpec::axes))},
            .switches = {{[](const Case& c) { return c.spec.axes.count() > 1; }, always(field_words::several_axes),
                          [](Case& c) { c.spec.axes = {}; }}},
            .neighbours = {to_default(in_spec(&RopeSpec::axes))}},
      Field{.text = text_of("axes_order", in_axes(&AxisLayout::order))},
      Field{.text = text_of("axes_restart", in_axes(&AxisLayout::restart))},
      Field{.text = text_of("attention_factor", in_spec(&RopeSpec::attention_factor)),
            .traits = {whether([](const Case& c) { return c.spec.attention_factor.value_or(1) != 1; })},
            .simpler = {to_default(in_spec(&RopeSpec::attention_factor))},
            .switches = {off_default(in_spec(&RopeSpec::attention_factor), always(field_words::attention_factor))},
            .neighbours = {by([](Case& c) { c.spec.attention_factor = c.spec.attention_factor ? 1.0 : 0.75; })}},
      Field{.text = text_of("batch", &Case::batch),
            .traits = {sized(&Case::batch, {1, 4, 16, 64})},
            .simpler = {at_most_one(&Case::batch), ever_less(&Case::batch)},
            .switches = {more_than_one(&Case::batch, "batches")},
            .neighbours = {by([](Case& c) { c.batch = c.batch > 1 ? 1 : 2; }), to(&Case::batch, 3)}},
      Field{.text = text_of("seq", &Case::seq),
            .traits = {sized(&Case::seq, {1, 4, 16, 64, 256, 512, 1024}),
                       whether([](const Case& c) { return c.seq % 16 == 0; })},  // whole tiles
            .simpler = {at_most_one(&Case::seq), ever_less(&Case::seq)},
            .switches = {more_than_one(&Case::seq, "tokens")},
            .neighbours = {by([](Case& c) { c.seq = c.seq > 1 ? 1 : 4; }), by([](Case& c) { ++c.seq; }),
                           other_shares_of_seq()}},
      Field{.text = text_of("heads", &Case::heads),
            .traits = {sized(&Case::heads, {1, 4, 16, 64, 128})},
            .simpler = {at_most_one(&Case::heads), ever_less(&Case::heads)},
            .switches = {more_than_one(&Case::heads, "heads")},
            .neighbours = {by([](Case& c) { c.heads = c.heads > 1 ? 1 : 3; })}},
      Field{.text = text_of("key_heads", &Case::key_heads),
            .traits = {heads_of_k()},
            .simpler = {to_default(&Case::key_heads), at_most_one(&Case::key_heads), ever_less(&Case::key_heads)},
            .switches = {{[](const Case& c) { return c.key_heads > 0 && c.key_heads != c.heads; },
                          always("k with fewer heads"), [](Case& c) { c.key_heads = c.heads; }},
                         off_default(&Case::key_heads, always("k in the same call"))},
            .neighbours = {by([](Case& c) { c.key_heads = c.key_heads > 0 ? 0 : c.heads; }), to(&Case::key_heads, 1)}},
      Field{
          .text = text_of("dtype", &Case::dtype),  // with out_dtype
          .traits = {both(among_floating(&Case::dtype), whether([](const Case& c) { return c.out_dtype != c.dtype; }))},
          .simpler = {by([](Case& c) { c.dtype = c.out_dtype = DType::f32; })},
          .switches = {{[](const Case& c) { return c.dtype != DType::f32 || c.out_dtype != DType::f32; },
                        [](const Case& c) { return std::string(name(c.dtype)); },
                        [](Case& c) { c.dtype = c.out_dtype = DType::f32; }}},
          .neighbours = {other_dtypes()}},
      Field{.text = text_of("out_dtype", &Case::out_dtype)},
      Field{.text = text_of("source", &Case::source),
            .traits = {angles()},
            .switches = {off_default(&Case::source, [](const Case& c) { return field_words::words_of(c.source); })},
            .neighbours = {other_sources()}},
      Field{.text = text_of("given", &Case::given),
            .simpler = {to_default(&Case::given)},
            .switches = {{[](const Case& c) { return c.source != AngleSource::computed && c.given != DType::f32; },
                          [](const Case& c) {
                            const bool tables = c.source == AngleSource::tables;
                            return fmt::format("{} in {}", tables ? "tables" : "frequencies", name(c.given));
                          },
                          [](Case& c) { c.given = DType::f32; }}}},
      Field{.text = text_of("full_tables", &Case::full_tables),
            .simpler = {by([](Case& c) { c.full_tables = c.unequal_halves; })},
            .switches = {{std::mem_fn(&Case::full_tables), always(field_words::full_width_tables),
                          [](Case& c) { c.full_tables = c.unequal_halves = false; }}},
            .neighbours = {by([](Case& c) {
              c.full_tables = c.source == AngleSource::tables && !c.full_tables;
              c.unequal_halves = false;
            })}},
      Field{.text = text_of("unequal_halves", &Case::unequal_halves),
            .simpler = {to_default(&Case::unequal_halves)},
            .switches = {off_default(&Case::unequal_halves, always(field_words::unequal_halves))}},
      Field{.text = text_of("spare_rows", &Case::spare_rows),
            .traits = {whether([](const Case& c) { return c.spare_rows != 0; })},
            .simpler = {to_default(&Case::spare_rows)},
            .switches = {off_default(&Case::spare_rows, always(field_words::spare_rows))},
            .neighbours = {by(
                [](Case& c) { c.spare_rows = c.source == AngleSource::tables && c.spare_rows == 0 ? 50 : 0; })}},
      Field{
          .text = text_of("form", &Case::form),
          .traits = {forms_of_positions()},
          .simpler = {by([](Case& c) {
                        if (c.pattern == PositionPattern::consecutive) give_form(c, PositionForm::offset);
                      }),
                      by([](Case& c) {
                        if (c.form == PositionForm::per_batch) c.form = PositionForm::shared;
                        if (c.form == PositionForm::cu_seqlens_and_offsets) c.form = PositionForm::cu_seqlens;
                      })},
          .switches = {{[](const Case& c) { return c.form == PositionForm::per_batch; },
                        always(field_words::positions_for_each_batch), [](Case& c) { c.form = PositionForm::shared; }},
                       {[](const Case& c) { return gives_positions(c.form); }, always(field_words::given_positions),
                        [](Case& c) { give_form(c, PositionForm::offset); }},
                       {[](const Case& c) { return gives_starts(c.form); }, always(field_words::starts_of_sequences),
                        [](Case& c) {
                          give_form(c, is_packed(c.form) ? PositionForm::cu_seqlens : PositionForm::offset);
                        }},
                       {[](const Case& c) { return is_packed(c.form); }, always(field_words::packed_sequences),
                        [](Case& c) {
                          give_form(c, gives_starts(c.form) ? PositionForm::seqlen_offsets : PositionForm::offset);
                        }}},
          .neighbours = {by([](Case& c) { give_form(c, PositionForm::offset); }),
                         by([](Case& c) { give_form(c, PositionForm::shared); }), by([](Case& c) {
                           give_form(c, PositionForm::per_batch);
                           c.pattern = PositionPattern::scattered;
                         })}},
      Field{.text = text_of("sequences", &Case::sequences),
            .traits = {sized(&Case::sequences, {1, 4, 16})},
            .simpler = {at_most_one(&Case::sequences), ever_less(&Case::sequences)},
            .switches = {more_than_one(&Case::sequences, "sequences")},
            .neighbours = {between(&Case::sequences, 1, 3)}},
      Field{.text = text_of("position_dtype", &Case::position_dtype),  // combined in form
            .simpler = {to_default(&Case::position_dtype)},
            .switches = {{[](const Case& c) { return c.position_dtype == DType::i32 && has_position_dtype(c.form); },
                          always(field_words::i32_positions), [](Case& c) { c.position_dtype = DType::i64; }}},
            .neighbours = {between(&Case::position_dtype, DType::i32, DType::i64)}},
      Field{.text = text_of("pattern", &Case::pattern),
            .traits = {which(&Case::pattern)},
            .simpler = {to_default(&Case::pattern)},
            .switches = {off_default(&Case::pattern,
                                     [](const Case& c) {
                                       return c.pattern == PositionPattern::recurring
                                                  ? "positions that begin as in a batch before"
                                                  : "positions that are not consecutive";
                                     })}},
      Field{.text = text_of("start", &Case::start),
            .traits = {sized(largest_position,
                             {0, 255, 2047, 4095, 1 << 16, 1 << 20, (1 << 24) - 1, (std::int64_t{1} << 31) - 1})},
            .simpler = {to_default(&Case::start), ever_less(&Case::start)},
            .switches = {off_default(&Case::start, [](const Case& c) { return fmt::format("position {}", c.start); })},
            .neighbours = {between(&Case::start, 0, 5), by([](Case& c) { c.start += 37; })}},
      Field{.text = text_of("sequence_length", &Case::sequence_length),
            .traits = {whether([](const Case& c) { return c.sequence_length != 0; })}},
      Field{.text = text_of("direction", &Case::direction),
            .traits = {which(&Case::direction)},
            .switches = {off_default(&Case::direction, always(field_words::backward))},
            .neighbours = {between(&Case::direction, Direction::forward, Direction::backward)},
            .draw = draw_direction},
      Field{.text = text_of("in_place", &Case::in_place),
            .traits = {whether(&Case::in_place)},
            .simpler = {to_default(&Case::in_place)},
            .switches = {off_default(&Case::in_place, always(field_words::in_place))},
            .neighbours = {between(&Case::in_place, false, true)},
            .draw = draw_in_place},
      Field{.text = text_of("layout", &Case::layout),
            .traits = {which(&Case::layout)},
            .simpler = {to_default(&Case::layout)},
            .switches = {off_default(&Case::layout, [](const Case& c) { return field_words::words_of(c.layout); })},
            .neighbours = {between(&Case::layout, Layout::contiguous, Layout::strided)},
            .draw = draw_layout},
      Field{.text = text_of("output", &Case::output),
            .traits = {which(&Case::output)},
            .simpler = {to_default(&Case::output)},
            .switches = {off_default(&Case::output, [](const Case& c) { return field_words::words_of(c.output); })},
            .neighbours = {to(&Case::output, OutputLayout::as_input), to(&Case::output, OutputLayout::contiguous)},
            .draw = draw_output},
      Field{.text = text_of("address", &Case::address),
            .simpler = {to_default(&Case::address)},
            .switches = {off_default(&Case::address,
                                     [](const Case& c) { return field_words::words_of_address("data", c.address); })}},
      Field{.text = text_of("output_address", &Case::output_address),
            .simpler = {to_default(&Case::output_address)},
            .switches = {off_default(
                &Case::output_address,
                [](const Case& c) { return field_words::words_of_address("an output", c.output_address); })}},
      Field{.text = text_of("input", &Case::input), .traits = {which(&Case::input)}, .simpler = {by(simplify_input)}},
      Field{.text = text_of("seed", &Case::seed)},
      Field{.text = text_of("fault", &Case::fault)},
      Field{.text = text_of("tool", &Case::tool)},
      Field{.text = text_of("before", &Case::before),
            .simpler = {to_default(&Case::before), fewer_calls_before(), smaller_calls_before()},
            .switches = {off_default(&Case::before, field_words::words_of_calls_before)}},
      Field{.text = text_of("golden", &Case::golden)},
  };
  return table;
}

const std::vector<CaseChange>& simpler_changes() {
  static const std::vector<CaseChange> all = ordered(
      &Field::simpler,
      "before before axes scaling attention_factor position_dtype base rotary_offset rotary_dim layout address output "
      "output_address in_place key_heads batch seq heads key_heads sequences seq batch heads key_heads "
      "sequences spare_rows unequal_halves full_tables dtype given pattern form form start start input "
      "before");
  return all;
}

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all = ordered(
      &Field::switches,
      "before axes scaling attention_factor base rotary_offset rotary_dim pairing direction in_place layout output "
      "key_heads key_heads batch heads seq dtype spare_rows unequal_halves full_tables source given pattern "
      "form form position_dtype start head_dim form form sequences address output_address");
  return all;
}

const std::vector<CaseChange>& neighbour_changes() {
  static const std::vector<CaseChange> all =
      ordered(&Field::neighbours,
              "in_place layout output output batch batch seq seq seq heads key_heads key_heads direction start "
              "start form form form position_dtype axes scaling attention_factor base pairing head_dim dtype source "
              "spare_rows full_tables sequences");
  return all;
}

}  // namespace rope
