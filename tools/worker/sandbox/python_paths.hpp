// Where a Python looks for modules outside of its own folder.
#pragma once

#include <filesystem>
#include <vector>

namespace rope::sandbox {

// `prefix` is the folder of an environment, such as venv/ of venv/bin/python: the interpreter that it was made from,
// and the folders that its .pth files name (packages installed with `pip install -e`).
std::vector<std::filesystem::path> python_paths(const std::filesystem::path& prefix);

}  // namespace rope::sandbox
