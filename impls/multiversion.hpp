// One binary for every x86-64, which chooses wider vector code when it is loaded. Everything is compiled without
// contraction to FMA, so every version gives the same bits.
#pragma once

#include <cstdlib>  // defines __GLIBC__

// The choice uses an ifunc, which needs glibc. Sanitizers instrument its resolver before they are ready. clang 16's
// resolver crashes at start in a position-independent program. Without an ifunc, the compiler's flags decide.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ROPE_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ROPE_MULTIVERSION
#endif

// Put this before a loop whose iterations touch none of each other's elements, even if input and output are the same
// row. Without it the compiler compares the pointers and chooses scalar code in place.
#if defined(__clang__)
#define ROPE_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define ROPE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif
