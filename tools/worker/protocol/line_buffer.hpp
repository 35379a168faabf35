// Bytes of a stream, taken out line by line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rope::worker {

class LineBuffer {
 public:
  // A longer line breaks the protocol: the longest valid one, with the lists of a scaling rule, has some 50 KiB.
  static constexpr std::size_t limit = 1 << 20;

  void append(std::string_view bytes) { bytes_ += bytes; }
  const std::string& unfinished() const { return bytes_; }
  bool overflown() const { return bytes_.size() > limit; }

  // The next complete line, without its newline.
  std::optional<std::string> take() {
    const std::size_t end = bytes_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = bytes_.substr(0, end);
    bytes_.erase(0, end + 1);
    return line;
  }

 private:
  std::string bytes_;
};

}  // namespace rope::worker
