// The golden files of this repository, read once.
#pragma once

#include "golden/manifest.hpp"

namespace rope {

inline const Manifest& committed() {
  static const Manifest manifest = read_manifest(std::filesystem::path(ROPECHECK_SOURCE_DIR) / "golden");
  return manifest;
}

}  // namespace rope
