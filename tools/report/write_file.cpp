#include "tools/report/write_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reference/input_error.hpp"
#include "tools/report/leftovers.hpp"

namespace rope {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw InputError(fmt::format("{}: cannot be written: {}; name a file in a folder that exists and can be written to",
                               path.string(), std::strerror(error)));
}

// A name that is not a file's, such as /dev/stdout or a pipe: there is nothing to rename over.
bool is_no_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

// If the path is a link, the file itself, so that the link stays.
std::filesystem::path file_of(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::canonical(path, ignored);
  return file.empty() ? path : file;
}

bool put(std::FILE* file, std::string_view text) {
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

void check_can_write(const std::filesystem::path& path) {
  if (is_no_file(path)) return;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, EISDIR);
  const std::filesystem::path target = file_of(path);
  const std::string temporary = temporary_for(target);
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail(path, errno);
  std::fclose(file);
  std::remove(temporary.c_str());
  remove_leftovers(target.parent_path());
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  if (is_no_file(path)) {
    if (!put(std::fopen(path.c_str(), "wb"), text)) fail(path, errno);
    return;
  }
  const std::filesystem::path file = file_of(path);
  const std::string temporary = temporary_for(file);
  std::FILE* opened = nullptr;
  const InUse mine(temporary, [&] {
    if (opened != nullptr) std::fclose(opened);
    opened = std::fopen(temporary.c_str(), "wb");
    return opened != nullptr;
  });
  if (put(opened, text) && std::rename(temporary.c_str(), file.c_str()) == 0) return;
  const int error = errno;
  std::remove(temporary.c_str());
  fail(path, error);
}

}  // namespace rope
