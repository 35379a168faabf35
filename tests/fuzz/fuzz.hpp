// What all fuzz targets need.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "reference/input_error.hpp"

namespace rope::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A fault of the reader: the fuzzer keeps the input.
inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

// Reads an input, or is told by an InputError what is wrong with it. Any other exception is a fault.
template <class Read>
void refused_or_read(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    expect(error.what()[0] != '\0', "an error without words");
  }
}

}  // namespace rope::fuzz
