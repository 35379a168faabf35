// SPC on kernels that are right except for one kind of value.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/conformance/found_by.hpp"

namespace rope {
namespace {

using test::edited;
using test::found_by;
using test::right;
using test::Rotated;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<float>::max();

const std::string whole = ":source=computed,head_dim=16,seq=3,start=5";
const std::string partial = whole + ",rotary_dim=12";  // one pair of each row has a plant, and the last feature a NaN

TEST_CASE("SPC: a right kernel holds", "[special]") {
  for (const char* id : {"SPC-01", "SPC-02", "SPC-03", "SPC-04", "SPC-05"}) {
    const std::string input = id == std::string("SPC-02")   ? ",input=huge"
                              : id == std::string("SPC-03") ? ",input=zero"
                              : id >= std::string("SPC-04") ? ",input=subnormal"
                                                            : "";
    for (const std::string& call : {whole, partial}) {
      INFO(id << call << input);
      const Finding finding = found_by(id + call + input, right);
      CHECK(finding.passed());
      CHECK(finding.compared > 0);
    }
  }
}

TEST_CASE("SPC-01: a planted value has to show in both results of its pair", "[special]") {
  const auto kind_of = [](const std::string& call, const std::function<double(const Rotated&)>& edit) {
    return found_by("SPC-01" + call, edited(edit)).kind;
  };
  for (const std::string& call : {whole, partial}) {
    CHECK(kind_of(call, [](const Rotated& x) { return std::isnan(x.result) ? 0 : x.result; }) == FailureKind::relation);
    CHECK(kind_of(call, [](const Rotated& x) { return x.of_second && std::isnan(x.result) ? 0 : x.result; }) ==
          FailureKind::relation);
    CHECK(kind_of(call, [](const Rotated& x) { return x.result; }) == FailureKind::none);
  }
  const Finding saturated = found_by("SPC-01" + whole, edited([](const Rotated& x) {
                                       return std::isinf(x.result) ? std::copysign(largest, x.result) : x.result;
                                     }));
  REQUIRE(saturated.kind == FailureKind::relation);
  CHECK(std::isinf(saturated.element->expected));
  CHECK(std::fabs(saturated.element->actual) == largest);
  // Nothing prescribes which of the two comes out of an infinity.
  CHECK(kind_of(whole, [](const Rotated& x) {
          return std::isinf(x.result) ? std::numeric_limits<double>::quiet_NaN() : x.result;
        }) == FailureKind::none);
}

// All rows of a head get `sum`: 0, or a NaN if anything in the row, or in all rows, is not finite.
test::Answer leaking(bool between_rows) {
  return [=](Call& call) {
    const Reply reply = right(call);
    double of_all = 0;
    const auto row_sum = [&](const RowIndex& row) {
      double sum = 0;
      for (std::int64_t j = 0; j < call.q.shape[3]; ++j) sum += 0 * value_at(call.q, row, j);
      return sum;
    };
    for_each_row(call.q, [&](const RowIndex& row, const std::byte*) {
      if (row.seq == 0) of_all += row_sum(row);
    });
    for_each_row(*call.q_out, [&](const RowIndex& row, std::byte* data) {
      const bool reached = between_rows ? row.seq == 1 : row.seq == 0;
      store(call.q_out->dtype, data, load(call.q_out->dtype, data) + (reached ? of_all : 0));
    });
    return reply;
  };
}

TEST_CASE("SPC-01: a planted value must not show anywhere else", "[special]") {
  for (const bool between_rows : {false, true}) {
    for (const std::string& call : {whole, partial}) {
      INFO(call << between_rows);
      const Finding finding = found_by("SPC-01" + call, leaking(between_rows));
      REQUIRE(finding.kind == FailureKind::value);
      CHECK(std::isnan(finding.element->actual));
      CHECK(finding.element->feature == 0);
      // With no value planted, nothing leaks.
      CHECK(found_by("ROT-01" + call, leaking(between_rows)).passed());
    }
  }
}

TEST_CASE("SPC-01: a NaN that passes through may become another NaN, but no other value", "[special]") {
  const auto with_last_feature = [](std::uint32_t bits) {
    return [=](Call& call) {
      const Reply reply = right(call);
      for_each_row(*call.q_out, [&](const RowIndex&, std::byte* data) {
        std::memcpy(data + (call.q_out->shape[3] - 1) * static_cast<std::int64_t>(sizeof bits), &bits, sizeof bits);
      });
      return reply;
    };
  };
  for (const std::uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7fffffffu, 0xffabcdefu}) {
    CHECK(found_by("SPC-01" + partial, with_last_feature(nan)).passed());
  }
  for (const std::uint32_t number : {0u, 0x3f800000u, 0x7f800000u}) {
    const Finding finding = found_by("SPC-01" + partial, with_last_feature(number));
    REQUIRE(finding.kind == FailureKind::value);
    CHECK(finding.element->feature == 15);
  }
}

// The right kernel, with the bits of every feature of q's results changed.
test::Answer with_bits(std::function<std::uint32_t(std::uint32_t input, std::uint32_t result, bool turns)> change) {
  return [=](Call& call) {
    const Reply reply = right(call);
    for_each_row(*call.q_out, [&](const RowIndex& row, std::byte* data) {
      const std::byte* input = row_data(call.q, row);
      for (std::int64_t j = 0; j < call.q_out->shape[3]; ++j) {
        std::uint32_t x = 0, y = 0;
        std::memcpy(&x, input + 4 * j, 4);
        std::memcpy(&y, data + 4 * j, 4);
        y = change(x, y, j < call.rotary_dim);
        std::memcpy(data + 4 * j, &y, 4);
      }
    });
    return reply;
  };
}

TEST_CASE("SPC-01: an infinity that passes through has to stay one", "[special]") {
  constexpr std::uint32_t inf = 0x7f800000u, nan = 0x7fc00000u;
  const Finding finding =
      found_by("SPC-01" + partial, with_bits([](std::uint32_t x, std::uint32_t y, bool turns) {
                 return !turns && x == inf ? nan : y;  // x * 1 + x * 0
               }));
  REQUIRE(finding.kind == FailureKind::value);
  CHECK(finding.element->feature == 12);
}

TEST_CASE("SPC-01: a NaN of all ones must not be rounded as if it were a number", "[special]") {
  const auto rounds = [](bool turned) {
    return with_bits([=](std::uint32_t x, std::uint32_t y, bool turns) {
      return turns == turned && x == 0x7fffffffu ? 0x80000000u : y;
    });
  };
  CHECK_FALSE(found_by("SPC-01" + partial, rounds(true)).passed());
  CHECK_FALSE(found_by("SPC-01" + partial, rounds(false)).passed());
}

struct Wrong {
  const char* requirement;
  const char* input;
  std::function<double(const Rotated&)> edit;
};

TEST_CASE("SPC: a kernel that is wrong for only one kind of input is found by that input only", "[special]") {
  constexpr double normal = std::numeric_limits<float>::min();
  const Wrong all[] = {
      {"SPC-02", "huge", [](const Rotated& x) { return std::fabs(x.result) > largest / 8 ? infinity : x.result; }},
      {"SPC-03", "zero", [](const Rotated& x) { return x.result == 0 ? 1e-30 : x.result; }},
      {"SPC-03", "zero", [](const Rotated& x) { return x.first == 0 && x.second == 0 ? NAN : x.result; }},
      {"SPC-04", "subnormal", [](const Rotated& x) { return std::fabs(x.result) < normal ? 0 : x.result; }},
  };
  for (const Wrong& wrong : all) {
    for (const char* id : {"SPC-02", "SPC-03", "SPC-04"}) {
      for (const char* input : {"huge", "zero", "subnormal", "spread"}) {
        INFO(wrong.requirement << " by " << id << " of " << input);
        const Finding finding = found_by(id + whole + ",input=" + input, edited(wrong.edit));
        // Zeros count as subnormal for a kernel that flushes, and stay zeros.
        CHECK((finding.kind == FailureKind::value) == (input == std::string(wrong.input)));
        CHECK(finding.passed() == (input != std::string(wrong.input)));
      }
    }
  }
}

TEST_CASE("SPC-05: subnormal inputs may give zeros, and nothing else that is wrong", "[special]") {
  const std::string id = "SPC-05" + whole + ",input=subnormal";
  CHECK(found_by(id, edited([](const Rotated&) { return 0.0; })).passed());
  CHECK(found_by(id, edited([](const Rotated& x) { return x.first < 0 ? 0.0 : x.result; })).passed());
  CHECK_FALSE(found_by(id, edited([](const Rotated& x) { return 2 * x.result; })).passed());
  CHECK_FALSE(found_by(id, edited([](const Rotated& x) { return -x.result; })).passed());
  CHECK_FALSE(found_by(id, edited([](const Rotated&) { return NAN; })).passed());
  const auto raises = [](Call&) { return Reply{ReplyKind::done, ROPE_FAILED, "", 0}; };
  CHECK_FALSE(found_by(id, raises).passed());
}

}  // namespace
}  // namespace rope
