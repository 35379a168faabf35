#include "tools/diagnose/diagnose.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numbers>
#include <optional>
#include <tuple>

#include "tests/unit/diagnose/subjects.hpp"
#include "tests/unit/places.hpp"
#include "tools/worker/client/library_subject.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("A right kernel has no diagnosis") {
  Fake right = with_modified_call([](Call&) {});
  CHECK_FALSE(diagnosed(right));
}

TEST_CASE("The wrong base is found") {
  for (double base : {10000.0, 500000.0}) {
    Fake subject = with_modified_call([=](Call& call) { call.base = base; });
    const auto found = diagnosed(subject);
    const Candidate& first = first_of(found);
    CHECK(first.bug_class == BugClass::frequency_base);
    CHECK(first.sentence == "base " + std::to_string(static_cast<int>(base)) + " is used, not the given one");
    CHECK(first.fit > 0.9);
    CHECK(found->certain);
    CHECK(found->explained == std::vector<std::string>{"ROT-01"});
  }
}

TEST_CASE("When its time is over, a diagnosis gathers no more evidence") {
  Fake subject = with_modified_call([](Call& call) { call.base = 500000; });
  Oracles oracles;
  SuiteOptions options;
  options.selection.level = Level::quick;
  options.selection.only = {"ROT-01"};
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), options);
  const auto calls_until = [&](std::optional<std::chrono::steady_clock::time_point> end) {
    const std::int64_t before = subject.calls;
    CHECK(diagnosis::diagnose(report, subject, oracles, nullptr, end));
    return subject.calls - before;
  };
  const auto now = std::chrono::steady_clock::now();
  CHECK(calls_until(now) < 20);
  CHECK(calls_until(now + std::chrono::hours(1)) == calls_until({}));
}

TEST_CASE("A diagnosis that is stopped ends while it weighs") {
  Fake subject = with_modified_call([](Call& call) { call.base = 500000; });
  Oracles oracles;
  SuiteOptions options;
  options.selection.level = Level::quick;
  options.selection.only = {"ROT-01"};
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), options);
  Stop stop;
  stop.request();
  CHECK_THROWS_AS(diagnosis::diagnose(report, subject, oracles, nullptr, {}, &stop), Interrupted);
}

TEST_CASE("A position offset is found with its distance") {
  for (int by : {1, 2, 4}) {
    Fake subject = with_modified_call([=](Call& call) {
      if (call.source == AngleSource::tables) return;
      call.position_offset += by;
      if (!call.positions) return;
      // Positions are given as they are: only the offset is wrong.
    });
    const auto found = diagnosed(subject);
    const Candidate& first = first_of(found);
    CHECK(first.bug_class == BugClass::position_offset);
    CHECK(first.sentence == "position p + " + std::to_string(by) + " is used, not p");
    CHECK(first.condition.find("positions from an offset") != std::string::npos);
  }
}

// Rests of vectors that pair otherwise explain less than half of it.
TEST_CASE("The other pairing is found, and nothing much worse is listed beside it") {
  Fake subject = with_modified_call([](Call& call) {
    call.pairing = call.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::pairing_layout);
  for (const Candidate& candidate : found->candidates) CHECK(candidate.fit >= first_of(found).fit / 2);
}

TEST_CASE("An error only in the backward pass is of the backward class, with its condition") {
  Fake subject = with_modified_call([](Call& call) { call.direction = Direction::forward; });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::backward);
  CHECK(found->trigger.find("backward") != std::string::npos);
}

TEST_CASE("An ignored rule is found, and its class is the rule's class") {
  Fake subject = with_modified_call([](Call& call) {
    if (std::holds_alternative<scaling::Linear>(call.scaling)) call.scaling = scaling::None{};
  });
  const auto found = diagnosed(subject, {"ROT-01", "ANG-04"});
  const Candidate& first = first_of(found);
  CHECK(first.bug_class == BugClass::scaling_config);
  INFO(first.sentence);
  CHECK(first.sentence.starts_with("linear: "));
}

