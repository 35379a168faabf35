#include "tools/report/read_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reference/foreign_json.hpp"
#include "reference/input_error.hpp"

namespace rope {

std::string read_file(const std::string& path, const std::string& named) {
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw InputError(fmt::format("{} cannot be read: {}", named, std::strerror(errno)));
  std::string text;
  char part[1 << 16];
  for (std::size_t size = 0; text.size() <= longest_json && (size = std::fread(part, 1, sizeof part, file)) > 0;) {
    text.append(part, size);
  }
  const int error = std::ferror(file) != 0 ? errno : 0;
  if (file != stdin) std::fclose(file);
  if (error != 0) throw InputError(fmt::format("{} cannot be read: {}", named, std::strerror(error)));
  if (text.size() > longest_json) {
    throw InputError(fmt::format("{} cannot be read: it goes on after byte {}; allowed are {} bytes", named, longest_json,
                                 longest_json));
  }
  return text;
}

}  // namespace rope
