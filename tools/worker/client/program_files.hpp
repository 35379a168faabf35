// Where the files are that the running program needs: its host, its libraries, the golden files, the Python package.
#pragma once

#include <filesystem>
#include <string_view>

namespace rope {

// The first NAME of these places. Links are followed. If there is none, the path in the first place:
//   the program's own folder        a build and a wheel
//   ../libexec/ropecheck            the prefix into which CMake installed it; CMake may name these folders otherwise
//   ../share/ropecheck
std::filesystem::path program_file(std::string_view name);

}  // namespace rope
