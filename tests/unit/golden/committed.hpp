// The golden files of this repository, read once.
#pragma once

#include "golden/manifest.hpp"
#include "tests/unit/places.hpp"

namespace rope {

inline const Manifest& committed() {
  static const Manifest manifest = read_manifest(source_folder() / "golden");
  return manifest;
}

}  // namespace rope
