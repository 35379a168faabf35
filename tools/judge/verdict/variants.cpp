#include "tools/judge/verdict/variants.hpp"

#include <fmt/format.h>

#include "reference/dtype.hpp"

namespace rope {

std::vector<std::string> permitted_variants(const Claims& claims) {
  const rope_capabilities& k = claims.capabilities;
  constexpr DType floating[] = {DType::f64, DType::f32, DType::f16, DType::bf16};
  const auto in_mask = [](std::uint32_t mask, DType dtype) { return (mask >> static_cast<int>(dtype) & 1u) != 0; };
  std::vector<std::string> variants;
  for (DType input : floating) {
    for (DType output : floating) {
      if (input == output || !in_mask(k.out_dtypes[static_cast<std::size_t>(input)], output)) continue;
      variants.push_back(fmt::format("{} output for {} input", name(output), name(input)));
    }
  }
  const bool tables = (k.angle_sources & ROPE_BIT(ROPE_TABLES)) != 0;
  for (DType given : {DType::f16, DType::bf16}) {
    if (tables && in_mask(k.table_dtypes, given))
      variants.push_back(fmt::format("cos and sin taken in {}", name(given)));
  }
  if (tables && k.half_tables != 0 && k.full_tables == 0) variants.emplace_back("only tables of half width");
  if (tables && k.full_tables != 0 && k.half_tables == 0) variants.emplace_back("only tables of full width");
  if (k.alignment > 1) variants.push_back(fmt::format("data aligned to {} bytes", k.alignment));
  return variants;
}

}  // namespace rope
