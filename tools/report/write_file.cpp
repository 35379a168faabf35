#include "tools/report/write_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reference/input_error.hpp"

namespace rope {

namespace {

std::string temporary_for(const std::filesystem::path& path) {
  return fmt::format("{}.{}.tmp", path.string(), getpid());
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw InputError(fmt::format("{}: cannot be written: {}; name a file in a folder that exists and can be written to",
                               path.string(), std::strerror(error)));
}

}  // namespace

void check_can_write(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) fail(path, EISDIR);
  const std::string temporary = temporary_for(path);
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail(path, errno);
  std::fclose(file);
  std::remove(temporary.c_str());
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::string temporary = temporary_for(path);
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail(path, errno);
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = std::fclose(file) == 0 && written;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  std::remove(temporary.c_str());
  fail(path, error);
}

}  // namespace rope
