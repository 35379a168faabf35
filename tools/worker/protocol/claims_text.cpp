#include "tools/worker/protocol/claims_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "impls/scaling_fields.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

using nlohmann::json;

struct Mask {
  const char* key;
  std::uint32_t rope_capabilities::*field;
  const wire::Names& names;
};

const Mask masks[] = {
    {"tables", &rope_capabilities::table_dtypes, wire::dtypes},
    {"theta", &rope_capabilities::theta_dtypes, wire::dtypes},
    {"positions", &rope_capabilities::position_dtypes, wire::dtypes},
    {"pairings", &rope_capabilities::pairings, wire::pairings},
    {"sources", &rope_capabilities::angle_sources, wire::sources},
    {"scalings", &rope_capabilities::scalings, wire::scalings},
    {"features", &rope_capabilities::features, wire::features},
    {"required_features", &rope_capabilities::required_features, wire::features},
    {"layouts", &rope_capabilities::layouts, wire::layouts},
    {"axis_orders", &rope_capabilities::axis_orders, wire::axis_orders},
};

// Bits that are numbers, from 0 on.
struct Numbers {
  std::string_view key;
  std::uint32_t rope_capabilities::*field;
  int least, most;
};

constexpr auto numbers = [] {
  std::array<Numbers, std::size(scaling_modes) + 1> all{{{"axis_counts", &rope_capabilities::axis_counts, 1, 3}}};
  for (std::size_t i = 0; i < std::size(scaling_modes); ++i) {
    all[i + 1] = {scaling_modes[i].name, scaling_modes[i].claimed, 0, 1};
  }
  return all;
}();

struct Switch {
  const char* key;
  std::uint32_t rope_capabilities::*field;
};

constexpr Switch switches[] = {{"half_tables", &rope_capabilities::half_tables},
                               {"full_tables", &rope_capabilities::full_tables},
                               {"overwrites_inputs", &rope_capabilities::overwrites_inputs},
                               {"seq_within_rows", &rope_capabilities::seq_within_rows},
                               {"own_attention_factor", &rope_capabilities::own_attention_factor},
                               {"length_of_call", &rope_capabilities::length_of_call},
                               {"compiles_each_shape", &rope_capabilities::compiles_each_shape}};

// In bytes: a tensor that is aligned to more than a page cannot end with one.
constexpr std::uint32_t largest_alignment = 4096;

// A claim without bound would be a run without end, or of more memory than there is.
constexpr std::size_t most_head_dims = 1024;
constexpr std::int32_t largest_head_dim = 1 << 16;

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

void check_count(std::size_t head_dims) {
  require(head_dims <= most_head_dims,
          fmt::format("head_dims: {} are claimed; allowed are {}", head_dims, most_head_dims));
}

std::vector<std::int32_t> head_dims_from(const json& list) {
  require(list.is_array(), "head_dims: expected a list");
  check_count(list.size());
  std::vector<std::int32_t> head_dims;
  for (const json& dim : list) {
    head_dims.push_back(static_cast<std::int32_t>(wire::whole(dim, "head_dims", 2, largest_head_dim)));
  }
  return head_dims;
}

std::uint32_t mask_of_numbers(const json& list, const Numbers& of) {
  require(list.is_array(), fmt::format("{}: expected a list", of.key));
  std::uint32_t mask = 0;
  for (const json& number : list) {
    mask |= ROPE_BIT(static_cast<int>(wire::whole(number, std::string(of.key), of.least, of.most)));
  }
  return mask;
}

