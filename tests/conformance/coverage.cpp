#include "tests/conformance/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  if (c.in_place && c.dtype != c.out_dtype) return "in place means one dtype";
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
      {c.layout != Layout::contiguous, ROPE_FEATURE_STRIDED, "strides"},
      {c.key_heads > 0, ROPE_FEATURE_KEY, "q and k in one call"},
      {c.key_heads > 0 && c.key_heads != c.heads, ROPE_FEATURE_GROUPED_HEADS, "k with another number of heads"},
      {c.direction == Direction::backward, ROPE_FEATURE_BACKWARD, "backward"},
      {c.spec.axes.count() > 1, ROPE_FEATURE_AXES, "several position axes"},
      {lambda_of(c) != 1, ROPE_FEATURE_ATTENTION_FACTOR, "an attention factor"},
      {c.unequal_halves, ROPE_FEATURE_UNEQUAL_HALVES, "tables with unequal halves"},
  };
  for (const auto& row : table) {
    if (row.needed && !claims.has(row.feature)) return fmt::format("{} is not claimed", row.what);
  }
  return "";
}

}  // namespace

std::string uncovered(const Case& c, const Claims& claims) {
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
  if (c.source == AngleSource::computed) {
    if (!in_mask(k.scalings, c.spec.scaling.index())) {
      return fmt::format("scaling {} is not claimed", kind_of(c.spec.scaling));
    }
    if (c.spec.axes.restart) return "the contract's computed angles cannot restart per axis";
  }
  if (std::string why = uncovered_features(c, claims); !why.empty()) return why;
  if (largest_position(c) > k.max_position) return fmt::format("positions beyond {} are not claimed", k.max_position);
  return "";
}

}  // namespace rope
