#include "tools/command/golden_folder.hpp"

#include <cstdlib>
#include <future>
#include <span>

#include "tools/worker/client/program_files.hpp"

namespace rope {

std::optional<Manifest> find_golden() {
  if (const char* folder = std::getenv("ROPECHECK_GOLDEN"); folder != nullptr && *folder != '\0') {
    return read_manifest(folder);
  }
  const std::filesystem::path manifest = program_file("golden/manifest.json");
  if (std::error_code unreadable; !std::filesystem::exists(manifest, unreadable)) return std::nullopt;
  return read_manifest(manifest.parent_path());
}

namespace {

std::size_t check_arrays(const Manifest& golden, std::span<const GoldenCase> cases) {
  std::size_t arrays = 0;
  for (const GoldenCase& c : cases) {
    for (const GoldenArray& array : c.arrays) {
      load(golden, c, array);
      ++arrays;
    }
  }
  return arrays;
}

}  // namespace

// Half of them on another thread, if the system allows one: half of a short run's start is this.
std::size_t check_arrays(const Manifest& golden) {
  const std::span<const GoldenCase> cases = golden.cases;
  auto later = std::async([&] { return check_arrays(golden, cases.subspan(cases.size() / 2)); });
  const std::size_t arrays = check_arrays(golden, cases.first(cases.size() / 2));
  return arrays + later.get();
}

}  // namespace rope
