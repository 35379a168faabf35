#include "tools/command/cuda_kernel.hpp"

#include "tools/worker/client/program_files.hpp"

namespace rope {

std::filesystem::path cuda_kernel_library() { return program_file("libropecheck_cuda.so"); }

}  // namespace rope
