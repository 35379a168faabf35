// The contract of rope_kernel.h translated to reference/ and back: scaling rule, spec and position.
#pragma once

#include <cstdint>

#include "impls/include/rope_kernel.h"
#include "impls/position.hpp"
#include "reference/dtype.hpp"
#include "reference/rope_spec.hpp"

namespace rope {

// The rule that a call names. Throws InputError for an unknown kind or mode; the rule's own check() judges the
// parameters. Lists are read from the pointers, rotary_dim/2 values each.
Scaling to_scaling(const rope_scaling& scaling, int rotary_dim);

// The same rule for a call. short_factor and long_factor point into `rule`. YaRN's mscale is left out: it only changes
// lambda, which a call carries as attention_factor.
rope_scaling to_c(const Scaling& rule);

// What a call with angle source `computed` describes, without its axes: rope_call names an axis for each pair, RopeSpec
// has sections. Throws InputError as to_scaling does.
RopeSpec spec_of(const rope_call& call);

// Whether the rotation runs in double: for an f64 result, and for f32 with f64 tables. Rounding those tables to float
// first would cost as much as the error model allows for the whole arithmetic. For 16-bit results that rounding is far
// below the last one.
bool works_in_double(const rope_call& call);

// Product of the shape.
std::int64_t count(const rope_tensor& tensor);

}  // namespace rope
