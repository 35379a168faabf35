// Writes small GGUF files for tests, by the format's definition. Each part may be wrong on purpose.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace rope {

class GgufWriter {
 public:
  explicit GgufWriter(std::string_view architecture = "") {
    if (!architecture.empty()) text("general.architecture", architecture);
  }

  GgufWriter& u32(std::string_view key, std::uint32_t value) { return entry(key, 4, bytes(value)); }
  GgufWriter& f32(std::string_view key, float value) { return entry(key, 6, bytes(value)); }
  GgufWriter& truth(std::string_view key, std::uint8_t value) { return entry(key, 7, bytes(value)); }
  GgufWriter& text(std::string_view key, std::string_view value) { return entry(key, 8, string(value)); }

  GgufWriter& i32_list(std::string_view key, const std::vector<std::int32_t>& values) {
    std::string list = bytes(std::uint32_t{5}) + bytes(std::uint64_t{values.size()});
    for (const std::int32_t value : values) list += bytes(value);
    return entry(key, 9, list);
  }

  GgufWriter& text_list(std::string_view key, const std::vector<std::string>& values) {
    std::string list = bytes(std::uint32_t{8}) + bytes(std::uint64_t{values.size()});
    for (const std::string& value : values) list += string(value);
    return entry(key, 9, list);
  }

  GgufWriter& entry(std::string_view key, std::uint32_t type, std::string_view value) {
    ++keys_;
    entries_ += string(key) + bytes(type) + std::string(value);
    return *this;
  }

  GgufWriter& tensor(std::string_view name, std::uint32_t dimensions = 1) {
    ++tensors_;
    names_ += string(name) + bytes(dimensions) + std::string(std::size_t{8} * dimensions + 12, '\0');
    return *this;
  }

  std::string file(std::uint32_t version = 3) const {
    return "GGUF" + bytes(version) + bytes(tensors_) + bytes(keys_) + entries_ + names_;
  }

  template <class T>
  static std::string bytes(T value) {
    std::string found(sizeof value, '\0');
    std::memcpy(found.data(), &value, sizeof value);
    return found;
  }

  static std::string string(std::string_view text) { return bytes(std::uint64_t{text.size()}) + std::string(text); }

 private:
  std::uint64_t keys_ = 0;
  std::uint64_t tensors_ = 0;
  std::string entries_;
  std::string names_;
};

}  // namespace rope
