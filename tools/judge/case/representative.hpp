// Representative: the type, source and table width that stand for all others, for checks that cannot afford every way
// to call a kernel. If the first choice is not claimed, the next claimed one takes its place.
#pragma once

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

class Representative {
 public:
  // Only of `dtypes`; empty: of all claimed ones.
  Representative(const Claims& claims, const std::vector<DType>& dtypes);

  // Each is true if the case has the representative ...
  bool is_type_of(const Case& c) const;         // type of x: f32, else the first claimed of bf16, f16, f64
  bool is_output_type_of(const Case& c) const;  // output type: x's type, if it is claimed
  bool is_given_type_of(const Case& c) const;   // type of tables or theta: f32, else x's, else f64, bf16, f16
  bool is_width_of(const Case& c) const;        // width of tables: half, unless only full width is claimed
  bool is_source_of(const Case& c) const;       // source: any but frequencies, unless only these are claimed

  // How many of these it has not; the type of x does not count.
  int departures_of(const Case& c) const;

 private:
  rope_capabilities claimed_;
  std::vector<DType> dtypes_;
};

}  // namespace rope