TEST_CASE("If nothing known fits, no cause is certain") {
  // Every feature gets a value that no stage could produce.
  Fake subject = with_modified_call([](Call&) {});
  Fake garbled(subject.claims(), [&](Call& call) {
    const Reply reply = subject.apply(call);
    Tensor& q = call.in_place ? call.q : *call.q_out;
    std::uint32_t word = 12345;
    for_each_row(q, [&](const RowIndex&, std::byte* data) {
      word = word * 1664525u + 1013904223u;
      store(q.dtype, data, static_cast<double>(word >> 20) / 64);
    });
    return reply;
  });
  const auto found = diagnosed(garbled);
  REQUIRE(found);
  CHECK_FALSE(found->certain);
}

TEST_CASE("Causes of two classes that fit alike are both listed, and neither is certain") {
  // One token at position 1 whose batches share positions: position 1 cannot be told from length 1.
  Claims claims = narrow_claims();
  claims.capabilities.features = 0;
  claims.head_dims = {2};
  Fake subject(claims, [](Call& call) {
    Call taken = call;
    if (call.q.shape[1] == 1) return right(call);
    taken.position_offset = 1;
    const Reply reply = right(taken);
    call.q_out = taken.q_out;
    return reply;
  });
  const auto found = diagnosed(subject);
  REQUIRE(found);
  REQUIRE(found->candidates.size() > 1);
  CHECK(found->candidates[0].fit >= found->candidates[1].fit);
}

