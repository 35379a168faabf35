#pragma once

#include <filesystem>

namespace rope {

// Of the running program: what belongs to it lies beside it. Empty where the system does not say.
std::filesystem::path program_folder();

}  // namespace rope
