// Arrays in NumPy's .npy format, read strictly. Either the array is exactly what the header says, or an InputError
// names the file, the byte and the cure. Format: numpy/lib/_format_impl.py, versions 1.0, 2.0 and 3.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rope {

// Little-endian; the names are NumPy's. u2 holds the bits of bf16, which NumPy does not have.
enum class NpyType { f2, f4, f8, i4, i8, u2 };
std::string_view descr(NpyType type);  // "<f2"
std::size_t size_of(NpyType type);     // bytes

std::string shape_text(const std::vector<std::int64_t>& shape);  // "(3, 4)", "(3,)", "()"

struct NpyArray {
  NpyType type = NpyType::f4;
  std::vector<std::int64_t> shape;  // empty: one value
  std::vector<std::byte> bytes;     // C order, as many as shape and type say
};

// `where` names the source in messages. Allocates no more than content.size() bytes, whatever the header says.
NpyArray parse_npy(std::span<const std::byte> content, std::string_view where);
NpyArray read_npy(const std::filesystem::path& path);

inline constexpr std::size_t largest_npy = std::size_t{4} << 30;  // bytes; an array of the suite is smaller by far

// Every byte of a regular file. Throws InputError if it cannot be read, or is larger than `most` bytes.
std::vector<std::byte> read_file(const std::filesystem::path& path, std::size_t most = largest_npy);

// Version 1.0, header padded to a multiple of 64 bytes, as NumPy writes it.
std::vector<std::byte> format_npy(const NpyArray& array);

// Writes a file beside `path` and renames it, so a reader never sees half a file.
void write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace rope