TEST_CASE("Sections of axes that are counted in features are found") {
  Fake subject = with_modified_call([](Call& call) {
    if (!call.axis || call.axes < 2) return;
    std::vector<std::int32_t> right(static_cast<std::size_t>(call.rotary_dim / 2)), counted = right;
    std::memcpy(right.data(), call.axis->data(), right.size() * sizeof(std::int32_t));
    for (std::size_t p = 0; p < right.size(); ++p) counted[p] = right[std::min(2 * p, right.size() - 1)];
    std::memcpy(call.axis->data(), counted.data(), counted.size() * sizeof(std::int32_t));
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::multi_axis);
  CHECK(first_of(found).sentence == "the sections of the axes are half as wide as they should be");
}

TEST_CASE("If only one of two tables is read wrongly, it is found") {
  Fake subject = with_modified_call([](Call& call) {
    if (!call.sin) return;
    const auto row = static_cast<std::size_t>(call.sin->strides[0]) * size_of(call.sin->dtype);
    SharedBytes& bytes = call.sin->bytes;
    for (std::size_t at = row; at < bytes.size(); ++at) bytes[at] = bytes[at - row];
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::table_cache);
  CHECK(first_of(found).sentence == "only the first row of sin is used");
}

TEST_CASE("A built-in parameter of a rule is found with its value") {
  Fake subject = with_modified_call([](Call& call) {
    if (auto* rule = std::get_if<scaling::Pixel>(&call.scaling)) rule->max_frequency = 10;
  });
  const auto found = diagnosed(subject, {"ROT-01", "ANG-04"});
  CHECK(first_of(found).bug_class == BugClass::scaling_config);
  CHECK(first_of(found).sentence == "pixel: max_frequency 10 is used, not the given one");
}

TEST_CASE("A third axis that is mistaken for the first is found") {
  Fake subject = with_modified_call([](Call& call) {
    if (!call.axis) return;
    for (std::int64_t p = 0; p < call.axis->shape[0]; ++p) {
      std::int32_t axis = 0;
      std::memcpy(&axis, call.axis->data() + p * 4, sizeof axis);
      if (axis > 1) axis = 0;
      std::memcpy(call.axis->data() + p * 4, &axis, sizeof axis);
    }
  });
  const auto found = diagnosed(subject, {"ROT-01", "ANG-07"});
  CHECK(first_of(found).bug_class == BugClass::multi_axis);
  CHECK(first_of(found).sentence == "pairs of the third and later axes follow the first axis");
}

namespace {

// One head of f32 from a plain loop: `turn` gets a pair's angle and returns cos and sin, `features` returns the pair.
using CosAndSin = std::array<double, 2>;
Fake plain_loop(int head_dim, std::function<CosAndSin(double)> turn, std::function<std::array<int, 2>(int)> features) {
  Claims claims = narrow_claims();
  claims.head_dims = {head_dim};
  return Fake(claims, [=](Call& call) {
    for_each_row(call.q, [&](const RowIndex& row, const std::byte*) {
      const auto position = static_cast<double>(call.position_offset + row.seq);
      std::byte* out = row_data(*call.q_out, row);
      for (int p = 0; p < head_dim / 2; ++p) {
        const auto [first, second] = features(p);
        const auto [c, s] = turn(position * std::pow(call.base, -2.0 * p / head_dim));
        const double a = value_at(call.q, row, first), b = value_at(call.q, row, second);
        store(DType::f32, out + first * 4, a * c - b * s);
        store(DType::f32, out + second * 4, b * c + a * s);
      }
    });
    return Reply{};
  });
}

}  // namespace

TEST_CASE("Errors that begin at an angle are told from those that begin at a position") {
  const auto with_sign_lost = [](double phi) {
    const bool odd = std::fmod(std::nearbyint(phi / std::numbers::pi), 2) != 0;
    return CosAndSin{std::cos(phi), phi > 5000 && odd ? -std::sin(phi) : std::sin(phi)};
  };
  const auto half_split = [](int p) { return std::array{p, p + 32}; };
  Fake wrong = plain_loop(64, with_sign_lost, half_split);
  const auto found = diagnosed(wrong, {"ROT-01", "ANG-02"});
  CHECK(first_of(found).bug_class == BugClass::precision);
  CHECK(first_of(found).sentence.starts_with("pairs that turn by 5"));
  CHECK_FALSE(found->certain);

  Fake by_position =
      with_modified_call([](Call& call) { call.position_offset += call.position_offset > 1000 ? 1 : 0; });
  CHECK(first_of(diagnosed(by_position, {"ROT-01", "ANG-02"})).bug_class == BugClass::position_offset);
}

TEST_CASE("A cause that fits only at positions of a million and more is reported as inexact angles") {
  Fake subject =
      with_modified_call([](Call& call) { call.position_offset -= call.position_offset > 4'000'000 ? 1 : 0; });
  const auto found = diagnosed(subject, {"ROT-01", "ANG-02"});
  CHECK(first_of(found).bug_class == BugClass::precision);
  CHECK(first_of(found).sentence.starts_with("angles at large positions are inaccurate, as if "));
}

TEST_CASE("If only one scaling rule comes out wrong, in no known way, the rule is named") {
  Fake subject = with_modified_call([](Call& call) {
    if (auto* rule = std::get_if<scaling::Yarn>(&call.scaling)) rule->beta_fast += 3.7;
  });
  const auto found = diagnosed(subject, {"ANG-04"});
  CHECK(first_of(found).bug_class == BugClass::scaling_config);
  CHECK(first_of(found).sentence == "yarn: the angles do not follow the rule");
}

TEST_CASE("Positions that linear scaling cuts to whole ones are found") {
  const auto scaled = [](Call& call, const std::function<double(double)>& change) {
    const auto* rule = std::get_if<scaling::Linear>(&call.scaling);
    if (rule == nullptr || call.positions || call.source != AngleSource::computed || call.q.shape[1] != 1) return;
    call.position_offset =
        static_cast<std::int64_t>(change(static_cast<double>(call.position_offset) / rule->factor) * rule->factor);
  };
  Fake cut = with_modified_call([&](Call& call) { scaled(call, [](double p) { return std::floor(p); }); });
  CHECK(first_of(diagnosed(cut, {"ROT-01", "ANG-04"})).sentence ==
        "linear: positions divided by the factor are truncated to whole numbers");
}

TEST_CASE("An error that no hypothesis knows is named by the executed plan") {
  Fake subject = plain_loop(
      128,
      [](double phi) {
        return CosAndSin{std::cos(phi), std::sin(phi)};
      },
      [](int p) {
        return p < 32 ? std::array{p, p + 32} : std::array{p + 32, p + 64};
      });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).bug_class == BugClass::pairing_layout);
  CHECK(first_of(found).sentence.starts_with("rotates pairs (0,32) (1,33)"));
  REQUIRE(found->plan.size() > 1);
  CHECK(found->plan[1] == first_of(found).sentence);
}

