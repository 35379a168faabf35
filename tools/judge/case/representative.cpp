#include "tools/judge/case/representative.hpp"

#include <algorithm>
#include <initializer_list>

namespace rope {
namespace {

template <class T>
bool has(std::uint32_t mask, T value) {
  return (mask >> static_cast<int>(value) & 1u) != 0;
}

// The first that is in the mask, or the first of all.
DType first_of(std::initializer_list<DType> in_order, std::uint32_t mask) {
  const auto found = std::find_if(in_order.begin(), in_order.end(), [&](DType dtype) { return has(mask, dtype); });
  return found == in_order.end() ? *in_order.begin() : *found;
}

}  // namespace

Representative::Representative(const Claims& claims, const std::vector<DType>& dtypes)
    : claimed_(claims.capabilities), dtypes_(dtypes) {}

bool Representative::is_type_of(const Case& c) const {
  std::uint32_t types = 0;
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    const bool wanted = dtypes_.empty() || std::find(dtypes_.begin(), dtypes_.end(), dtype) != dtypes_.end();
    if (wanted && claimed_.out_dtypes[static_cast<std::size_t>(dtype)] != 0) types |= 1u << static_cast<int>(dtype);
  }
  return c.dtype == first_of({DType::f32, DType::bf16, DType::f16, DType::f64}, types);
}

bool Representative::is_output_type_of(const Case& c) const {
  return c.out_dtype == c.dtype || !has(claimed_.out_dtypes[static_cast<std::size_t>(c.dtype)], c.dtype);
}

bool Representative::is_given_type_of(const Case& c) const {
  if (c.source == AngleSource::computed) return true;
  const std::uint32_t types = c.source == AngleSource::tables ? claimed_.table_dtypes : claimed_.theta_dtypes;
  return c.given == first_of({DType::f32, c.dtype, DType::f64, DType::bf16, DType::f16}, types);
}

bool Representative::is_width_of(const Case& c) const {
  return c.source != AngleSource::tables || !c.full_tables || claimed_.half_tables == 0;
}

bool Representative::is_source_of(const Case& c) const {
  return c.source != AngleSource::frequencies ||
         (!has(claimed_.angle_sources, AngleSource::tables) && !has(claimed_.angle_sources, AngleSource::computed));
}

int Representative::departures_of(const Case& c) const {
  return static_cast<int>(!is_output_type_of(c)) + static_cast<int>(!is_given_type_of(c)) +
         static_cast<int>(!is_width_of(c)) + static_cast<int>(!is_source_of(c));
}

}  // namespace rope
