#include "tools/judge/call/oracles.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope {
namespace {

TEST_CASE("one oracle per spec, and one per length only for rules that follow it", "[oracles]") {
  Oracles oracles;
  RopeSpec spec;
  Oracle& plain = oracles.of(spec, 10);
  CHECK(&oracles.of(spec, 10) == &plain);
  CHECK(&oracles.of(spec, 5000) == &plain);
  spec.base = 5e5;
  CHECK(&oracles.of(spec, 10) != &plain);
  for (const Scaling& rule :
       {Scaling(scaling::Dynamic{{}, 2, 512}),
        Scaling(scaling::LongRope{2, 512, std::vector<double>(64, 1), std::vector<double>(64, 2)})}) {
    spec.scaling = rule;
    Oracle& within = oracles.of(spec, 512);
    Oracle& beyond = oracles.of(spec, 513);
    CHECK(&within != &beyond);
    CHECK_FALSE(within.plan().pairs[32].theta == beyond.plan().pairs[32].theta);
  }
}

TEST_CASE("given frequencies are used as they are, with the call's pairs, axes and factor", "[oracles]") {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  c.spec.axes.sections = {1, 3};
  c.spec.attention_factor = 0.5;
  c.form = PositionForm::shared;
  c.source = AngleSource::frequencies;
  Oracles oracles;
  Call call = build_call(c, oracles);
  const std::shared_ptr<Oracle> oracle = oracles.of_given_frequencies(call, 8);
  CHECK(oracles.of_given_frequencies(call, 8) == oracle);
  CHECK(oracle->plan().lambda == 0.5);
  CHECK(oracle->plan().pairs[1].axis == 1);
  CHECK(oracle->plan().pairs[1].second == 5);
  CHECK(oracle->plan().pairs[1].theta == Real(static_cast<double>(0.1F)));  // the float, not 10000^(-1/4)

  const auto differs = [&](const auto& change) {
    Call other = call;
    change(other);
    return oracles.of_given_frequencies(other, 8) != oracle;
  };
  CHECK(differs([](Call& other) { other.attention_factor = 2; }));
  CHECK(differs([](Call& other) { other.pairing = Pairing::interleaved; }));
  CHECK(differs([](Call& other) { store(DType::f32, other.theta->data() + 4, 0.25); }));
  CHECK(differs([](Call& other) { store(DType::i32, other.axis->data() + 4, 0); }));
  CHECK_FALSE(differs([](Call&) {}));
}

TEST_CASE("the expectation of a call stays the same after any number of others", "[oracles]") {
  Oracles oracles;
  for (const AngleSource source : {AngleSource::frequencies, AngleSource::computed}) {
    Case c;
    c.source = source;
    c.start = 3;
    c.spec.head_dim = c.spec.rotary_dim = 8;
    const Call call = build_call(c, oracles);
    Expectation expectation(call, c.spec, oracles);
    const double before = expectation.angles(0, 1).at(2).phi;
    for (int i = 0; i < 600; ++i) {
      c.spec.base = 20000 + i;
      const Call other = build_call(c, oracles);
      Expectation(other, c.spec, oracles).angles(0, 1);
    }
    CHECK(expectation.angles(0, 1).at(2).phi == before);
    CHECK(expectation.pairs() == 4);
  }
}

// Of the oracles that still exist.
std::size_t bytes_of(const std::vector<std::weak_ptr<Oracle>>& made) {
  std::size_t sum = 0;
  for (const auto& one : made) {
    if (const std::shared_ptr<Oracle> oracle = one.lock()) sum += oracle->bytes();
  }
  return sum;
}

TEST_CASE("the oldest oracles go when the rows of all take more than 4 MB", "[oracles]") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  Case c;
  c.source = AngleSource::frequencies;
  c.spec.head_dim = c.spec.rotary_dim = 512;
  Oracles of_specs, of_frequencies;
  std::vector<std::weak_ptr<Oracle>> by_spec, by_frequencies;
  const auto use = [&](const std::shared_ptr<Oracle>& oracle, std::vector<std::weak_ptr<Oracle>>& made) {
    CHECK(oracle->bytes() == 0);
    for (std::int64_t position = 0; position < 256; ++position) oracle->angles(std::array{position});
    CHECK(oracle->bytes() == 2 * mebibyte);  // 256 rows of 256 pairs, two double-doubles each
    made.push_back(oracle);
    CHECK(bytes_of(made) <= 6 * mebibyte);
  };
  for (int i = 0; i < 12; ++i) {
    c.spec.base = 20000 + i;
    use(of_specs.shared(c.spec, 1), by_spec);
    const Call call = build_call(c, of_specs);
    use(of_frequencies.of_given_frequencies(call, 512), by_frequencies);
  }
  CHECK(by_spec.front().expired());
  CHECK(by_frequencies.front().expired());
  CHECK(bytes_of(by_spec) == 6 * mebibyte);  // the latest, and no more than had to go
}