TEST_CASE("State kept from an earlier call is told from a race") {
  // From the call before, so that the same call comes out wrong or right depending on what it follows.
  std::optional<std::pair<std::vector<std::int64_t>, std::pair<Tensor, Tensor>>> kept;
  Fake subject = with_modified_call([&](Call& call) {
    if (call.source != AngleSource::tables) return;
    std::vector<std::int64_t> key = call.cos->shape;
    key.push_back(call.q.shape[1]);
    key.push_back(static_cast<std::int64_t>(call.cos->dtype));
    if (!kept || kept->first != key) kept.emplace(key, std::pair(*call.cos, *call.sin));
    std::tie(call.cos, call.sin) = kept->second;
  });
  subject.forget = [&] { kept.reset(); };
  const auto found = diagnosed(subject, {"ROT-01", "STA-01", "DET-01", "ANG-04"});
  CHECK(first_of(found).bug_class == BugClass::table_cache);
  CHECK(first_of(found).sentence.find("earlier call") != std::string::npos);
}

TEST_CASE("What an earlier call of another type left behind is named") {
  const auto found = diagnosed(*open_library(build_folder() / "mutants.so", "TAB-GROWN-DTYPE"), {"STA-02", "DET-01"});
  CHECK(first_of(found).bug_class == BugClass::table_cache);
  CHECK(first_of(found).sentence == "the result depends on what an earlier bf16 call left behind");
  CHECK(found->certain);
  CHECK(found->trigger.starts_with("after an earlier bf16 call"));
}

TEST_CASE("A status that says the kernel failed does not count as a refusal") {
  for (const auto& [status, bug_class] : {std::pair{ROPE_FAILED, BugClass::strides_memory_race},
                                          std::pair{ROPE_INVALID_ARGUMENT, BugClass::bad_arguments}}) {
    Fake subject(all_claims(), [answered = status](Call&) { return Reply{ReplyKind::done, answered, "", 0}; });
    const auto found = diagnosed(subject);
    CHECK(first_of(found).bug_class == bug_class);
  }
}

TEST_CASE("Where rows turn again in place tells the cause") {
  const std::filesystem::path mutants = build_folder() / "mutants.so";
  for (const auto& [id, bug_class, sentence] :
       {std::tuple("PIPE-PACKED-TWICE", BugClass::pipeline, "the rotation is applied twice"),
        std::tuple("HEAD-ONCE-PER-QUERY", BugClass::heads_batch_qk,
                   "a head of k is rotated once for each head of q that shares it")}) {
    const auto found = diagnosed(*open_library(mutants, id), {"ROT-01", "ROT-09"});
    CHECK(first_of(found).bug_class == bug_class);
    CHECK(first_of(found).sentence == sentence);
  }
  // The last tile of four tokens is moved back, so that it is a whole one.
  Fake tiles = with_modified_call([](Call&) {});
  Fake subject(tiles.claims(), [&tiles](Call& call) {
    Reply reply = tiles.apply(call);
    const std::int64_t again = 4 - call.q.shape[1] % 4;
    if (!call.in_place || call.q.shape[1] < 4 || again == 4) return reply;
    Call tile = call;
    for (Tensor* t : {&tile.q, tile.k ? &*tile.k : nullptr}) {
      if (t != nullptr) t->shape[1] = again;
    }
    reply = tiles.apply(tile);
    call.q.bytes = tile.q.bytes;
    if (tile.k) call.k->bytes = tile.k->bytes;
    return reply;
  });
  const auto found = diagnosed(subject, {"ROT-01", "MEM-04"});
  CHECK(first_of(found).bug_class == BugClass::strides_memory_race);
  CHECK(first_of(found).sentence == "the rotation is applied twice");
}
