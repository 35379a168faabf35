// drawn_*.so: right kernels, each with its own random claims; the number in a kernel's name is the seed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/exports.hpp"
#include "tests/kernels/legal/algorithms.hpp"

namespace rope::legal {
namespace {

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  // 0 .. count-1; written out, because each standard library has other distributions.
  std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>(random_() % count); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

  template <class List>
  auto one_of(const List& list) {
    return list[below(list.size())];
  }

  // Each bit that is set in `all`, with that chance; at least one bit.
  std::uint32_t subset(std::uint32_t all, std::uint32_t percent) {
    std::uint32_t chosen = 0;
    while (chosen == 0) {
      for (int bit = 0; bit < 32; ++bit) chosen |= all & ROPE_BIT(bit) & (chance(percent) ? ~0u : 0u);
    }
    return chosen;
  }

 private:
  std::mt19937 random_;
};

constexpr std::uint32_t float_types =
    ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32) | ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_BF16);
constexpr std::array<std::uint32_t, 9> alignments{0, 1, 1, 2, 4, 8, 16, 64, 256};
constexpr std::array<std::int32_t, 35> head_dims{2,   4,   6,   8,   10,  12,  16,  18,  20,  22,  24,  32,
                                                 34,  40,  48,  62,  64,  66,  72,  80,  96,  98,  112, 128,
                                                 130, 160, 192, 250, 256, 258, 288, 320, 512, 576, 1024};
constexpr std::array<std::int64_t, 16> largest_positions{0,
                                                         1,
                                                         2,
                                                         31,
                                                         127,
                                                         1023,
                                                         4095,
                                                         8191,
                                                         40959,
                                                         131071,
                                                         (1 << 20) - 1,
                                                         1 << 22,
                                                         1 << 24,
                                                         INT32_MAX - 1,
                                                         INT32_MAX,
                                                         std::int64_t{1} << 31};

struct DrawnKernel {
  std::string name;
  std::string description;
  const Algorithm* algorithm;
  rope_capabilities claims;
  std::vector<std::int32_t> head_dims;
};

// What every call has, for three kernels of ten.
void draw_every_call(Draw& draw, rope_capabilities& claims) {
  if (!draw.chance(30)) return;
  const auto without = [&](rope_feature feature) { claims.features &= ~ROPE_BIT(feature); };
  const auto takes_its_own_type = [&] {
    std::uint32_t types = 0;
    for (std::uint32_t in = 0; in < 4; ++in) types |= claims.out_dtypes[in] & ROPE_BIT(in);
    return types != 0;
  };
  for (const rope_feature feature : {ROPE_FEATURE_POSITIONS, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_KEY}) {
    const bool claimed = (claims.features & ROPE_BIT(feature)) != 0;
    if (!draw.chance(40) || !claimed || (feature == ROPE_FEATURE_IN_PLACE && !takes_its_own_type())) continue;
    claims.required_features |= ROPE_BIT(feature);
    if (feature == ROPE_FEATURE_POSITIONS) without(ROPE_FEATURE_OFFSET);
    if (feature != ROPE_FEATURE_IN_PLACE) continue;
    for (std::uint32_t in = 0; in < 4; ++in) claims.out_dtypes[in] &= ROPE_BIT(in);
  }
  if (draw.chance(40)) {
    claims.layouts = draw.subset(ROPE_BIT(ROPE_LAYOUT_PACKED + 1) - 1, 50);
    // k behind q may not be aligned.
    const bool packs = (claims.required_features & ROPE_BIT(ROPE_FEATURE_KEY)) != 0 && claims.alignment <= 2;
    if (claims.layouts == ROPE_BIT(ROPE_LAYOUT_PACKED) && !packs) claims.layouts |= ROPE_BIT(ROPE_LAYOUT_CONTIGUOUS);
    without(ROPE_FEATURE_STRIDED);
    without(ROPE_FEATURE_ANY_STRIDES);
  }
  if ((claims.features & ROPE_BIT(ROPE_FEATURE_AXES)) != 0 && draw.chance(40)) {
    claims.axis_counts = draw.subset(ROPE_BIT(1) | ROPE_BIT(2) | ROPE_BIT(3), 50);
    claims.axis_orders = draw.subset(ROPE_BIT(ROPE_AXES_OTHERS_FIRST + 1) - 1, 50);
  }
  claims.yarn_truncate = draw.subset(3, 60);
  claims.yarn_clamp_pairs = draw.subset(3, 60);
  claims.own_attention_factor = draw.chance(30) ? 1 : 0;
  claims.length_of_call = draw.chance(30) ? 1 : 0;
}

