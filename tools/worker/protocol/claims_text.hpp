// A kernel's claims in the worker protocol: rope_capabilities as JSON with names for bits.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope::worker {

nlohmann::json claims_to_json(const rope_capabilities& claims);

// head_dims of the result points nowhere; the list is put into `head_dims`. What is absent is not claimed, but for the
// alignment, which is then any. Throws std::exception that says what is malformed, or claimed without what it needs: a
// source of angles without a dtype, for example.
rope_capabilities claims_from_json(const nlohmann::json& json, std::vector<std::int32_t>& head_dims);

}  // namespace rope::worker
