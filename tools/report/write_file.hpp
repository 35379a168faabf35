// A file is there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace rope {

// Writes to a temporary name in the same folder, then renames; what is no file, such as a pipe or /dev/stdout, is
// written to as it is. Throws InputError where the path cannot be written.
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws what write_file would, without waiting for the text. Leaves nothing behind.
void check_can_write(const std::filesystem::path& path);

}  // namespace rope
