// ROT-03 where the bound of an element allows every angle.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/unit/conformance/found_by.hpp"

namespace rope {
namespace {

// One pair, theta = 1. There the bound of an element, (C + 1) u phi, is 1.5 of the pair's norm.
constexpr char far_away[] = "head_dim=2,heads=8,source=computed,start=8388608";

Tensor turned_by_offset(const Call& call, std::int64_t more) {
  Call other = call;
  other.position_offset += more;
  test::right(other);
  return *other.q_out;
}

std::string rotation_03() { return fmt::format("ROT-03:{}", far_away); }
std::string rotation_01() { return fmt::format("ROT-01:{}", far_away); }

TEST_CASE("ROT-03: a wrong angle keeps the norm", "[rotation]") {
  const auto by_other_angle = [](Call& call) {
    *call.q_out = turned_by_offset(call, 1);
    return Reply{};
  };
  CHECK(test::found_by(rotation_03(), by_other_angle).passed());
}

TEST_CASE("ROT-03: however large the angle, the norm is bounded by roundings", "[rotation]") {
  const auto longer_by = [](double share) {
    return test::edited([=](const test::Rotated& r) { return r.result * (1 + share); });
  };
  CHECK(test::found_by(rotation_03(), longer_by(2e-7)).passed());
  CHECK(test::found_by(rotation_03(), longer_by(1e-6)).kind == FailureKind::relation);
  CHECK(test::found_by(rotation_01(), longer_by(8e-3)).passed());  // no element shows it
  CHECK(test::found_by(rotation_03(), longer_by(8e-3)).kind == FailureKind::relation);
}

TEST_CASE("ROT-03: the two features of a pair turn by the same angle", "[rotation]") {
  const auto two_angles = [](Call& call) {
    const Tensor first = turned_by_offset(call, 0), second = turned_by_offset(call, 1);
    for_each_row(*call.q_out, [&](const RowIndex& row, std::byte* data) {
      store(DType::f32, data, value_at(first, row, 0));
      store(DType::f32, data + sizeof(float), value_at(second, row, 1));
    });
    return Reply{};
  };
  CHECK(test::found_by(rotation_01(), two_angles).passed());
  CHECK(test::found_by(rotation_03(), two_angles).kind == FailureKind::relation);
}

TEST_CASE("ROT-03 asks for large angles, of kernels that make them", "[rotation]") {
  for (const Level level : {Level::quick, Level::full}) {
    Selection selection;
    selection.level = level;
    CaseList list("ROT-03", test::all_claims(), selection, nullptr);
    requirement_called("ROT-03").cases(list);
    int computed = 0, frequencies = 0;
    for (const Case& c : list.take()) {
      if (largest_position(c) < 1 << 19) continue;
      computed += c.source == AngleSource::computed;
      frequencies += c.source == AngleSource::frequencies;
    }
    CHECK(computed >= 8);
    CHECK(frequencies >= 8);
  }
}

}  // namespace
}  // namespace rope
