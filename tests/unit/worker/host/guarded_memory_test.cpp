#include "tools/worker/host/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <vector>

namespace rope::worker {
namespace {

const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

// The byte at an address, or -1 if it may not be read: the system tells without a fault.
int byte_at(const std::byte* address) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  unsigned char byte = 0;
  const bool is_readable = write(ends[1], address, 1) == 1 && read(ends[0], &byte, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is_readable ? byte : -1;
}

}  // namespace

TEST_CASE("A tensor's pages are mapped, and none beside them, whatever was mapped there before") {
  const int file = memfd_create("pages", 0);
  REQUIRE(file >= 0);
  for (unsigned char n = 0; n < 16; ++n) {  // each page begins with its number
    REQUIRE(pwrite(file, &n, 1, static_cast<off_t>(n * page)) == 1);
  }
  REQUIRE(ftruncate(file, static_cast<off_t>(16 * page)) == 0);
  GuardedMemory memory;
  struct Part {
    std::size_t first, count;
  };
  for (const Part part : {Part{2, 3}, Part{2, 1}, Part{2, 2}, Part{2, 6}, Part{2, 6}, Part{3, 2}, Part{3, 4}}) {
    CAPTURE(part.first, part.count);
    const std::byte* start =
        memory.map({}, file, std::array{HandedPart{0, part.first * page, part.count * page}}, false);
    for (std::size_t i = 0; i < part.count; ++i) CHECK(byte_at(start + i * page) == static_cast<int>(part.first + i));
    CHECK(byte_at(start - 1) == -1);
    for (std::size_t i = part.count; i < 8; ++i) CHECK(byte_at(start + i * page) == -1);
  }
  close(file);
}

TEST_CASE("What is mapped in a room stays, and nothing is beside it") {
  const int file = memfd_create("pages", 0);
  REQUIRE(file >= 0);
  const unsigned char mark = 5;
  REQUIRE(pwrite(file, &mark, 1, static_cast<off_t>(2 * page)) == 1);
  REQUIRE(ftruncate(file, static_cast<off_t>(4 * page)) == 0);
  GuardedMemory memory;
  REQUIRE(memory.space().has_rooms(page));
  const GuardedMemory::Place one{3, room_of(page, false)}, two{3, room_of(2 * page, true)};
  const std::byte* first = memory.map(one, file, std::array{HandedPart{0, 2 * page, page}}, false);
  const std::byte* second = memory.map(two, file, std::array{HandedPart{0, 2 * page, 2 * page}}, true);
  CHECK(first != second);
  CHECK(memory.map(one, file, std::array{HandedPart{0, 2 * page, page}}, false) == first);
  for (const std::byte* room : {first, second}) {
    CHECK(byte_at(room) == mark);
    CHECK(byte_at(room - 1) == -1);
  }
  CHECK(byte_at(first + page) == -1);
  CHECK(byte_at(second + page) == 0);
  CHECK(byte_at(second + 2 * page) == -1);
  CHECK_THROWS_WITH(memory.map({GuardedMemory::slots, outside_rooms}, file, {}, false),
                    Catch::Contains("of slot 32; this worker has 32 slots"));
  CHECK_THROWS_WITH(memory.map({0, outside_rooms + 1}, file, {}, false),
                    Catch::Contains("room 33 of slot 0; this worker"));
  close(file);
}

}  // namespace rope::worker
