// The parameters of rope_scaling. Each has its name in the contract and the worker protocol, its name in a rule's
// fields(), and its place. A rule that needs only these parameters needs no change in impls or
// tools.
#pragma once

#include <cstdint>
#include <string_view>

#include "impls/include/rope_kernel.h"

namespace rope {

template <class T>
struct ScalingField {
  std::string_view name;
  std::string_view of_rule;
  T rope_scaling::*member;
};

inline constexpr ScalingField<double> scaling_numbers[] = {
    {"factor", "factor", &rope_scaling::factor},
    {"original_max_position", "original_max_position_embeddings", &rope_scaling::original_max_position},
    {"beta_fast", "beta_fast", &rope_scaling::beta_fast},
    {"beta_slow", "beta_slow", &rope_scaling::beta_slow},
    {"low_freq_factor", "low_freq_factor", &rope_scaling::low_freq_factor},
    {"high_freq_factor", "high_freq_factor", &rope_scaling::high_freq_factor},
    {"proportion", "proportion", &rope_scaling::proportion},
    {"max_frequency", "max_frequency", &rope_scaling::max_frequency},
};

// 0 or 1, and the mask of the values that a kernel claims; 0: both.
struct ScalingMode : ScalingField<std::int32_t> {
  std::uint32_t rope_capabilities::*claimed;
};
inline constexpr ScalingMode scaling_modes[] = {
    {{"yarn_truncate", "truncate", &rope_scaling::yarn_truncate}, &rope_capabilities::yarn_truncate},
    {{"yarn_clamp_pairs", "clamp", &rope_scaling::yarn_clamp_pairs}, &rope_capabilities::yarn_clamp_pairs},
};

// rotary_dim/2 values.
inline constexpr ScalingField<const double*> scaling_lists[] = {
    {"short_factor", "short_factor", &rope_scaling::short_factor},
    {"long_factor", "long_factor", &rope_scaling::long_factor},
};

}  // namespace rope
