#include "reference/gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <set>

#include "reference/escaped_text.hpp"
#include "reference/spec_json.hpp"

namespace rope {
namespace {

constexpr std::string_view gguf_magic = "GGUF";
// Files of models have about 50 keys and 2000 tensors. The JSON object of the keys is searched one by one.
constexpr std::uint64_t most_keys = 4096;
constexpr std::uint64_t most_tensors = 1'000'000;
constexpr std::uint64_t longest_gguf_name = 65535;  // of a key, by the format's definition
constexpr std::uint64_t longest_kept_list = 1024;
constexpr std::uint32_t most_dimensions = 8;  // ggml has 4

// Values are copied out of the file as they lie there.
static_assert(std::endian::native == std::endian::little);

enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, truth, text, list, u64, i64, f64 };
constexpr std::array<std::uint64_t, 13> gguf_bytes_of = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

class GgufBytes {
 public:
  GgufBytes(std::string_view content, std::string_view where) : content_(content), where_(where) {}

  std::size_t at() const { return at_; }

  [[noreturn]] void fail(std::size_t byte, const std::string& words) const {
    throw InputError(fmt::format("{}: byte {}: {}", where_, byte, words));
  }

  template <class T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  // At most `most`; else a short file would ask for much memory or time.
  std::uint64_t count(std::uint64_t most, std::string_view what) {
    const std::size_t start = at_;
    const auto found = number<std::uint64_t>(what);
    if (found > most) fail(start, fmt::format("{} is {}; allowed are {}", what, found, most));
    return found;
  }

  std::string_view string(std::uint64_t most, std::string_view what) {
    const std::uint64_t length = count(most, fmt::format("the length of {}", what));
    return take(length, what);
  }

  std::string utf8(std::uint64_t most, const std::string& what) {
    const std::size_t start = at_;
    const std::string_view found = string(most, what);
    if (!is_utf8(found)) fail(start, fmt::format("{} is not UTF-8", what));
    return std::string(found);
  }

  std::string_view take(std::uint64_t bytes, std::string_view what) {
    if (bytes > content_.size() - at_) {
      if (content_.size() > longest_json) {
        fail(longest_json, fmt::format("{} goes on; allowed are {} bytes before the tensors", what, longest_json));
      }
      fail(content_.size(), fmt::format("the file ends within {}", what));
    }
    const std::string_view taken = content_.substr(at_, bytes);
    at_ += bytes;
    return taken;
  }

 private:
  std::string_view content_;
  std::string_view where_;
  std::size_t at_ = 0;
};

Json scalar(GgufBytes& file, GgufType type, const std::string& what) {
  using enum GgufType;
  switch (type) {
    case u8: return file.number<std::uint8_t>(what);
    case i8: return file.number<std::int8_t>(what);
    case u16: return file.number<std::uint16_t>(what);
    case i16: return file.number<std::int16_t>(what);
    case u32: return file.number<std::uint32_t>(what);
    case i32: return file.number<std::int32_t>(what);
    case f32: return file.number<float>(what);
    case u64: return file.number<std::uint64_t>(what);
    case i64: return file.number<std::int64_t>(what);
    case f64: return file.number<double>(what);
    default: break;
  }
  const std::size_t start = file.at();
  const auto found = file.number<std::uint8_t>(what);
  if (found > 1) file.fail(start, fmt::format("{} is {}; a truth value is 0 or 1", what, found));
  return found == 1;
}

GgufType type_of(GgufBytes& file, bool is_in_list, const std::string& what) {
  const std::size_t start = file.at();
  const auto type = file.number<std::uint32_t>(fmt::format("the type of {}", what));
  if (type >= gguf_bytes_of.size()) {
    file.fail(start, fmt::format("{} has type {}; there are 0 to {}", what, type, gguf_bytes_of.size() - 1));
  }
  const GgufType found{type};
  if (is_in_list && found == GgufType::list) {
    file.fail(start, fmt::format("{} is a list of lists; allowed are numbers and texts", what));
  }
  return found;
}

Json read_list(GgufBytes& file, const std::string& what) {
  const GgufType type = type_of(file, true, what);
  const std::uint64_t count = file.count(longest_json, fmt::format("the length of {}", what));
  if (type == GgufType::text) {
    for (std::uint64_t i = 0; i < count; ++i) file.string(longest_json, what);
    return nullptr;
  }
  if (count > longest_kept_list) {
    file.take(count * gguf_bytes_of[static_cast<std::size_t>(type)], what);
    return nullptr;
  }
  Json values = Json::array();
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(scalar(file, type, what));
  return values;
}

Json read_values(GgufBytes& file, std::uint64_t count) {
  Json values = Json::object();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t start = file.at();
    const std::string key = file.utf8(longest_gguf_name, fmt::format("key {}", i));
    if (values.contains(key)) file.fail(start, fmt::format("the key {} is there twice; allowed is once", key));
    const std::string what = fmt::format("the value of {}", key);
    const GgufType type = type_of(file, false, what);
    if (type == GgufType::list) {
      values[key] = read_list(file, what);
    } else if (type == GgufType::text) {
      values[key] = file.utf8(longest_json, what);
    } else {
      values[key] = scalar(file, type, what);
    }
  }
  return values;
}

std::vector<std::string> names_of_rope(GgufBytes& file, std::uint64_t tensors) {
  std::vector<std::string> found;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    const std::string what = fmt::format("tensor {}", i);
    const std::string name = file.utf8(longest_gguf_name, "the name of " + what);
    if (name.find("rope") != name.npos) found.push_back(name);
    const std::size_t start = file.at();
    const auto dimensions = file.number<std::uint32_t>(what);
    if (dimensions > most_dimensions) {
      file.fail(start, fmt::format("{} has {} dimensions; allowed are {}", what, dimensions, most_dimensions));
    }
    file.take(8 * std::uint64_t{dimensions} + 4 + 8, what);  // sizes, type, place
  }
  return found;
}

}  // namespace

bool is_gguf(std::string_view content) { return content.starts_with(gguf_magic); }

Json read_gguf(std::string_view content, std::string_view where, std::vector<std::string>& tensors) {
  GgufBytes file(content, where);
  if (file.take(gguf_magic.size(), "the magic") != gguf_magic) file.fail(0, "not a GGUF file: it begins otherwise");
  const std::size_t start = file.at();
  const auto version = file.number<std::uint32_t>("the version");
  if (version != 2 && version != 3) {
    const bool is_big_endian = version != 0 && (version & 0xffffu) == 0;
    file.fail(start, fmt::format("version {}{}; allowed are 2 and 3, little-endian", version,
                                 is_big_endian ? " if it were little-endian" : ""));
  }
  const std::uint64_t tensor_count = file.count(most_tensors, "the number of tensors");
  const std::uint64_t keys = file.count(most_keys, "the number of keys");
  Json values = read_values(file, keys);
  tensors = names_of_rope(file, tensor_count);
  return values;
}

}  // namespace rope
