#include "reference/axis_orders.hpp"
#include "tools/judge/case/random_case.hpp"

#include <algorithm>
#include <functional>

#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/fields.hpp"

namespace rope {
namespace {

constexpr std::int64_t longest_table = 700;  // rows; each costs exact angles

Scaling draw_scaling(Draw& draw, const RopeSpec& spec) {
  if (!draw.one_in(3) || spec.rotary_dim < 4) return scaling::None{};
  return drawn_rule(draw, {spec.head_dim, spec.rotary_dim, spec.base, 0});
}

AxisLayout draw_axes(Draw& draw, int pairs) {
  AxisLayout axes;
  if (!draw.one_in(6) || pairs < 3) return axes;
  const int third = pairs / 3;
  axes.sections = draw.one_in(3) ? std::vector<int>{pairs - pairs / 2, pairs / 2}
                                 : std::vector<int>{pairs - 2 * third, third, third};
  axes.order = axis_orders()[static_cast<std::size_t>(draw.below(std::ssize(axis_orders())))].order;
  return axes;
}

RopeSpec draw_spec(Draw& draw, const Claims& claims) {
  static const std::vector<std::int32_t> usual{2, 4, 6, 8, 16, 32, 48, 64, 80, 96, 128, 130, 160, 256};
  RopeSpec spec;
  spec.head_dim = draw.one_of(claims.head_dims.empty() ? usual : claims.head_dims);
  spec.rotary_dim = spec.head_dim / 2 * 2;
  if (draw.one_in(3) && spec.head_dim >= 4) {
    spec.rotary_dim = draw.one_of({spec.head_dim / 2, spec.head_dim / 4, spec.head_dim - 2}) / 2 * 2;
    spec.rotary_dim = std::max(spec.rotary_dim, 2);
  }
  spec.pairing = draw.one_in(2) ? Pairing::half_split : Pairing::interleaved;
  spec.base = draw.one_of({10000.0, 500000.0, 1000000.0, 150.0, 12345.5, 10.25});
  spec.axes = draw_axes(draw, spec.rotary_dim / 2);
  spec.scaling = draw_scaling(draw, spec);
  const bool factor_claimed = claims.has(ROPE_FEATURE_ATTENTION_FACTOR);
  if (!factor_claimed) {
    spec.attention_factor = 1.0;
  } else if (draw.one_in(6)) {
    spec.attention_factor = draw.one_of({0.75, 1.3465735902799727});
  }
  return spec;
}

void draw_positions(Draw& draw, Case& c, std::int64_t most) {
  c.form = draw.one_of({PositionForm::offset, PositionForm::shared, PositionForm::per_batch});
  c.position_dtype = draw.one_in(2) ? DType::i32 : DType::i64;
  c.pattern = draw.one_of({PositionPattern::consecutive, PositionPattern::scattered, PositionPattern::repeated,
                           PositionPattern::descending, PositionPattern::exchanged, PositionPattern::scattered,
                           PositionPattern::first_in_order});
  if (c.form == PositionForm::offset) c.pattern = PositionPattern::consecutive;
  // Tables hold a row for every position up to the largest.
  const std::int64_t reach = std::min(most, c.source == AngleSource::tables ? longest_table : std::int64_t{1} << 20);
  const int magnitude = draw.between(0, 20);
  c.start = std::min(reach - 100, draw.below(std::int64_t{1} << magnitude));
  if (draw.one_in(4)) c.start = 0;
  c.start = std::max<std::int64_t>(c.start, 0);
}

std::int64_t elements(const Case& c) {
  return std::int64_t{c.batch} * c.seq * (c.heads + c.key_heads) * c.spec.head_dim;
}

void draw_sizes(Draw& draw, Case& c) {
  c.batch = draw.between(1, 3);
  c.seq = draw.one_in(4) ? c.batch : draw.between(1, 7);
  c.heads = draw.between(1, 5);
  // Sizes beyond the usual tiles and vectors, by less than one or by more; many tokens or many batches, not both.
  if (draw.one_in(12)) {
    c.batch = draw.one_of({8, 9, 33});
  } else if (draw.one_in(8)) {
    c.seq = draw.one_of({9, 12, 17, 33, 40, 65, 129, 257});
  }
  if (draw.one_in(12)) c.heads = draw.one_of({9, 12, 17, 32, 33, 65});
  c.key_heads = 0;
  if (draw.one_in(2)) c.key_heads = draw.one_in(2) ? c.heads : draw.between(1, 3);
}

// One row may have more elements.
bool is_within(const Case& c, std::int64_t most_elements) {
  return elements(c) <= std::max<std::int64_t>(most_elements, c.spec.head_dim);
}

Case draw_case(Draw& draw, const Claims& claims, std::int64_t most_elements) {
  Case c;
  c.spec = draw_spec(draw, claims);
  do draw_sizes(draw, c);
  while (!is_within(c, most_elements));
  c.dtype = draw.one_of({DType::f32, DType::f32, DType::bf16, DType::f16, DType::f64});
  c.out_dtype = draw.one_in(6) ? DType::f32 : c.dtype;
  c.source = draw.one_of({AngleSource::tables, AngleSource::frequencies, AngleSource::computed});
  c.given = draw.one_of({DType::f32, DType::f32, c.dtype, DType::f64});
  if (c.source == AngleSource::tables) {
    c.full_tables = draw.one_in(2);
    c.unequal_halves = c.full_tables && draw.one_in(3);
    if (draw.one_in(2)) c.spare_rows = draw.one_of({1, 5, 64});
  }
  draw_positions(draw, c, claims.capabilities.max_position);
  for (const Field& field : fields()) {
    if (field.draw != nullptr) field.draw(draw, c);
  }
  return c;
}

void widen(Draw& draw, Case& c, const Claims& claims, std::int64_t most_elements) {
  if (claims.head_dims.empty() && draw.one_in(3)) {
    c.spec.head_dim = draw.one_in(2) ? draw.one_of({192, 320, 512, 576, 1024}) : 2 * draw.between(1, 128);
    c.spec.rotary_dim = draw.one_in(3) ? draw.between(1, c.spec.head_dim / 2) * 2 : c.spec.head_dim;
    c.spec.axes = draw_axes(draw, c.spec.rotary_dim / 2);
    c.spec.scaling = draw_scaling(draw, c.spec);
  }
  do {
    c.batch = draw.one_of({1, 1, 2, 3, 9, 33, 65});
    c.seq = draw.one_of({1, 2, 3, 8, 16, 17, 32, 40, 64, 65, 128, 130, 256, 257, 512, 520, 1030, 2050});
    c.heads = draw.one_of({1, 2, 3, 4, 8, 12, 32, 33, 65, 130});
    c.key_heads = draw.one_of({0, 1, c.heads / 2, c.heads});
  } while (!is_within(c, most_elements));
  if (draw.one_in(3) && c.spec.rotary_dim < c.spec.head_dim && c.spec.head_dim >= 12) {
    c.spec.rotary_dim = c.spec.head_dim / 2 * 2 - draw.one_of({6, c.spec.head_dim / 6 * 2, 8});
    c.spec.axes = {};
    c.spec.scaling = draw_scaling(draw, c.spec);
  }
  if (draw.one_in(3) && claims.has(ROPE_FEATURE_ATTENTION_FACTOR)) c.spec.attention_factor = 0.625;
  if (draw.one_in(4)) {
    c.layout = draw.one_of({Layout::shifted, Layout::expanded, Layout::key_strided, Layout::angles_strided});
  }
  if (draw.one_in(6)) c.output = draw.one_of({OutputLayout::shifted, OutputLayout::key_strided});
  if (draw.one_in(4) && gives_positions(c.form)) {
    c.pattern = draw.one_of({PositionPattern::last_apart, PositionPattern::restarting, PositionPattern::left_padded});
  }
  if (draw.one_in(10)) c.input = InputKind::huge;
  if (draw.one_in(8)) c.out_dtype = draw.one_of({DType::f32, DType::f16, DType::bf16});
  constexpr std::int64_t one = 1;
  c.start = draw.one_of({0 * one, one, 250 * one, 2040 * one, 4090 * one, 65530 * one, (one << 20) + 3, (one << 24) + 5,
                         (one << 31) - 70, (one << 32) + 9});
  if (c.start > (one << 31) - 2000) c.position_dtype = DType::i64;
  // The positions of the last token and the last batch are larger than this one.
  const std::int64_t most = claims.capabilities.max_position;
  const std::int64_t reach = c.source == AngleSource::tables ? std::min(most, longest_table) : most;
  c.start = std::clamp<std::int64_t>(c.start, 0, std::max<std::int64_t>(reach - c.seq - 13 * c.batch - 16, 0));
}

template <class T>
T claimed_one(Draw& draw, T drawn, std::uint32_t mask, std::initializer_list<T> all) {
  std::vector<T> claimed;
  for (T value : all) {
    if ((mask >> static_cast<int>(value) & 1u) != 0) claimed.push_back(value);
  }
  if (claimed.empty() || std::find(claimed.begin(), claimed.end(), drawn) != claimed.end()) return drawn;
  return draw.one_of(claimed);
}

// Replaces whatever is not claimed by something that is, so that a kernel with narrow claims gets as many cases as any
// other.
void fit(Draw& draw, Case& c, const Claims& claims) {
  const rope_capabilities& k = claims.capabilities;
  const std::initializer_list<DType> floating{DType::f64, DType::f32, DType::f16, DType::bf16};
  std::uint32_t dtypes = 0;
  for (std::size_t i = 0; i < 4; ++i) dtypes |= k.out_dtypes[i] != 0 ? 1u << i : 0u;
  c.dtype = claimed_one(draw, c.dtype, dtypes, floating);
  c.out_dtype = claimed_one(draw, c.out_dtype, k.out_dtypes[static_cast<std::size_t>(c.dtype)], floating);
  c.spec.pairing = claimed_one(draw, c.spec.pairing, k.pairings, {Pairing::half_split, Pairing::interleaved});
  c.source = claimed_one(draw, c.source, k.angle_sources,
                         {AngleSource::tables, AngleSource::frequencies, AngleSource::computed});
  if (c.source == AngleSource::tables) {
    c.given = claimed_one(draw, c.given, k.table_dtypes, floating);
    if (k.half_tables == 0) c.full_tables = true;
    if (k.full_tables == 0) c.full_tables = false;
    c.start = std::min<std::int64_t>(c.start, longest_table - 100);
  } else {
    c.given = claimed_one(draw, c.given, k.theta_dtypes, floating);
    c.full_tables = false;
  }
  if (c.source == AngleSource::computed && (k.scalings >> c.spec.scaling.index() & 1u) == 0) {
    c.spec.scaling = scaling::None{};
  }
  c.position_dtype = claimed_one(draw, c.position_dtype, k.position_dtypes, {DType::i32, DType::i64});
  if (!c.full_tables || !claims.has(ROPE_FEATURE_UNEQUAL_HALVES)) c.unequal_halves = false;
  if (!claims.has(ROPE_FEATURE_AXES)) c.spec.axes = {};
  const bool partial = claims.has(ROPE_FEATURE_PARTIAL);
  if (c.spec.rotary_dim < k.least_rotary_dim || (!partial && c.spec.rotary_dim != c.spec.head_dim)) {
    c.spec.rotary_dim = c.spec.head_dim / 2 * 2;
    c.spec.axes = {};
    c.spec.scaling = scaling::None{};
  }
  if (!claims.has(ROPE_FEATURE_BATCH_POSITIONS) && c.form == PositionForm::per_batch) c.form = PositionForm::shared;
  if (!claims.has(ROPE_FEATURE_POSITIONS)) {
    c.form = PositionForm::offset;
    c.pattern = PositionPattern::consecutive;
  }
  if (!claims.has(ROPE_FEATURE_OFFSET) && c.form == PositionForm::offset) c.start = 0;
  // From 2^24 on f32 does not hold every position, and kernels of narrower types may use f32 for positions.
  if (c.dtype != DType::f64) c.start = std::min(c.start, (std::int64_t{1} << 20) + 3);
  if (!claims.has(ROPE_FEATURE_KEY)) c.key_heads = 0;
  if (!claims.has(ROPE_FEATURE_GROUPED_HEADS) && c.key_heads != 0) c.key_heads = c.heads;
  while (c.key_heads > 0 && c.heads % c.key_heads != 0) --c.key_heads;
  if (!claims.has(ROPE_FEATURE_BACKWARD)) c.direction = Direction::forward;
  if (c.layout == Layout::reversed && !claims.has(ROPE_FEATURE_ANY_STRIDES)) c.layout = Layout::strided;
  if (c.output == OutputLayout::reversed && !claims.has(ROPE_FEATURE_ANY_STRIDES)) c.output = OutputLayout::strided;
  if (c.layout == Layout::packed && (!claims.packed_tensors || c.key_heads == 0)) c.layout = Layout::strided;
  if (c.layout == Layout::key_strided && c.key_heads == 0) c.layout = Layout::strided;
  if (c.output == OutputLayout::key_strided && c.key_heads == 0) c.output = OutputLayout::strided;
  if (c.layout == Layout::angles_strided && c.source != AngleSource::tables && !gives_positions(c.form)) {
    c.layout = Layout::strided;
  }
  if (!claims.has(ROPE_FEATURE_STRIDED)) {
    c.layout = Layout::contiguous;
    c.output = OutputLayout::as_input;
  }
  if (!claims.has(ROPE_FEATURE_IN_PLACE) || c.dtype != c.out_dtype) c.in_place = false;
  if (c.in_place) c.output = OutputLayout::as_input;
}

// From the seed: all else in the case is the same with the claim and without it.
void give_offset(Case& c, const Claims& claims) {
  const int most = (c.spec.head_dim - c.spec.rotary_dim) / 2;
  if (most < 1 || !claims.has(ROPE_FEATURE_ROTARY_OFFSET) || c.seed % 4 != 0) return;
  const bool is_last = c.seed / 4 % 2 == 0;
  c.spec.rotary_offset = 2 * (is_last ? most : 1 + static_cast<int>(c.seed / 8 % static_cast<std::uint64_t>(most)));
}

// Kernels that claim neither draw nothing here.
void draw_sequences(Draw& draw, Case& c, const Claims& claims) {
  const bool starts = claims.has(ROPE_FEATURE_SEQLEN_OFFSETS), packed = claims.has(ROPE_FEATURE_CU_SEQLENS);
  std::vector<PositionForm> claimed;
  if (starts) claimed.push_back(PositionForm::seqlen_offsets);
  if (packed) claimed.push_back(PositionForm::cu_seqlens);
  if (starts && packed) claimed.push_back(PositionForm::cu_seqlens_and_offsets);
  if (claimed.empty() || !draw.one_in(6)) return;
  c.form = draw.one_of(claimed);
  c.pattern = PositionPattern::consecutive;
  if (!is_packed(c.form)) return;
  c.seq *= c.batch;
  c.batch = 1;
  c.sequences = draw.one_of({1, 2, 3, 5, 40});
  if (!gives_starts(c.form) && !claims.has(ROPE_FEATURE_OFFSET)) c.start = 0;
}

template <class Widen>
std::optional<Case> covered_case(rc::Random& random, const Claims& claims, std::int64_t most_elements,
                                 const std::function<void(Case&)>& change, Widen widen) {
  Draw draw(random);
  for (int attempt = 0; attempt < 60; ++attempt) {
    Case c = draw_case(draw, claims, most_elements);
    widen(draw, c);
    fit(draw, c, claims);
    draw_sequences(draw, c, claims);
    c.seed = random.next() >> 32;
    give_offset(c, claims);
    change(c);
    keep_in_head(c.spec);
    const std::int64_t room = claims.capabilities.max_position - largest_position(c);
    c.spare_rows = c.source == AngleSource::tables ? std::clamp<std::int64_t>(room, 0, c.spare_rows) : 0;
    keep_to_claims(c, claims);
    if (uncovered(c, claims).empty()) return c;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Case> random_case(rc::Random& random, const Claims& claims, std::int64_t most_elements,
                                const std::function<void(Case&)>& change) {
  return covered_case(random, claims, most_elements, change, [](Draw&, Case&) {});
}

std::optional<Case> wide_random_case(rc::Random& random, const Claims& claims, std::int64_t most_elements,
                                     const std::function<void(Case&)>& change) {
  return covered_case(random, claims, most_elements, change,
                      [&](Draw& draw, Case& c) { widen(draw, c, claims, most_elements); });
}

}  // namespace rope
