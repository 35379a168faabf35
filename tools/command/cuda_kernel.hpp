// The implementation for CUDA devices, a library beside the program: nothing else in the program needs CUDA.
#pragma once

#include <filesystem>
#include <string_view>

namespace rope {

inline constexpr std::string_view cuda_kernel_name = "cuda";

// Where the library is, or would be. It exists if it was built.
std::filesystem::path cuda_kernel_library();

}  // namespace rope
