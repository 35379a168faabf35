// Families of requirements: what the letters before the number stand for.
#pragma once

#include <span>
#include <string_view>

namespace rope {

struct Family {
  std::string_view id;     // "ROT"
  std::string_view title;  // "Rotation"
  std::string_view about;  // one sentence
};

// In the order of REQUIREMENTS.md; some may have no requirement yet.
std::span<const Family> families();

// "ROT" of "ROT-01".
std::string_view family_id(std::string_view requirement);

// Null where it stands in no family.
const Family* family_of(std::string_view requirement);

}  // namespace rope
