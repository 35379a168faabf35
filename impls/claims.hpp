// What the built-in kernels claim.
#pragma once

#include <cstdint>

#include "impls/include/rope_kernel.h"
#include "reference/scaling/rules.hpp"

namespace rope {

// Everything that the contract can express on a CPU, for the pairings of the mask.
constexpr rope_capabilities everything_on_cpu(std::uint32_t pairings) {
  constexpr std::uint32_t floating = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32) | ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_BF16);
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F64] = ROPE_BIT(ROPE_F64);
  claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  claims.out_dtypes[ROPE_F16] = ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16) | ROPE_BIT(ROPE_F32);
  claims.table_dtypes = floating;
  claims.theta_dtypes = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32);
  claims.position_dtypes = ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64);
  claims.pairings = pairings;
  claims.angle_sources = ROPE_BIT(ROPE_TABLES) | ROPE_BIT(ROPE_FREQUENCIES) | ROPE_BIT(ROPE_COMPUTED);
  claims.half_tables = 1;
  claims.full_tables = 1;
  claims.scalings = ROPE_BIT(scaling_kind_count) - 1;
  claims.features = ROPE_BIT(ROPE_FEATURE_ROTARY_OFFSET + 1) - 1;
  claims.alignment = 1;
  claims.max_position = std::int64_t{1} << 36;  // turn.hpp says why
  claims.device = ROPE_CPU;
  return claims;
}

// The same on a CUDA device, except for bad arguments: looking at the device's memory would mean waiting for the
// device.
constexpr rope_capabilities everything_on_cuda() {
  rope_capabilities claims = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED));
  claims.features &= ~ROPE_BIT(ROPE_FEATURE_ROBUST);
  claims.device = ROPE_CUDA;
  return claims;
}

}  // namespace rope
