// The contract of rope_kernel.h in the terms of reference/: the same scaling rule, spec and position on both sides.
#pragma once

#include <cstdint>

#include "impls/include/rope_kernel.h"
#include "impls/position.hpp"
#include "reference/dtype.hpp"
#include "reference/rope_spec.hpp"

namespace rope {

// The rule that a call names. Throws InputError for an unknown kind or mode; whether the parameters make sense is
// for the rule's own check(). Lists are read from the pointers, rotary_dim/2 values each.
Scaling to_scaling(const rope_scaling& scaling, int rotary_dim);

// The same rule for a call. short_factor and long_factor point into `rule`. YaRN's mscale stays behind: it changes
// lambda only, which a call carries as attention_factor.
rope_scaling to_c(const Scaling& rule);

// What a call with angle source `computed` describes, its axes aside: rope_call names an axis for each pair, where
// RopeSpec has sections. Throws InputError as to_scaling does.
RopeSpec spec_of(const rope_call& call);

// Whether the rotation is carried out in double: where the result is, and where f64 tables turn f32. Rounding those to
// float first would cost what the error model allows for the arithmetic alone. For 16-bit results that rounding is far
// below the last one.
bool works_in_double(const rope_call& call);

// Product of the shape.
std::int64_t count(const rope_tensor& tensor);

}  // namespace rope
