#include "tests/unit/places.hpp"

namespace rope {

std::filesystem::path source_folder() { return ROPECHECK_SOURCE_DIR; }
std::filesystem::path build_folder() { return ROPECHECK_BINARY_DIR; }

std::string python() { return ROPECHECK_PYTHON; }
std::string numpy_python() { return ROPECHECK_NUMPY_PYTHON; }
std::string jsonschema_python() { return ROPECHECK_JSONSCHEMA_PYTHON; }

}  // namespace rope
