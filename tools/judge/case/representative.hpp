// Representative: of the ways to call a kernel that differ in a type, a source or the width of a table alone, the one
// that stands for the others where a check cannot afford all of them. Where the claims lack it, another one does:
// whatever a kernel claims, there is one.
#pragma once

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

class Representative {
 public:
  // Of `dtypes` only; empty: of all that are claimed.
  Representative(const Claims& claims, const std::vector<DType>& dtypes);

  bool has_type(const Case& c) const;    // x in f32, else in the first claimed of bf16, f16, f64
  bool has_output(const Case& c) const;  // in the type of x, unless that is not claimed
  bool has_given(const Case& c) const;   // tables or theta in f32, else in the type of x, else in f64, bf16, f16
  bool has_width(const Case& c) const;   // tables of half width, unless full ones alone are claimed
  bool has_source(const Case& c) const;  // any but frequencies, unless these alone are claimed

 private:
  rope_capabilities claimed_;
  std::vector<DType> dtypes_;
};

}  // namespace rope