// Claims of what every call has must leave calls that can be made.
void check_every_call(const rope_capabilities& claims) {
  const auto has = [](std::uint32_t mask, int bit) { return (mask & ROPE_BIT(bit)) != 0; };
  const auto always = [&](int feature) { return has(claims.required_features, feature); };
  constexpr std::uint32_t may_be_required =
      ROPE_BIT(ROPE_FEATURE_POSITIONS) | ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_KEY);
  const auto only = [](std::uint32_t mask, std::uint32_t of, std::string_view otherwise) {
    if ((mask & ~of) == 0) return;
    const std::string wrong = wire::names_of(mask & ~of, wire::features).at(0);
    throw std::invalid_argument(fmt::format("required_features: {} {}", wrong, otherwise));
  };
  only(claims.required_features, may_be_required, "cannot be required; positions, in_place and key can");
  only(claims.required_features, claims.features, "is required, but features lacks it");
  for (const int other : {ROPE_FEATURE_OFFSET, ROPE_FEATURE_SEQLEN_OFFSETS, ROPE_FEATURE_CU_SEQLENS}) {
    if (!always(ROPE_FEATURE_POSITIONS) || !has(claims.features, other)) continue;
    const std::string name = wire::names_of(ROPE_BIT(other), wire::features).at(0);
    throw std::invalid_argument(
        fmt::format("features has {}, but required_features has positions: then nothing is counted", name));
  }
  for (int input = 0; input < 4 && always(ROPE_FEATURE_IN_PLACE); ++input) {
    require((claims.out_dtypes[input] & ~ROPE_BIT(input)) == 0,
            "dtypes has outputs of another type, but required_features has in_place");
  }
  require(claims.layouts == 0 || !has(claims.features, ROPE_FEATURE_STRIDED),
          "layouts says all of them, so features must not have strided");
  require(claims.layouts != ROPE_BIT(ROPE_LAYOUT_PACKED) || always(ROPE_FEATURE_KEY),
          "layouts has only packed, which needs a k, but required_features lacks key");
  require(!has(claims.features, ROPE_FEATURE_ROTARY_OFFSET) || has(claims.features, ROPE_FEATURE_PARTIAL),
          "features has rotary_offset, which needs partial");
  const bool axes = has(claims.features, ROPE_FEATURE_AXES);
  require(axes || (claims.axis_counts & ~ROPE_BIT(1)) == 0, "axis_counts has more than 1, but features lacks axes");
  require(axes || claims.axis_orders == 0, "axis_orders is claimed, but features lacks axes");
}

// What a mask may hold, and what a claim needs besides. A claim without that could not be tested, and nobody would
// know.
void check(const rope_capabilities& claims, const std::vector<std::int32_t>& head_dims) {
  constexpr std::uint32_t floats = ROPE_BIT(ROPE_BF16 + 1) - 1, integers = ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64);
  const auto only = [](const char* key, std::uint32_t mask, std::uint32_t of) {
    if ((mask & ~of) == 0) return;
    const std::string wrong = wire::names_of(mask & ~of, wire::dtypes).at(0);
    throw std::invalid_argument(
        fmt::format("{}: {} is none of {}", key, wrong, wire::names_of(of, wire::dtypes).dump()));
  };
  std::uint32_t types = 0;
  for (const std::uint32_t outputs : claims.out_dtypes) {
    only("dtypes", outputs, floats);
    types |= outputs;
  }
  only("tables", claims.table_dtypes, floats);
  only("theta", claims.theta_dtypes, ROPE_BIT(ROPE_F32) | ROPE_BIT(ROPE_F64));
  only("positions", claims.position_dtypes, integers);
  require(types != 0, "dtypes: none is claimed");
  require(claims.pairings != 0, "pairings: none is claimed");
  require(claims.angle_sources != 0, "sources: none is claimed");
  const auto has = [](std::uint32_t mask, int bit) { return (mask & ROPE_BIT(bit)) != 0; };
  if (has(claims.angle_sources, ROPE_TABLES)) {
    require(claims.table_dtypes != 0, "sources has tables, but no dtype of tables is claimed");
    require(claims.half_tables != 0 || claims.full_tables != 0,
            "sources has tables, but neither half_tables nor full_tables is claimed");
  }
  require(!has(claims.angle_sources, ROPE_FREQUENCIES) || claims.theta_dtypes != 0,
          "sources has frequencies, but no dtype of theta is claimed");
  require(!has(claims.angle_sources, ROPE_COMPUTED) || claims.scalings != 0,
          "sources has computed, but no scaling is claimed; theta = base^(-2p/r) is the one called none");
  require(!has(claims.features, ROPE_FEATURE_POSITIONS) || claims.position_dtypes != 0,
          "features has positions, but no dtype of positions is claimed");
  require(!has(claims.features, ROPE_FEATURE_SEQLEN_OFFSETS) || claims.position_dtypes != 0,
          "features has seqlen_offsets, but no dtype of positions is claimed");
  require(claims.alignment == 0 || (std::has_single_bit(claims.alignment) && claims.alignment <= largest_alignment),
          fmt::format("alignment: {} is not a power of two up to {} bytes", claims.alignment, largest_alignment));
  require(claims.max_position >= 0, fmt::format("max_position: {} is below 0", claims.max_position));
  const bool partial = has(claims.features, ROPE_FEATURE_PARTIAL);
  const int least = std::max(claims.least_rotary_dim, 2);
  for (const std::int32_t dim : head_dims) {
    require(dim % 2 == 0 || partial,
            fmt::format("head_dims: {} is odd, so its last feature cannot turn, but features lacks partial", dim));
    require(dim >= least, fmt::format("least_rotary_dim: {} is above the head_dim {}", least, dim));
  }
  require(claims.least_rotary_dim >= 0 && claims.least_rotary_dim % 2 == 0,
          fmt::format("least_rotary_dim: {} is not an even number, or 0", claims.least_rotary_dim));
  require(std::isfinite(claims.base) && claims.base >= 0, fmt::format("base: {} is not a number above 0", claims.base));
  check_every_call(claims);
}

