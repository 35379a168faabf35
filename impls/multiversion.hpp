// One binary for every x86-64, with wider vector code chosen when it is loaded. Everything is compiled without
// contraction to FMA, so every version gives the same bits.
#pragma once

#include <cstdlib>  // defines __GLIBC__

// The choice is made through an ifunc, which needs glibc; sanitizers instrument its resolver before they are ready, and
// that of clang 16 crashes at start in a position-independent program. Without it: what the compiler's flags allow.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ROPE_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ROPE_MULTIVERSION
#endif

// Before a loop whose iterations touch no element of one another, also where input and output are the same row. Without
// it the compiler compares the pointers and takes scalar code in place.
#if defined(__clang__)
#define ROPE_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define ROPE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif
