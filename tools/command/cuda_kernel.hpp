// The implementation for CUDA devices, a library beside the program: no other part of it needs CUDA.
#pragma once

#include <filesystem>
#include <string_view>

namespace rope {

inline constexpr std::string_view cuda_kernel_name = "cuda";

// Where it is, or would be: it is there where it was built.
std::filesystem::path cuda_kernel_library();

}  // namespace rope
