// What the legal kernels claim, and whether a call keeps to it.
#pragma once

#include <cstdint>

#include "impls/include/rope_kernel.h"

namespace rope::legal {

rope_capabilities everything();     // in the contract except answers to bad arguments
rope_capabilities up_to_2_24();     // everything, with positions that are floats
rope_capabilities equal_halves();   // everything but tables with unequal halves
rope_capabilities f64_from_f32();   // only f64, tables in f32
rope_capabilities f32_tables();     // half_split, f32, half-width f32 tables, contiguous, only q
rope_capabilities bf16_in_place();  // only bf16, with the features that serving engines use in place
rope_capabilities head_dim_128();   // only that head_dim
rope_capabilities aligned_to_64();  // pointers to whole cache lines
rope_capabilities no_offset();      // positions are given, or start at 0
rope_capabilities up_to_4095();     // positions
rope_capabilities up_to_127();
rope_capabilities bf16_to_f32();     // bf16 in, f32 out
rope_capabilities computed_alone();  // no tables, no frequencies
rope_capabilities i32_positions();
rope_capabilities full_tables();  // only full-width tables
rope_capabilities always_in_place();   // no call is out of place
rope_capabilities always_positions();  // no call is without given positions
rope_capabilities always_packed();     // each call has q and k, in the memory of a product that gives q, k and v
rope_capabilities of_an_engine();      // all of that, with tables
rope_capabilities of_a_model();        // as the rope of a vision model, heads before tokens, rules in one form
rope_capabilities periods();  // only frequencies, as periods, up to 2^24

// ROPE_UNSUPPORTED if the call is outside the claims, ROPE_INVALID_ARGUMENT if it makes no sense.
rope_status check(const rope_call* call, const rope_capabilities& claims);

// The same, but a call outside the claims ends the process: it would never be made to such a kernel.
rope_status check_or_abort(const rope_call* call, const rope_capabilities& claims);

// The position of a token on an axis.
std::int64_t position_of(const rope_call& call, int axis, std::int64_t batch, std::int64_t seq);

}  // namespace rope::legal
