#include "tools/worker/protocol/address_space.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <vector>

namespace rope::worker {
namespace {

constexpr std::size_t page = 4096;

}  // namespace

TEST_CASE("A slot has a room for every small number of pages, and another for those that may be written") {
  std::vector<std::uint32_t> rooms;
  for (const bool writable : {false, true}) {
    for (std::size_t pages = 1; pages <= region / page; ++pages) rooms.push_back(room_of(pages * page, writable));
  }
  for (std::size_t i = 0; i < rooms.size(); ++i) CHECK(rooms[i] == i);
  CHECK(rooms.size() == outside_rooms);
  CHECK(room_of(0, false) == outside_rooms);
  CHECK(room_of(region + page, true) == outside_rooms);
}

TEST_CASE("Rooms lie apart, and no power of two leads from one to another or to where large tensors lie") {
  for (const int bits : {26, 32, 37}) {
    CAPTURE(bits);
    const AddressSpace space{std::uint64_t{1} << 45, std::uint64_t{1} << bits};
    REQUIRE(space.has_rooms(page));
    std::vector<std::uint64_t> places;
    for (std::uint32_t room = 0; room <= outside_rooms; ++room) places.push_back(space.of_room(3, room));
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      CHECK(places[i] % page == 0);
      CHECK(places[i] + region + page <= places[i + 1]);
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(std::has_single_bit(places[i] - places[j]));
    }
  }
}

TEST_CASE("In the usual address space, an index that wraps at 32 bits stays in its slot") {
  const AddressSpace space{std::uint64_t{1} << 45, std::uint64_t{1} << 37};
  const std::uint64_t wrapped = (std::uint64_t{1} << 31) * sizeof(double);
  for (std::uint32_t room = 0; room <= outside_rooms; ++room) {
    CHECK(space.of_room(3, room) - wrapped >= space.base + 3 * space.slot);
    CHECK(space.of_room(3, room) + region + wrapped <= space.base + 4 * space.slot);
  }
}

TEST_CASE("A small address space, and one whose rooms would begin between pages, has none") {
  CHECK_FALSE(AddressSpace{0, 0}.has_rooms(page));
  CHECK_FALSE((AddressSpace{1 << 20, std::uint64_t{1} << 25}.has_rooms(page)));
  CHECK((AddressSpace{1 << 20, std::uint64_t{1} << 26}.has_rooms(16 << 10)));
  CHECK_FALSE((AddressSpace{1 << 20, std::uint64_t{1} << 26}.has_rooms(64 << 10)));
}

}  // namespace rope::worker
