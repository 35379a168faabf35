#include "golden/npy.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

#include "golden/npy_header.hpp"
#include "reference/input_error.hpp"

// Bytes go between memory and file unchanged.
static_assert(std::endian::native == std::endian::little);

namespace rope {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t alignment = 64;  // of the data, since NumPy 1.14

[[noreturn]] void fail(std::string_view where, std::size_t byte, const std::string& message) {
  throw InputError(fmt::format("{}: byte {}: {}", where, byte, message));
}

struct Layout {
  NpyHeader header;
  std::size_t data_begin;
};

// Parses everything except the data; returns only if the data that follow have exactly the right size.
Layout parse_layout(std::span<const std::byte> content, std::string_view where) {
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(content[at]); };
  const std::size_t size = content.size();
  if (size < magic.size() || std::memcmp(content.data(), magic.data(), magic.size()) != 0) {
    fail(where, 0, "expected the six bytes \\x93NUMPY of a .npy file; save the array with numpy.save");
  }
  if (size < 8) fail(where, size, "the file ends before its format version; it is truncated, make it again");
  const std::size_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    fail(where, 6, fmt::format("format version {}.{}; expected 1.0, 2.0 or 3.0", major, minor));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t text_begin = 8 + length_bytes;
  if (size < text_begin) fail(where, size, "the file ends within its header length; it is truncated, make it again");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > size - text_begin) {
    fail(where, 8,
         fmt::format("a header of {} bytes is announced, {} are left in the file; it is truncated or damaged, "
                     "make it again",
                     length, size - text_begin));
  }
  const std::string_view text(reinterpret_cast<const char*>(content.data()) + text_begin, length);
  Layout layout{parse_npy_header(text, text_begin, where), text_begin + length};

  std::size_t expected = size_of(layout.header.type);
  for (const std::int64_t extent : layout.header.shape) {
    const auto factor = static_cast<std::size_t>(extent);
    if (factor != 0 && expected > std::numeric_limits<std::size_t>::max() / factor) {
      fail(where, text_begin, "the shape's product is larger than any file; the header is damaged, make it again");
    }
    expected *= factor;
  }
  const std::size_t found = size - layout.data_begin;
  if (found < expected) {
    fail(where, size,
         fmt::format("the file ends after {} of {} bytes of data; it is truncated, make it again", found, expected));
  }
  if (found > expected) {
    fail(where, layout.data_begin + expected,
         fmt::format("{} bytes follow the {} bytes of data; expected the end of the file: one array a file, make it "
                     "again with numpy.save",
                     found - expected, expected));
  }
  return layout;
}

[[noreturn]] void fail_system(const std::filesystem::path& path, std::string_view what, const std::error_code& error) {
  throw InputError(fmt::format("{}: cannot {}: {}", path.string(), what, error.message()));
}

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

std::size_t size_of(NpyType type) {
  switch (type) {
    case NpyType::f2:
    case NpyType::u2: return 2;
    case NpyType::f4:
    case NpyType::i4: return 4;
    case NpyType::f8:
    case NpyType::i8: return 8;
  }
  return 0;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis != 0) text += ' ';
    text += std::to_string(shape[axis]);
    if (axis + 1 < shape.size() || shape.size() == 1) text += ',';
  }
  return text + ')';
}

NpyArray parse_npy(std::span<const std::byte> content, std::string_view where) {
  Layout layout = parse_layout(content, where);
  const auto data = content.subspan(layout.data_begin);
  return {layout.header.type, std::move(layout.header.shape), {data.begin(), data.end()}};
}

NpyArray read_npy(const std::filesystem::path& path) {
  std::vector<std::byte> content = read_file(path);
  Layout layout = parse_layout(content, path.string());
  content.erase(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(layout.data_begin));
  return {layout.header.type, std::move(layout.header.shape), std::move(content)};
}

std::vector<std::byte> read_file(const std::filesystem::path& path, std::size_t most) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw InputError(fmt::format("{}: no such file; expected a regular file there", path.string()));
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError(fmt::format("{}: not a regular file; expected one", path.string()));
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) fail_system(path, "find its size", error);
  if (size > most) throw InputError(fmt::format("{}: it has {} bytes; allowed are {}", path.string(), size, most));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail_system(path, "open it", last_error());
  std::vector<std::byte> content(static_cast<std::size_t>(size));
  stream.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
  const auto got = static_cast<std::size_t>(stream.gcount());
  if (got != content.size()) {
    fail(path.string(), got,
         fmt::format("reading stopped, expected {} bytes; the file changed or the disk failed", content.size()));
  }
  return content;
}

std::vector<std::byte> format_npy(const NpyArray& array) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr(array.type),
                                 shape_text(array.shape));
  const std::size_t unpadded = magic.size() + 4 + text.size() + 1;
  text.append((alignment - unpadded % alignment) % alignment, ' ');
  text += '\n';
  if (text.size() > 0xffff) throw InputError("write_npy: the shape has too many axes for a header of format 1.0");

  std::string head(magic);
  head += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  head += text;
  std::vector<std::byte> content(head.size() + array.bytes.size());
  std::memcpy(content.data(), head.data(), head.size());
  if (!array.bytes.empty()) std::memcpy(content.data() + head.size(), array.bytes.data(), array.bytes.size());
  parse_layout(content, "write_npy");  // contradicting bytes and shape never reach a disk
  return content;
}

void write_npy(const std::filesystem::path& path, const NpyArray& array) {
  const std::vector<std::byte> content = format_npy(array);
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  {
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    if (!stream) fail_system(temporary, "create it", last_error());
    stream.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    stream.close();
    if (!stream) {
      const std::error_code error = last_error();
      std::filesystem::remove(temporary);
      fail_system(temporary, "write it", error);
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    fail_system(path, "put the new file in its place", error);
  }
}

}  // namespace rope
