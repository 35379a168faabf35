// A kernel's claims in the worker protocol: rope_capabilities as JSON with names for bits.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope::worker {

// Throws std::invalid_argument if there are more head_dims than are judged; they are not read then.
nlohmann::json claims_to_json(const rope_capabilities& claims);

// The result's head_dims points nowhere; the list is put into `head_dims`. What is absent is not claimed; an absent
// alignment means any. Throws std::exception that says what is malformed, or claimed without what it needs: for example
// a source of angles without a dtype.
rope_capabilities claims_from_json(const nlohmann::json& json, std::vector<std::int32_t>& head_dims);

}  // namespace rope::worker
