// The memory access in the sentence about a fault, as data.
#include <signal.h>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "tests/unit/worker/small_call.hpp"
#include "tools/worker/client/fault_report.hpp"

namespace rope::worker {
namespace {

// A call, laid out, and the faults that its worker could report.
struct Faults {
  Call call = small_call();
  CallLayout layout = lay_out(call, {1, Placement::at_end, false});
  AddressSpace space{std::uint64_t{1} << 40, std::uint64_t{1} << 32};

  std::size_t slot_of(std::string_view name) const {
    const auto is_it = [&](const TensorMapping& placed) { return placed.name == name; };
    return static_cast<std::size_t>(std::ranges::find_if(layout.tensors, is_it) - layout.tensors.begin());
  }

  WorkerEnd at(std::string_view name, std::int64_t byte, bool write) const {
    const std::size_t slot = slot_of(name);
    const std::uint64_t start = space.of_room(slot, layout.tensors[slot].room) + layout.tensors[slot].start;
    const std::uint64_t address = start + static_cast<std::uint64_t>(byte);
    return describe_fault({{"sig", 11}, {"addr", fmt::format("{:x}", address)}, {"write", write}}, layout, space);
  }
};

}  // namespace

TEST_CASE("A fault beside a tensor gives the tensor, the element, and whether it was written") {
  const Faults faults;
  const auto elements = static_cast<std::int64_t>(faults.call.q.bytes.size() / 4);
  const WorkerEnd past = faults.at("q", 4 * elements + 4, false);
  REQUIRE(past.access);
  CHECK(past.access->tensor == "q");
  CHECK(past.access->element == elements + 1);
  CHECK_FALSE(past.access->write);
  CHECK_FALSE(past.access->by_row);
  const WorkerEnd before = faults.at("q_out", -4, true);
  REQUIRE(before.access);
  CHECK(before.access->tensor == "q_out");
  CHECK(before.access->element == -1);
  CHECK(before.access->write);
}

TEST_CASE("Small tensors lie at the same places in calls of other shapes") {
  Call one = small_call(), other = small_call();
  other.q = Tensor::contiguous(DType::f32, {1, 40, 2, 64});  // six pages
  other.q_out = other.q;
  const LayoutRules rules{1, Placement::at_end, false};
  const CallLayout first = lay_out(one, rules), second = lay_out(other, rules);
  REQUIRE(first.tensors.size() == second.tensors.size());
  CHECK(first.tensors[0].map_length != second.tensors[0].map_length);
  for (std::size_t i = 0; i < first.tensors.size(); ++i) {
    CHECK(first.tensors[i].map_offset == second.tensors[i].map_offset);
  }
}

TEST_CASE("Where slots have rooms, a small tensor lies in the room of its name and size, whatever else a call has") {
  Call alone = small_call(), with_key = small_call();
  with_key.k = with_key.q;
  with_key.k_out = with_key.q_out;
  LayoutRules rules{1, Placement::at_end, false};
  rules.has_rooms = true;
  const CallLayout one = lay_out(alone, rules), other = lay_out(with_key, rules);
  for (const TensorMapping& placed : one.tensors) {
    const auto same = std::ranges::find(other.tensors, placed.name, &TensorMapping::name);
    REQUIRE(same != other.tensors.end());
    CHECK(placed.room == room_of(placed.map_length, !placed.read_only));
    CHECK(placed.slot == same->slot);
    CHECK(placed.room == same->room);
    CHECK(placed.map_offset == same->map_offset);
  }
  std::set<std::uint32_t> slots;
  for (const TensorMapping& placed : other.tensors) CHECK(slots.insert(placed.slot).second);
}

TEST_CASE("A fault in a room names the tensor of that room") {
  Call call = small_call();
  LayoutRules rules{1, Placement::at_end, false};
  rules.has_rooms = true;
  const CallLayout layout = lay_out(call, rules);
  const AddressSpace space{std::uint64_t{1} << 40, std::uint64_t{1} << 37};
  const auto cos = std::ranges::find(layout.tensors, "cos", &TensorMapping::name);
  REQUIRE(cos->room != outside_rooms);
  const std::uint64_t past = space.of_room(cos->slot, cos->room) + cos->map_length;
  const WorkerEnd finding =
      describe_fault({{"sig", 11}, {"addr", fmt::format("{:x}", past)}, {"write", false}}, layout, space);
  REQUIRE(finding.access);
  CHECK(finding.access->tensor == "cos");
  CHECK(finding.access->element == 32);
}

TEST_CASE("A fault beside a table gives the row") {
  const WorkerEnd finding = Faults().at("cos", 4 * 32 * 33, false);
  REQUIRE(finding.access);
  CHECK(finding.access->tensor == "cos");
  CHECK(finding.access->by_row);
  CHECK(finding.access->element == 33);
}

TEST_CASE("A fault in a tensor or far from any gives no access outside") {
  const Faults faults;
  CHECK_FALSE(faults.at("q", 0, true).access);
  CHECK_FALSE(describe_fault({{"sig", 11}, {"addr", "10"}, {"write", false}}, faults.layout, faults.space).access);
  CHECK_FALSE(describe_end(SIGABRT, false).access);
}

TEST_CASE("A fault whose signal or code does not fit its type is refused") {
  const Faults faults;
  const auto described = [&](const nlohmann::json& fault) {
    return describe_fault(fault, faults.layout, faults.space);
  };
  for (const nlohmann::json& number : {nlohmann::json(6e30), nlohmann::json(4294967307), nlohmann::json(11.5)}) {
    CHECK_THROWS_WITH(described({{"sig", number}}), Catch::Contains("sig: ") && Catch::Contains("not a whole number"));
    CHECK_THROWS_WITH(described({{"sig", 11}, {"addr", "10"}, {"code", number}}), Catch::Contains("code: "));
  }
}

TEST_CASE("A stray write gives the access like a stopped one; beside the judged call it gives none") {
  Faults faults;
  TensorMapping& placed = faults.layout.tensors[faults.slot_of("q_out")];
  const std::size_t end = placed.start + placed.tensor->bytes.size();
  const WorkerEnd stray = describe_stray_write(placed, end);
  REQUIRE(stray.access);
  CHECK(stray.access->tensor == "q_out");
  CHECK(stray.access->write);
  CHECK(stray.access->element == static_cast<std::int64_t>(placed.tensor->bytes.size() / 4));
  placed.beside = true;
  CHECK_FALSE(describe_stray_write(placed, end).access);
}

}  // namespace rope::worker
