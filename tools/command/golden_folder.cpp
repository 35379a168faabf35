#include "tools/command/golden_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "tools/command/program_folder.hpp"

namespace rope {

std::filesystem::path source_folder() {
  constexpr std::string_view entry = "ropecheck_SOURCE_DIR:STATIC=";
  std::ifstream cache(program_folder() / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    if (line.starts_with(entry)) return line.substr(entry.size());
  }
  return {};
}

std::optional<Manifest> find_golden() {
  if (const char* folder = std::getenv("ROPECHECK_GOLDEN"); folder != nullptr && *folder != '\0') {
    return read_manifest(folder);
  }
  std::error_code unreadable;
  for (const std::filesystem::path& parent : {program_folder(), source_folder()}) {
    const std::filesystem::path folder = parent / "golden";
    if (!parent.empty() && std::filesystem::exists(folder / "manifest.json", unreadable)) return read_manifest(folder);
  }
  return std::nullopt;
}

std::size_t check_arrays(const Manifest& golden) {
  std::size_t arrays = 0;
  for (const GoldenCase& c : golden.cases) {
    for (const GoldenArray& array : c.arrays) {
      load(golden, c, array);
      ++arrays;
    }
  }
  return arrays;
}

}  // namespace rope
