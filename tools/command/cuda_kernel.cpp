#include "tools/command/cuda_kernel.hpp"

#include "tools/command/program_folder.hpp"

namespace rope {

std::filesystem::path cuda_kernel_library() { return program_folder() / "libropecheck_cuda.so"; }

}  // namespace rope
