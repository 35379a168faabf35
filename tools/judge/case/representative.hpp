// Representative: some ways to call a kernel differ only in a type, a source or the width of a table. This picks the
// one that stands for the others, for checks that cannot afford all. If it is not claimed, another one stands for them,
// so there is one for any claims.
#pragma once

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

class Representative {
 public:
  // Only of `dtypes`; empty: of all claimed ones.
  Representative(const Claims& claims, const std::vector<DType>& dtypes);

  bool has_type(const Case& c) const;    // x in f32, else in the first claimed of bf16, f16, f64
  bool has_output(const Case& c) const;  // in the type of x, if that is claimed
  bool has_given(const Case& c) const;   // tables or theta in f32, else in the type of x, else in f64, bf16, f16
  bool has_width(const Case& c) const;   // tables of half width, unless only full ones are claimed
  bool has_source(const Case& c) const;  // any but frequencies, unless only these are claimed

 private:
  rope_capabilities claimed_;
  std::vector<DType> dtypes_;
};

}  // namespace rope
