// Compiles a function once for each of these instruction sets; the program chooses a copy when it is loaded. Why: the
// suite must run on any x86-64, where fma() is a call. An angle then takes 6 ns in float and 35 in double. With FMA it
// takes 1.2 and 3.7 ns, with AVX-512 0.8 and 2.5.
#pragma once

#if defined(__x86_64__) && defined(__clang__)
#define ROPE_CLONES __attribute__((target_clones("avx512f", "fma", "default")))  // clang 16 knows no levels
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)  // it instruments the choice, too
#define ROPE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ROPE_CLONES
#endif
