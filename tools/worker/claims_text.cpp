#include "tools/worker/claims_text.hpp"

#include <limits>
#include <stdexcept>

#include "tools/worker/wire.hpp"

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
};

}  // namespace

json claims_to_json(const rope_capabilities& claims) {
  json result;
  json dtypes = json::object();
  for (std::size_t in = 0; in < std::size(claims.out_dtypes); ++in) {
    if (claims.out_dtypes[in] != 0) {
      dtypes[std::string(wire::dtypes[in])] = wire::names_of(claims.out_dtypes[in], wire::dtypes);
    }
  }
  result["dtypes"] = dtypes;
  for (const Mask& mask : masks) result[mask.key] = wire::names_of(claims.*mask.field, mask.names);
  result["half_tables"] = claims.half_tables != 0;
  result["full_tables"] = claims.full_tables != 0;
  result["alignment"] = claims.alignment;
  result["max_position"] = claims.max_position;
  result["head_dims"] = json::array();
  for (std::int32_t i = 0; claims.head_dims != nullptr && i < claims.head_dim_count; ++i) {
    result["head_dims"].push_back(claims.head_dims[i]);
  }
  result["device"] = wire::names_of(1u << claims.device, wire::devices).at(0);
  return result;
}

rope_capabilities claims_from_json(const json& json, std::vector<std::int32_t>& head_dims) {
  rope_capabilities claims{};
  for (const auto& [in, out] : json.at("dtypes").items()) {
    const std::int32_t index = wire::enumerator(in, wire::dtypes);
    if (index < 0 || index > ROPE_BF16) throw std::invalid_argument("dtypes: " + in + " is no type of an input");
    claims.out_dtypes[index] = wire::mask_of(out, wire::dtypes);
  }
  for (const Mask& mask : masks) {
    if (json.contains(mask.key)) claims.*mask.field = wire::mask_of(json.at(mask.key), mask.names);
  }
  claims.half_tables = json.value("half_tables", false) ? 1 : 0;
  claims.full_tables = json.value("full_tables", false) ? 1 : 0;
  claims.alignment = json.value("alignment", 1u);
  claims.max_position = json.value("max_position", std::int64_t{0});
  head_dims = json.value("head_dims", std::vector<std::int32_t>{});
  claims.head_dim_count = static_cast<std::int32_t>(head_dims.size());
  if (json.contains("device")) claims.device = wire::enumerator(json.at("device"), wire::devices);
  return claims;
}

}  // namespace rope::worker