// Also draws claims that nobody makes on purpose, such as k with fewer heads without k: only claims are tested.
DrawnKernel drawn(std::uint32_t seed) {
  Draw draw(seed);
  DrawnKernel kernel;
  kernel.algorithm = &algorithms[seed % algorithms.size()];
  rope_capabilities& claims = kernel.claims = kernel.algorithm->claims();
  const std::uint32_t percent = draw.one_of(std::array{20u, 50u, 80u});
  const std::uint32_t inputs = draw.subset(float_types, percent);
  for (std::uint32_t in = 0; in < 4; ++in) {
    const bool same = draw.chance(80);
    const std::uint32_t others = draw.subset(float_types, 25);
    claims.out_dtypes[in] = (inputs & ROPE_BIT(in)) == 0 ? 0 : same ? others | ROPE_BIT(in) : others;
  }
  for (std::uint32_t* mask : {&claims.table_dtypes, &claims.theta_dtypes, &claims.position_dtypes, &claims.pairings,
                              &claims.angle_sources, &claims.scalings, &claims.features}) {
    *mask = draw.subset(*mask, percent);
  }
  const std::uint32_t widths = draw.subset(3, 50);
  claims.half_tables = widths & 1;
  claims.full_tables = widths >> 1;
  claims.alignment = draw.one_of(alignments);
  claims.max_position = std::min(claims.max_position, draw.one_of(largest_positions));
  for (std::uint32_t count = draw.chance(40) ? 0 : 1 + draw.below(4); count > 0; --count) {
    kernel.head_dims.push_back(draw.one_of(head_dims));
  }
  draw_every_call(draw, claims);
  kernel.name = fmt::format("{}-{:03}", kernel.algorithm->name, seed);
  kernel.description = fmt::format("{}; claims drawn with seed {}", kernel.algorithm->description, seed);
  return kernel;
}

constexpr std::size_t count = 340;  // twenty of each algorithm

const std::vector<DrawnKernel>& kernels() {
  static const std::vector<DrawnKernel> all = [] {
    std::vector<DrawnKernel> result;
    for (std::uint32_t seed = 0; seed < count; ++seed) result.push_back(drawn(seed));
    for (DrawnKernel& kernel : result) {
      if (kernel.head_dims.empty()) continue;
      kernel.claims.head_dims = kernel.head_dims.data();
      kernel.claims.head_dim_count = static_cast<std::int32_t>(kernel.head_dims.size());
    }
    return result;
  }();
  return all;
}

template <std::size_t index>
std::int32_t apply_drawn(const rope_call* call) {
  const DrawnKernel& kernel = kernels()[index];
  return kernel.algorithm->apply(call, kernel.claims);
}

template <std::size_t... index>
Kernels entries(std::index_sequence<index...>) {
  // With its size: deducing it would need a fold expression over more elements than clang allows.
  static const std::array<rope_kernel, count> all{
      rope_kernel{sizeof(rope_kernel), ROPE_KERNEL_ABI, kernels()[index].name.c_str(),
                  kernels()[index].description.c_str(), apply_drawn<index>, kernels()[index].claims}...};
  return all;
}

}  // namespace
}  // namespace rope::legal

std::vector<rope::Kernels> rope::exported_kernels() {
  return {rope::legal::entries(std::make_index_sequence<rope::legal::count>())};
}
