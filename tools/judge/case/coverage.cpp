#include "tools/judge/case/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
  if (c.form != PositionForm::offset && !in_mask(claims.position_dtypes, c.position_dtype)) {
    return fmt::format("{} positions are not claimed", name(c.position_dtype));
  }
  return "";
}

double lambda_of(const Case& c) {
  if (c.spec.attention_factor) return *c.spec.attention_factor;
  const scaling::Setting setting{c.spec.head_dim, c.spec.rotary_dim, c.spec.base, sequence_length(c)};
  return attention_factor<double>(c.spec.scaling, setting);
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

std::string uncovered_features(const Case& c, const Claims& claims) {
  const struct {
    bool needed;
    rope_feature feature;
    const char* what;
  } table[] = {
      {c.spec.rotary_dim < c.spec.head_dim, ROPE_FEATURE_PARTIAL, "partial rotary"},
      {c.form != PositionForm::offset, ROPE_FEATURE_POSITIONS, "given positions"},
      {c.form == PositionForm::per_batch && c.batch > 1, ROPE_FEATURE_BATCH_POSITIONS, "positions per batch"},
      {c.form == PositionForm::offset && c.start != 0, ROPE_FEATURE_OFFSET, "a position offset"},
      {c.in_place, ROPE_FEATURE_IN_PLACE, "in place"},
      {!is_contiguous(c.layout) || c.output == OutputLayout::strided || c.output == OutputLayout::key_strided,
       ROPE_FEATURE_STRIDED, "strides"},
      {c.layout == Layout::reversed, ROPE_FEATURE_ANY_STRIDES, "negative strides, or features apart"},
      {c.key_heads > 0, ROPE_FEATURE_KEY, "q and k in one call"},
      {c.key_heads > 0 && c.key_heads != c.heads, ROPE_FEATURE_GROUPED_HEADS, "k with fewer heads"},
      {c.direction == Direction::backward, ROPE_FEATURE_BACKWARD, "backward"},
      {c.spec.axes.count() > 1, ROPE_FEATURE_AXES, "several position axes"},
      {lambda_of(c) != 1, ROPE_FEATURE_ATTENTION_FACTOR, "an attention factor"},
      {c.unequal_halves, ROPE_FEATURE_UNEQUAL_HALVES, "tables with unequal halves"},
  };
  if (c.output != OutputLayout::as_input && (c.in_place || is_distant(c.layout))) {
    return "in place or with distant rows, outputs have the layout of the inputs";
  }
  if (c.layout == Layout::shifted || c.output == OutputLayout::shifted) {
    if (!claims.shifted_tensors) return "its worker only has tensors at aligned addresses";
    const std::size_t least = std::min(size_of(c.dtype), size_of(c.out_dtype));
    if (claims.capabilities.alignment > least) return "data that begins at any element is not claimed";
  }
  if ((c.layout == Layout::key_strided || c.output == OutputLayout::key_strided) && c.key_heads == 0) {
    return "it has no k that could have other strides than q";
  }
  if (c.layout == Layout::angles_strided && c.source != AngleSource::tables && c.form == PositionForm::offset) {
    return "it has neither positions nor tables";
  }
  if (c.layout == Layout::expanded && c.in_place) return "rows that share their memory cannot be written in place";
  if (c.layout == Layout::packed) {
    if (std::string why = unpackable(c, claims); !why.empty()) return why;
  }
  if (is_distant(c.layout) && !claims.far_tensors) {
    return "its worker cannot place rows beyond 2^31 elements";
  }
  if (c.layout == Layout::distant_rows && c.source != AngleSource::tables) return "it has no tables with distant rows";
  if (c.key_heads > 0 && c.heads % c.key_heads != 0) return "q's heads must be a multiple of k's heads";
  if (c.tool != SanitizerTool::none && (claims.capabilities.device != ROPE_CUDA || !claims.compiled)) {
    return "compute-sanitizer watches kernels of libraries on a CUDA device";
  }
  for (const auto& row : table) {
    if (row.needed && !claims.has(row.feature)) return fmt::format("{} is not claimed", row.what);
  }
  return "";
}

// What the fault needs and the case lacks; empty: nothing.
std::string without_room_for(Fault fault, const Case& c, const Claims& claims) {
  const bool tables = c.source == AngleSource::tables;
  const bool given = c.form != PositionForm::offset;
  switch (fault) {
    case Fault::no_cos:
    case Fault::no_sin:
    case Fault::wide_table: return tables ? "" : "it has no tables";
    case Fault::odd_table: return tables && c.spec.rotary_dim > 2 ? "" : "it has no tables that could be narrower";
    case Fault::no_theta: return c.source == AngleSource::frequencies ? "" : "it has no frequencies";
    case Fault::offset_beyond_table:
    case Fault::negative_offset:
      return tables && !given && claims.has(ROPE_FEATURE_OFFSET) ? "" : "it has no tables or no offset";
    case Fault::position_beyond_table:
    case Fault::negative_position: return tables && given ? "" : "it has no tables or no positions";
    case Fault::integer_input:
      return c.dtype == DType::f32 && c.out_dtype == DType::f32 && !c.in_place ? "" : "it is not f32 to f32";
    case Fault::no_input:
    case Fault::no_output:
    case Fault::narrow_output:
    case Fault::longer_output: return c.in_place ? "it is in place" : "";
    case Fault::no_key_output:
    case Fault::other_key_type: return c.key_heads > 0 && !c.in_place ? "" : "it has no k with an output of its own";
    case Fault::float_positions: return c.form != PositionForm::offset ? "" : "it has no positions";
    case Fault::other_key: return c.key_heads > 0 && c.seq > 1 && !c.in_place ? "" : "it has no k of several tokens";
    default: return "";
  }
}

}  // namespace

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
  if (c.source == AngleSource::tables && (c.full_tables ? k.full_tables : k.half_tables) == 0) {
    return c.full_tables ? "full-width tables are not claimed" : "half-width tables are not claimed";
  }
  if (c.unequal_halves && !c.full_tables) return "only full-width tables can have unequal halves";
  if (c.spare_rows > 0 && c.source != AngleSource::tables) return "only tables can have spare rows";
  if (c.source == AngleSource::computed) {
    if (!in_mask(k.scalings, c.spec.scaling.index())) {
      return fmt::format("scaling {} is not claimed", kind_of(c.spec.scaling));
    }
    if (c.spec.axes.restart) return "the contract's computed angles cannot restart per axis";
  }
  if (std::string why = uncovered_features(c, claims); !why.empty()) return why;
  if (const std::string why = without_room_for(c.fault, c, claims); !why.empty()) {
    return fmt::format("the fault {} does not fit this case: {}", word_of(c.fault).word, why);
  }
  if (c.spare_rows > 0 && largest_position(c) + c.spare_rows > k.max_position) {
    return fmt::format("rows of positions beyond {} are not claimed", k.max_position);
  }
  const bool narrow = c.form != PositionForm::offset && c.position_dtype == DType::i32;
  if (narrow && largest_position(c) > std::numeric_limits<std::int32_t>::max()) return "i32 holds no such position";
  if (largest_position(c) > k.max_position) return fmt::format("positions beyond {} are not claimed", k.max_position);
  return "";
}

}  // namespace rope
