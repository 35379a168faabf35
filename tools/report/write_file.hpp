// Writes a file completely or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace rope {

// Writes to a temporary name in the same folder, then renames. A target that is not a file, such as a pipe or
// /dev/stdout, is written directly. Throws InputError if the path cannot be written.
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws what write_file would throw, before the text exists. Leaves nothing behind.
void check_can_write(const std::filesystem::path& path);

}  // namespace rope
