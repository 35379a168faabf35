/* The kernels of the engines in C. */
#ifndef ROPE_STYLES_ENGINES_C_KERNELS_H
#define ROPE_STYLES_ENGINES_C_KERNELS_H

#include "impls/include/rope_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const rope_kernel graph_op_kernels[10];
extern const rope_kernel own_sine_kernels[12];
extern const rope_kernel scratch_kernels[10];

#ifdef __cplusplus
}
#endif
#endif
