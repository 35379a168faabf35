#include "tools/report/write_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reference/input_error.hpp"

namespace rope {

void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path.string(), getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  bool written = file != nullptr;
  if (written) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && written;
  }
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  std::remove(temporary.c_str());
  throw InputError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)));
}

}  // namespace rope
