// What a user may demand beyond the MUSTs: `--require bitwise`. A requirement itself says which demands turn its
// SHOULD into a MUST.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rope {

enum class Demand : std::uint32_t {
  bitwise = 1,          // relations bit for bit
  batch_invariant = 2,  // bits that do not depend on what else is in the call
  robust = 4            // bad, empty, subnormal and concurrent calls
};
using Demands = std::uint32_t;  // a mask

constexpr Demands operator|(Demand a, Demand b) { return static_cast<Demands>(a) | static_cast<Demands>(b); }
constexpr Demands mask(Demand d) { return static_cast<Demands>(d); }

struct DemandWord {
  Demand demand;
  std::string_view word;
  std::string_view meaning;
};
std::span<const DemandWord> demand_words();
std::optional<Demand> demand_from_word(std::string_view word);

}  // namespace rope
