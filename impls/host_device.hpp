// Marks a function that runs on a CPU and, if nvcc compiles it, on a CUDA device too.
#pragma once

#ifdef __CUDACC__
#define ROPE_HOST_DEVICE __host__ __device__
#else
#define ROPE_HOST_DEVICE
#endif