// From here on the contract's fields are younger: what a kernel does not claim of them is left out of the text.
constexpr std::size_t first_young_mask = 7, first_young_switch = 4;
static_assert(std::size(masks) > first_young_mask && std::size(switches) > first_young_switch);

}  // namespace

json claims_to_json(const rope_capabilities& claims) {
  require(claims.head_dim_count >= 0, fmt::format("head_dim_count: {} is below 0", claims.head_dim_count));
  check_count(static_cast<std::size_t>(claims.head_dim_count));
  json result;
  json dtypes = json::object();
  for (std::size_t in = 0; in < std::size(claims.out_dtypes); ++in) {
    if (claims.out_dtypes[in] != 0) {
      dtypes[std::string(wire::dtypes[in])] = wire::names_of(claims.out_dtypes[in], wire::dtypes);
    }
  }
  result["dtypes"] = dtypes;
  for (std::size_t i = 0; i < std::size(masks); ++i) {
    const std::uint32_t mask = claims.*masks[i].field;
    if (mask != 0 || i < first_young_mask) result[masks[i].key] = wire::names_of(mask, masks[i].names);
  }
  for (const Numbers& of : numbers) {
    for (int number = of.least; number <= of.most; ++number) {
      if ((claims.*of.field >> number & 1u) != 0) result[std::string(of.key)].push_back(number);
    }
  }
  for (std::size_t i = 0; i < std::size(switches); ++i) {
    const bool on = claims.*switches[i].field != 0;
    if (on || i < first_young_switch) result[switches[i].key] = on;
  }
  result["alignment"] = claims.alignment;
  result["max_position"] = claims.max_position;
  result["head_dims"] = json::array();
  for (std::int32_t i = 0; claims.head_dims != nullptr && i < claims.head_dim_count; ++i) {
    result["head_dims"].push_back(claims.head_dims[i]);
  }
  result["theta_as_period"] = claims.theta_as_period != 0;
  result["least_rotary_dim"] = claims.least_rotary_dim;
  result["base"] = claims.base;
  result["device"] = wire::names_of(1u << claims.device, wire::devices).at(0);
  return result;
}

rope_capabilities claims_from_json(const json& json, std::vector<std::int32_t>& head_dims) {
  rope_capabilities claims{};
  require(json.at("dtypes").is_object(),
          R"(dtypes: expected an output's types for each input's, as in {"f32": ["f32"]})");
  for (const auto& [in, out] : json.at("dtypes").items()) {
    const std::int32_t index = wire::enumerator(in, wire::dtypes);
    if (index < 0 || index > ROPE_BF16) throw std::invalid_argument("dtypes: " + in + " is not a type of an input");
    claims.out_dtypes[index] = wire::mask_of(out, wire::dtypes);
  }
  for (const Mask& mask : masks) {
    if (json.contains(mask.key)) claims.*mask.field = wire::mask_of(json.at(mask.key), mask.names);
  }
  for (const Numbers& of : numbers) {
    const std::string key(of.key);
    if (json.contains(key)) claims.*of.field = mask_of_numbers(json.at(key), of);
  }
  for (const Switch& one : switches) claims.*one.field = json.value(one.key, false) ? 1 : 0;
  claims.alignment = wire::whole_in(json, "alignment", std::uint32_t{1});
  claims.max_position = wire::whole_in(json, "max_position", std::int64_t{0});
  head_dims = json.contains("head_dims") ? head_dims_from(json.at("head_dims")) : std::vector<std::int32_t>();
  claims.head_dim_count = static_cast<std::int32_t>(head_dims.size());
  claims.least_rotary_dim = wire::whole_in(json, "least_rotary_dim", std::int32_t{0});
  claims.theta_as_period = json.value("theta_as_period", false) ? 1 : 0;
  claims.base = json.value("base", 0.0);
  if (json.contains("device")) claims.device = wire::enumerator(json.at("device"), wire::devices);
  check(claims, head_dims);
  return claims;
}

}  // namespace rope::worker
