#include "tools/judge/case/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/judge/call/claimed_rule.hpp"
#include "tools/judge/case/every_call.hpp"

namespace rope {
namespace {

bool in_mask(std::uint32_t mask, int bit) { return (mask >> bit & 1u) != 0; }

template <class Enum>
bool in_mask(std::uint32_t mask, Enum bit) {
  return in_mask(mask, static_cast<int>(bit));
}

std::string uncovered_types(const Case& c, const rope_capabilities& claims) {
  const std::uint32_t outputs = claims.out_dtypes[static_cast<std::size_t>(c.dtype)];
  if (outputs == 0) return fmt::format("{} input is not claimed", name(c.dtype));
  if (!in_mask(outputs, c.out_dtype)) {
    return fmt::format("{} output for {} input is not claimed", name(c.out_dtype), name(c.dtype));
  }
  if (c.in_place && c.dtype != c.out_dtype) return "in place, the output has the dtype of the input";
  if (!in_mask(claims.angle_sources, c.source)) return fmt::format("angle source {} is not claimed", name(c.source));
  if (c.source == AngleSource::tables && !in_mask(claims.table_dtypes, c.given)) {
    return fmt::format("{} tables are not claimed", name(c.given));
  }
  if (c.source == AngleSource::frequencies && !in_mask(claims.theta_dtypes, c.given)) {
    return fmt::format("{} frequencies are not claimed", name(c.given));
  }
  if (has_position_dtype(c.form) && !in_mask(claims.position_dtypes, c.position_dtype)) {
    return fmt::format("{} positions are not claimed", name(c.position_dtype));
  }
  return "";
}

scaling::Setting setting_of(const Case& c) {
  return {c.spec.head_dim, c.spec.rotary_dim, c.spec.base, sequence_length(c)};
}

double lambda_of(const Case& c) {
  return c.spec.attention_factor ? *c.spec.attention_factor : attention_factor<double>(c.spec.scaling, setting_of(c));
}

// Whether the rule's own factor is all that the kernel can have.
bool has_own_factor(const Case& c, const Claims& claims) {
  return c.source == AngleSource::computed && claims.capabilities.own_attention_factor != 0;
}

std::string uncovered_rule(const Case& c, const Claims& claims) {
  const rope_capabilities& k = claims.capabilities;
  if (!in_mask(k.scalings, c.spec.scaling.index())) {
    return fmt::format("scaling {} is not claimed", kind_of(c.spec.scaling));
  }
  if (const std::string choice = unclaimed_choice(c.spec.scaling, k); !choice.empty()) {
    return fmt::format("{} with {} is not claimed", kind_of(c.spec.scaling), choice);
  }
  if (k.base != 0 && c.spec.base != k.base) return fmt::format("base {} is not claimed", c.spec.base);
  if (c.spec.axes.restart) return "the contract's computed angles cannot restart per axis";
  if (has_own_factor(c, claims) && lambda_of(c) != own_attention_factor(c.spec.scaling, setting_of(c))) {
    return "an attention factor that is not the rule's own is not claimed";
  }
  // Where the positions of a golden case are is only in its files.
  const bool is_longer = !c.golden.empty() || sequence_length(c) != largest_position(c) + 1;
  if (k.length_of_call != 0 && is_longer && follows_length(c.spec.scaling)) {
    return "a sequence that is longer than the call's largest position is not claimed";
  }
  return "";
}

std::string unpackable(const Case& c, const Claims& claims) {
  if (c.key_heads == 0) return "it has no k that could lie behind q";
  if (c.fault != Fault::none) return "a call with a fault has separate memory for q and k";
  if (!claims.packed_tensors) return "its worker cannot put q and k into one memory";
  const std::int64_t row = std::int64_t{c.heads} * c.spec.head_dim;
  const std::int64_t alignment = std::max<std::int64_t>(claims.capabilities.alignment, 1);
  for (const DType dtype : {c.dtype, c.out_dtype}) {
    if (row * static_cast<std::int64_t>(size_of(dtype)) % alignment != 0) return "k behind q is not aligned as claimed";
  }
  return "";
}

std::string unplaceable(const Case& c, const Claims& claims) {
  if (c.address < 0 && c.output_address < 0) return "";
  const bool is_plain =
      c.layout == Layout::contiguous && (c.output == OutputLayout::as_input || c.output == OutputLayout::contiguous);
  if (!is_plain) return "only contiguous tensors are put at an address";
  if (!claims.shifted_tensors && std::max(c.address, c.output_address) > 0) {
    return "its worker only has tensors at aligned addresses";
  }
  const auto fits = [&](int address, DType dtype) {
    const std::size_t unit = std::max<std::size_t>(claims.capabilities.alignment, size_of(dtype));
    return address < 0 || static_cast<std::size_t>(address) % unit == 0;
  };
  const bool q_fits = fits(c.address, c.dtype) && (c.in_place || fits(c.output_address, c.out_dtype));
  const bool k_fits = fits(c.output_address, c.dtype) && (c.in_place || fits(c.address, c.out_dtype));
  if (q_fits && (c.key_heads == 0 || k_fits)) return "";
  return "data at such an address is not claimed";
}

// A worker has 96 GiB of address space for a tensor, and memory for the rows that take some.
constexpr int table_bits = 29, late_table_bits = 36;

std::string unplaceable_tables(const Case& c) {
  const bool is_late = c.layout == Layout::late_rows;
  if (is_late && (c.fault != Fault::none || !c.before.empty())) return "each call has a table of its own then";
  const std::int64_t width = c.spec.rotary_dim / (c.full_tables ? 1 : 2);
  const std::int64_t row = width * static_cast<std::int64_t>(size_of(c.given));
  const int bits = is_late ? late_table_bits : table_bits;
  if (largest_position(c) <= (std::int64_t{1} << bits) / row) return "";
  return fmt::format("its tables would take more than 2^{} bytes{}", bits,
                     is_late ? "" : "; with layout=late_rows, rows before the first position take none");
}

std::string uncovered_features(const Case& c, const Claims& claims) {
  const bool is_counted = c.pattern == PositionPattern::consecutive || c.pattern == PositionPattern::recurring;
  if (!gives_positions(c.form) && !is_counted) return "positions that are not given are counted from a start";
  if (is_packed(c.form) ? c.batch > 1 || c.sequences < 1 : c.sequences != 1) {
    return "only a row that is the whole batch packs sequences";
  }
  if (c.output != OutputLayout::as_input && (c.in_place || is_distant(c.layout))) {
    return "in place or with distant rows, outputs have the layout of the inputs";
  }
  if (c.layout == Layout::shifted || c.output == OutputLayout::shifted) {
    if (!claims.shifted_tensors) return "its worker only has tensors at aligned addresses";
    const std::size_t least = std::min(size_of(c.dtype), size_of(c.out_dtype));
    if (claims.capabilities.alignment > least) return "data that begins at any element is not claimed";
  }
  if (std::string why = unplaceable(c, claims); !why.empty()) return why;
  if ((c.layout == Layout::key_strided || c.output == OutputLayout::key_strided) && c.key_heads == 0) {
    return "it has no k that could have other strides than q";
  }
  if (c.layout == Layout::cached && c.batch < 2) return "it has no batches between which a gap could be";
  if (c.layout == Layout::loose_strides && c.batch != 1 && c.seq != 1 && c.heads != 1) return "it has no extent of 1";
  if (c.layout == Layout::angles_strided && c.source != AngleSource::tables && !gives_positions(c.form)) {
    return "it has neither positions nor tables";
  }
  const bool writes_inputs = c.in_place || claims.capabilities.overwrites_inputs != 0;
  if (c.layout == Layout::expanded && writes_inputs) return "rows that share their memory cannot be written";
  if (c.layout == Layout::packed) {
    if (std::string why = unpackable(c, claims); !why.empty()) return why;
  }
  if (is_distant(c.layout) && !claims.far_tensors) {
    return "its worker cannot place rows beyond 2^31 elements";
  }
  const bool of_tables = c.layout == Layout::distant_rows || c.layout == Layout::late_rows;
  if (of_tables && c.source != AngleSource::tables) return "it has no tables with distant rows";
  if (c.layout == Layout::late_rows) {
    // Others have no pages of zeros in the place of rows that take no memory.
    if (!claims.compiled) return "its worker cannot leave out rows of tables";
  }
  if (c.source == AngleSource::tables && c.layout != Layout::distant_rows) {
    if (std::string why = unplaceable_tables(c); !why.empty()) return why;
  }
  if (c.key_heads > 0 && c.heads % c.key_heads != 0) return "q's heads must be a multiple of k's heads";
  if (c.tool != SanitizerTool::none && (claims.capabilities.device != ROPE_CUDA || !claims.compiled)) {
    return "compute-sanitizer watches kernels of libraries on a CUDA device";
  }
  for (const FeatureNeed& need : feature_needs()) {
    if (need.feature == ROPE_FEATURE_STRIDED && claims.capabilities.layouts != 0) continue;  // these say it
    if (need.feature == ROPE_FEATURE_ATTENTION_FACTOR && has_own_factor(c, claims)) continue;
    if (!claims.has(need.feature) && need.needed(c)) return fmt::format("{} is not claimed", need.what);
  }
  return lacks_of_every_call(c, claims);
}

}  // namespace

std::span<const FeatureNeed> feature_needs() {
  static constexpr FeatureNeed needs[] = {
      {ROPE_FEATURE_PARTIAL, "partial rotary", [](const Case& c) { return c.spec.rotary_dim < c.spec.head_dim; }},
      {ROPE_FEATURE_POSITIONS, "given positions", [](const Case& c) { return gives_positions(c.form); }},
      {ROPE_FEATURE_BATCH_POSITIONS, "positions per batch",
       [](const Case& c) { return c.form == PositionForm::per_batch && c.batch > 1; }},
      {ROPE_FEATURE_OFFSET, "a position offset",
       [](const Case& c) {
         const bool starts_later = c.start != 0 || has_need(c.fault, FaultNeed::start);
         return (c.form == PositionForm::offset || c.form == PositionForm::cu_seqlens) && starts_later;
       }},
      {ROPE_FEATURE_SEQLEN_OFFSETS, "a start for each sequence", [](const Case& c) { return gives_starts(c.form); }},
      {ROPE_FEATURE_CU_SEQLENS, "packed sequences", [](const Case& c) { return is_packed(c.form); }},
      {ROPE_FEATURE_ROTARY_OFFSET, "a rotary offset", [](const Case& c) { return c.spec.rotary_offset != 0; }},
      {ROPE_FEATURE_IN_PLACE, "in place", [](const Case& c) { return c.in_place; }},
      {ROPE_FEATURE_STRIDED, "strides",
       [](const Case& c) {
         return !is_contiguous(c.layout) || c.output == OutputLayout::strided ||
                c.output == OutputLayout::key_strided || c.output == OutputLayout::reversed;
       }},
      {ROPE_FEATURE_ANY_STRIDES, "negative strides, or features apart",
       [](const Case& c) { return c.layout == Layout::reversed || c.output == OutputLayout::reversed; }},
      {ROPE_FEATURE_KEY, "q and k in one call", [](const Case& c) { return c.key_heads > 0; }},
      {ROPE_FEATURE_GROUPED_HEADS, "k with fewer heads",
       [](const Case& c) { return c.key_heads > 0 && c.key_heads != c.heads; }},
      {ROPE_FEATURE_BACKWARD, "backward", [](const Case& c) { return c.direction == Direction::backward; }},
      {ROPE_FEATURE_AXES, "several position axes", [](const Case& c) { return c.spec.axes.count() > 1; }},
      {ROPE_FEATURE_ATTENTION_FACTOR, "an attention factor", [](const Case& c) { return lambda_of(c) != 1; }},
      {ROPE_FEATURE_UNEQUAL_HALVES, "tables with unequal halves", [](const Case& c) { return c.unequal_halves; }},
  };
  return needs;
}

void keep_to_claims(Case& c, const Claims& claims) {
  keep_spec_to_claims(c, claims);
  keep_call_to_claims(c, claims);
}

void keep_spec_to_claims(Case& c, const Claims& claims) {
  const rope_capabilities& k = claims.capabilities;
  if (c.source == AngleSource::computed) {
    if (k.base != 0) c.spec.base = k.base;
    c.spec.scaling = with_claimed_choices(c.spec.scaling, k);
    if (k.own_attention_factor != 0 && c.spec.attention_factor == 1) c.spec.attention_factor.reset();
  }
  give_claimed_axes(c, claims);
}

void keep_call_to_claims(Case& c, const Claims& claims) {
  reach_start(c, claims);
  give_required_features(c, claims);
  give_claimed_layout(c, claims);
  if (c.source == AngleSource::tables && claims.capabilities.seq_within_rows != 0) {
    c.spare_rows = std::max(c.spare_rows, c.seq - 1 - largest_position(c));
  }
}

std::optional<Case> claimed(Case c, const Claims& claims) {
  keep_to_claims(c, claims);
  return uncovered(c, claims).empty() ? std::optional(std::move(c)) : std::nullopt;
}

std::string uncovered(const Case& c, const Claims& claims) {
  for (const Case& earlier : earlier_cases(c)) {
    if (std::string why = uncovered(earlier, claims); !why.empty()) return why;
  }
  const rope_capabilities& k = claims.capabilities;
  if (std::string why = uncovered_types(c, k); !why.empty()) return why;
  if (!in_mask(k.pairings, c.spec.pairing)) return fmt::format("{} is not claimed", name(c.spec.pairing));
  const std::vector<std::int32_t>& dims = claims.head_dims;
  const bool claimed =
      dims.empty() ? c.spec.head_dim % 2 == 0 : std::find(dims.begin(), dims.end(), c.spec.head_dim) != dims.end();
  if (!claimed) return fmt::format("head_dim {} is not claimed", c.spec.head_dim);
  if (c.spec.rotary_dim < k.least_rotary_dim) return fmt::format("rotary_dim {} is not claimed", c.spec.rotary_dim);
  if (c.source == AngleSource::tables && (c.full_tables ? k.full_tables : k.half_tables) == 0) {
    return c.full_tables ? "full-width tables are not claimed" : "half-width tables are not claimed";
  }
  if (c.unequal_halves && !c.full_tables) return "only full-width tables can have unequal halves";
  if (c.spare_rows > 0 && c.source != AngleSource::tables) return "only tables can have spare rows";
  if (c.source == AngleSource::computed) {
    if (std::string why = uncovered_rule(c, claims); !why.empty()) return why;
  }
  if (std::string why = uncovered_features(c, claims); !why.empty()) return why;
  if (std::string why = unfit_for_fault(c); !why.empty()) return why;
  if (c.spare_rows > 0 && largest_position(c) + c.spare_rows > k.max_position) {
    return fmt::format("rows of positions beyond {} are not claimed", k.max_position);
  }
  const bool narrow = has_position_dtype(c.form) && c.position_dtype == DType::i32;
  if (narrow && largest_position(c) > std::numeric_limits<std::int32_t>::max()) return "i32 holds no such position";
  // The positions of a golden case are in its files.
  if (c.golden.empty() && c.sequence_length != 0 && largest_position(c) >= c.sequence_length) {
    return fmt::format("a sequence of {} tokens has no position {}", c.sequence_length, largest_position(c));
  }
  if (largest_position(c) > k.max_position) return fmt::format("positions beyond {} are not claimed", k.max_position);
  const std::int64_t last_row = c.source == AngleSource::tables ? largest_position(c) + c.spare_rows : k.max_position;
  if (k.seq_within_rows != 0 && c.seq - 1 > last_row) return "more tokens than rows are not claimed";
  return "";
}

}  // namespace rope
