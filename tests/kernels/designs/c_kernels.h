/* The kernels of the engines in C. */
#ifndef ROPE_DESIGNS_C_KERNELS_H
#define ROPE_DESIGNS_C_KERNELS_H

#include "impls/include/rope_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const rope_kernel graph_op_kernels[4];
extern const rope_kernel own_sine_kernels[5];
extern const rope_kernel scratch_kernels[3];

#ifdef __cplusplus
}
#endif
#endif
