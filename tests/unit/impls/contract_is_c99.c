/* Compiled as C99: fails to build if the contract header ever needs more. The sizes are compared with C++'s. */
#include "impls/include/rope_kernel.h"

size_t c_size_of_call(void) { return sizeof(rope_call); }
size_t c_size_of_kernel(void) { return sizeof(rope_kernel); }
