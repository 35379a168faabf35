#include "tools/report/read_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "reference/foreign_json.hpp"
#include "reference/input_error.hpp"

namespace rope {
namespace {

class Input {
 public:
  Input(const std::string& path, const std::string& named)
      : named_(named), file_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0) fail(std::strerror(errno));
    awaits_writer_ = path != "-" && S_ISFIFO(status.st_mode);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    if (file_ > STDIN_FILENO) close(file_);
  }

  // Empty at the end.
  std::string_view part() {
    ssize_t size = 0;
    while ((size = read(file_, bytes_, sizeof bytes_)) < 0) {
      if (errno == EAGAIN) fcntl(file_, F_SETFL, 0);  // a writer is there: from now on it is waited for
      if (errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
    }
    // To open it as other files would wait for a writer, who may never come. The shell's `<(..)` has one at once.
    if (size == 0 && awaits_writer_) fail("it is a pipe, and nobody writes to it; start its writer first");
    awaits_writer_ = false;
    return {bytes_, static_cast<std::size_t>(size)};
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(fmt::format("{} cannot be read: {}", named_, why));
  }

 private:
  const std::string& named_;
  int file_;
  bool awaits_writer_ = false;
  char bytes_[1 << 16];
};

}  // namespace

std::string read_start(const std::string& path, const std::string& named, std::size_t most) {
  Input input(path, named);
  std::string text;
  while (text.size() < most) {
    const std::string_view part = input.part();
    if (part.empty()) break;
    text += part.substr(0, most - text.size());
  }
  return text;
}

std::string read_file(const std::string& path, const std::string& named) {
  std::string text = read_start(path, named, longest_json + 1);
  if (text.size() > longest_json) {
    throw InputError(fmt::format("{} cannot be read: it goes on after byte {}; allowed are {} bytes", named,
                                 longest_json, longest_json));
  }
  return text;
}

}  // namespace rope