TEST_CASE("tables are made once, and only the rows that are not there yet", "[oracles]") {
  Oracles oracles;
  RopeSpec spec, other;
  other.base = 20000;
  const Oracles::TableKind kind{DType::f32, false, false, false};
  std::vector<std::pair<std::int64_t, std::int64_t>> made;  // rows before and after
  const auto make = [&](const Oracles::Tables& before, std::int64_t rows) {
    made.emplace_back(before.first.shape.empty() ? 0 : before.first.shape[0], rows);
    return Oracles::Tables{Tensor::contiguous(DType::f32, {rows, 1}), Tensor::contiguous(DType::f32, {rows, 1})};
  };
  CHECK(oracles.tables(spec, 0, kind, 100, make).first.shape[0] == 100);
  CHECK(oracles.tables(spec, 0, kind, 60, make).first.shape[0] == 100);
  CHECK(oracles.tables(other, 0, kind, 10, make).first.shape[0] == 10);
  CHECK(oracles.tables(spec, 0, {DType::bf16, false, false, false}, 20, make).first.shape[0] == 20);
  CHECK(oracles.tables(spec, 0, kind, 101, make).first.shape[0] >= 101);
  CHECK(oracles.tables(spec, 0, kind, 1000, make).first.shape[0] == 1000);
  REQUIRE(made.size() == 5);
  CHECK(made[3].first == 100);
  CHECK(made[4] == std::pair(made[3].second, std::int64_t{1000}));
}

TEST_CASE("a large table is made anew, so that two never lie side by side", "[oracles]") {
  Oracles oracles;
  const Oracles::TableKind kind{DType::f32, false, false, false};
  std::int64_t before_rows = -1;
  const auto make = [&](const Oracles::Tables& before, std::int64_t rows) {
    before_rows = before.first.shape.empty() ? 0 : before.first.shape[0];
    return Oracles::Tables{Tensor::contiguous(DType::f32, {rows, 1}), Tensor::contiguous(DType::f32, {rows, 1})};
  };
  constexpr std::int64_t large_rows = large_tensor / sizeof(float);
  oracles.tables({}, 0, kind, large_rows - 1, make);
  oracles.tables({}, 0, kind, large_rows, make);
  CHECK(before_rows == large_rows - 1);
  CHECK(oracles.tables({}, 0, kind, 2 * large_rows, make).first.shape[0] == 2 * large_rows);
  CHECK(before_rows == 0);
}

TEST_CASE("large tables are given back, small ones are kept", "[oracles]") {
  Oracles oracles;
  int made = 0;
  const auto make = [&](const Oracles::Tables&, std::int64_t rows) {
    ++made;
    return Oracles::Tables{Tensor::contiguous(DType::f32, {rows, 1}), Tensor::contiguous(DType::f32, {rows, 1})};
  };
  const auto made_again = [&](std::int64_t rows) {
    const int before = made;
    oracles.tables({}, 0, {DType::f32, false, false, false}, rows, make);
    return made > before;
  };
  CHECK(made_again(10));
  oracles.give_back_memory();
  CHECK_FALSE(made_again(10));
  CHECK(made_again(large_tensor));
  CHECK_FALSE(made_again(large_tensor));
  oracles.give_back_memory();
  CHECK(made_again(10));
}

TEST_CASE("a table that grew equals one that was made at once", "[oracles]") {
  for (const bool full : {false, true}) {
    for (const Layout layout : {Layout::contiguous, Layout::strided}) {
      Case c;
      c.source = AngleSource::tables;
      c.spec.head_dim = c.spec.rotary_dim = 8;
      c.full_tables = full;
      c.unequal_halves = full;
      c.layout = layout;
      Oracles grown, fresh;
      build_call(c, grown);
      c.start = 150;
      const Call call = build_call(c, grown), expected = build_call(c, fresh);
      CHECK(call.cos->bytes == expected.cos->bytes);
      CHECK(call.sin->bytes == expected.sin->bytes);
      CHECK(call.cos->shape == expected.cos->shape);
    }
  }
}

TEST_CASE("calls share the memory of their tables until one is written to", "[oracles]") {
  Oracles oracles;
  Case c;
  c.source = AngleSource::tables;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  Call one = build_call(c, oracles);
  const Call two = build_call(c, oracles);
  CHECK(std::as_const(one).cos->bytes.data() == two.cos->bytes.data());
  const std::byte first = two.cos->bytes[0];
  one.cos->bytes[0] = ~first;
  CHECK(two.cos->bytes[0] == first);
  CHECK(build_call(c, oracles).cos->bytes[0] == first);
  CHECK(one.cos->bytes[1] == two.cos->bytes[1]);
}

}  // namespace
}  // namespace rope
