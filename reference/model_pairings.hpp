// Which two features a model's rope pairs, where its config.json does not say so.
#pragma once

#include <optional>
#include <string_view>

#include "reference/rope_spec.hpp"

namespace rope {

// By the modeling code of transformers 5.23; none for a model_type that it does not have.
std::optional<Pairing> pairing_of_model(std::string_view model_type);

}  // namespace rope
