#pragma once

#include <filesystem>

namespace rope {

// The running program's folder: what belongs to the program lies there. Empty if the system does not tell.
std::filesystem::path program_folder();

}  // namespace rope
