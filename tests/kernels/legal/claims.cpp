#include "tests/kernels/legal/claims.hpp"

#include <algorithm>
#include <initializer_list>

namespace rope::legal {

rope_capabilities everything() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F64] = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32);
  claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32) | ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_BF16);
  claims.out_dtypes[ROPE_F16] = ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16) | ROPE_BIT(ROPE_F32);
  claims.table_dtypes = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32) | ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_BF16);
  claims.theta_dtypes = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32);
  claims.position_dtypes = ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64);
  claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED);
  claims.angle_sources = ROPE_BIT(ROPE_TABLES) | ROPE_BIT(ROPE_FREQUENCIES) | ROPE_BIT(ROPE_COMPUTED);
  claims.half_tables = 1;
  claims.full_tables = 1;
  claims.scalings = ROPE_BIT(ROPE_SCALING_CONSTANT + 1) - 1;
  claims.features = (ROPE_BIT(ROPE_FEATURE_OFFSET + 1) - 1) | ROPE_BIT(ROPE_FEATURE_ANY_STRIDES);
  claims.alignment = 1;
  claims.max_position = std::int64_t{1} << 31;
  claims.device = ROPE_CPU;
  return claims;
}

rope_capabilities up_to_2_24() {
  rope_capabilities claims = everything();
  claims.max_position = std::int64_t{1} << 24;
  return claims;
}

rope_capabilities equal_halves() {
  rope_capabilities claims = everything();
  claims.features &= ~ROPE_BIT(ROPE_FEATURE_UNEQUAL_HALVES);
  return claims;
}

namespace {

void take_only(rope_capabilities& claims, std::initializer_list<rope_dtype> inputs) {
  for (int dtype = 0; dtype < 4; ++dtype) {
    if (std::find(inputs.begin(), inputs.end(), dtype) == inputs.end()) claims.out_dtypes[dtype] = 0;
  }
}

}  // namespace

rope_capabilities f64_from_f32() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_F64});
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.table_dtypes = ROPE_BIT(ROPE_F32);
  return claims;
}

rope_capabilities f32_tables() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_F32});
  claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.table_dtypes = ROPE_BIT(ROPE_F32);
  claims.full_tables = 0;
  claims.theta_dtypes = claims.position_dtypes = claims.scalings = claims.features = 0;
  return claims;
}

rope_capabilities bf16_in_place() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_BF16});
  claims.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16);
  claims.features = ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_POSITIONS) |
                    ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS) | ROPE_BIT(ROPE_FEATURE_KEY) |
                    ROPE_BIT(ROPE_FEATURE_GROUPED_HEADS) | ROPE_BIT(ROPE_FEATURE_PARTIAL);
  return claims;
}

rope_capabilities head_dim_128() {
  static constexpr std::int32_t head_dims[] = {128};
  rope_capabilities claims = everything();
  claims.head_dims = head_dims;
  claims.head_dim_count = 1;
  return claims;
}

rope_capabilities aligned_to_64() {
  rope_capabilities claims = everything();
  claims.alignment = 64;
  return claims;
}

rope_capabilities no_offset() {
  rope_capabilities claims = everything();
  claims.features &= ~ROPE_BIT(ROPE_FEATURE_OFFSET);
  return claims;
}

rope_capabilities up_to_4095() {
  rope_capabilities claims = everything();
  claims.max_position = 4095;
  return claims;
}

rope_capabilities up_to_127() {
  rope_capabilities claims = everything();
  claims.max_position = 127;
  return claims;
}

rope_capabilities bf16_to_f32() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_BF16});
  claims.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_F32);
  return claims;
}

rope_capabilities computed_alone() {
  rope_capabilities claims = everything();
  claims.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  claims.table_dtypes = claims.theta_dtypes = claims.half_tables = claims.full_tables = 0;
  return claims;
}

rope_capabilities i32_positions() {
  rope_capabilities claims = everything();
  claims.position_dtypes = ROPE_BIT(ROPE_I32);
  claims.max_position = (std::int64_t{1} << 31) - 1;
  return claims;
}

rope_capabilities full_tables() {
  rope_capabilities claims = everything();
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.half_tables = claims.theta_dtypes = claims.scalings = 0;
  return claims;
}

rope_capabilities always_in_place() {
  rope_capabilities claims = everything();
  for (int dtype = 0; dtype < 4; ++dtype) claims.out_dtypes[dtype] = ROPE_BIT(dtype);
  claims.required_features = ROPE_BIT(ROPE_FEATURE_IN_PLACE);
  return claims;
}

rope_capabilities always_positions() {
  rope_capabilities claims = no_offset();
  claims.required_features = ROPE_BIT(ROPE_FEATURE_POSITIONS);
  return claims;
}

rope_capabilities always_packed() {
  rope_capabilities claims = everything();
  claims.features &= ~(ROPE_BIT(ROPE_FEATURE_STRIDED) | ROPE_BIT(ROPE_FEATURE_ANY_STRIDES));
  claims.required_features = ROPE_BIT(ROPE_FEATURE_KEY);
  claims.layouts = ROPE_BIT(ROPE_LAYOUT_PACKED);
  return claims;
}

rope_capabilities of_an_engine() {
  rope_capabilities claims = bf16_in_place();
  take_only(claims, {ROPE_F32, ROPE_BF16});
  claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.table_dtypes = ROPE_BIT(ROPE_F32);
  claims.full_tables = claims.theta_dtypes = claims.scalings = 0;
  claims.max_position = 65535;
  claims.required_features =
      ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_POSITIONS) | ROPE_BIT(ROPE_FEATURE_KEY);
  claims.layouts = ROPE_BIT(ROPE_LAYOUT_PACKED);
  return claims;
}

rope_capabilities of_a_model() {
  rope_capabilities claims = always_positions();
  claims.features &= ~(ROPE_BIT(ROPE_FEATURE_STRIDED) | ROPE_BIT(ROPE_FEATURE_ANY_STRIDES) |
                       ROPE_BIT(ROPE_FEATURE_ATTENTION_FACTOR));
  claims.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  claims.table_dtypes = claims.theta_dtypes = claims.half_tables = claims.full_tables = 0;
  claims.layouts = ROPE_BIT(ROPE_LAYOUT_HEADS_FIRST);
  claims.axis_counts = ROPE_BIT(3);
  claims.axis_orders = ROPE_BIT(ROPE_AXES_INTERLEAVED);
  claims.yarn_clamp_pairs = ROPE_BIT(0);
  claims.own_attention_factor = 1;
  claims.length_of_call = 1;
  return claims;
}

rope_capabilities periods() {
  rope_capabilities claims = up_to_2_24();
  claims.angle_sources = ROPE_BIT(ROPE_FREQUENCIES);
  claims.table_dtypes = claims.half_tables = claims.full_tables = claims.scalings = 0;
  claims.theta_as_period = 1;
  return claims;
}

}  // namespace rope::legal
