// A file is there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace rope {

// Writes to a temporary name in the same folder, then renames. Throws InputError where the path cannot be written.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace rope
