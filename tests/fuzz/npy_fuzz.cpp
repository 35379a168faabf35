// The strict .npy reader on arbitrary bytes. Either the array is exactly what the header says, or an InputError names
// the source and the byte. Nothing is read beyond the content (the sanitizers see to that). Nothing is allocated that
// the content does not justify.
#include <new>
#include <span>

#include "golden/npy.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using rope::fuzz::expect;

std::size_t largest_allocation = 0;

void* allocate(std::size_t size) {
  largest_allocation = size > largest_allocation ? size : largest_allocation;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> content(reinterpret_cast<const std::byte*>(data), size);
  largest_allocation = 0;
  try {
    const rope::NpyArray array = rope::parse_npy(content, "input");
    std::size_t bytes = rope::size_of(array.type);
    for (const std::int64_t extent : array.shape) bytes *= static_cast<std::size_t>(extent);
    expect(array.bytes.size() == bytes, "the bytes are not as many as type and shape say");
    // Writing what was read, and reading it again, gives the same array.
    const rope::NpyArray again = rope::parse_npy(rope::format_npy(array), "written");
    expect(again.type == array.type && again.shape == array.shape && again.bytes == array.bytes,
           "an array that was written reads otherwise");
  } catch (const rope::InputError& error) {
    const std::string_view message = error.what();
    expect(message.starts_with("input: byte ") || message.starts_with("write_npy: "), "the message names no byte");
  }
  // An extent takes two bytes in a header and eight in a vector, which doubles as it grows; 4096 are for a message.
  expect(largest_allocation <= 8 * size + 4096, "more was allocated than the content justifies");
  return 0;
}
