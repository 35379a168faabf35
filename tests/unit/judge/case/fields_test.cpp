#include "tools/judge/case/fields.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/random_case.hpp"

namespace rope {
namespace {

// A value other than the default, as text: the last word that is not the default, or a number that all fields can hold.
std::string other_text(const Field& field) {
  static const std::map<std::string_view, std::string> special{{"scaling", "linear+factor=2.0"},
                                                               {"axes", "32:32"},
                                                               {"golden", "labml/d64"},
                                                               {"position_dtype", "i32"},
                                                               {"before", "bf16:6:7"}};
  if (const auto found = special.find(field.text.name); found != special.end()) return found->second;
  const std::vector<std::string_view>& words = field.text.words;
  if (words.empty()) return "6";
  return std::string(words.back() != field.text.print(Case{}) ? words.back() : words.front());
}

TEST_CASE("fields: every name is unique", "[fields]") {
  std::set<std::string_view> names;
  for (const Field& field : fields()) CHECK(names.insert(field.text.name).second);
}

TEST_CASE("fields: each is told from its default, prints what it read, and leaves the others unchanged", "[fields]") {
  for (const Field& field : fields()) {
    CAPTURE(field.text.name);
    const Case plain;
    Case c;
    field.text.read(c, other_text(field));
    CHECK_FALSE(c == plain);
    CHECK(field.text.print(c) == other_text(field));
    for (const Field& other : fields()) {
      const bool follows = field.text.name == "head_dim" && other.text.name == "rotary_dim";
      if (&other == &field || follows) continue;
      CAPTURE(other.text.name);
      CHECK(other.text.print(c) == other.text.print(plain));
    }
  }
}

TEST_CASE("fields: each is copied by itself", "[fields]") {
  for (const Field& field : fields()) {
    CAPTURE(field.text.name);
    Case from, c;
    field.text.read(from, other_text(field));
    field.text.copy(c, from);
    CHECK(field.text.print(c) == other_text(field));
    for (const Field& other : fields()) {
      if (&other != &field) CHECK(other.text.print(c) == other.text.print(Case{}));
    }
  }
}

// Fields without a switch: they say nothing of what a kernel computes, or another field's switch covers them.
const std::set<std::string_view> without_switch{"axes_order", "axes_restart", "out_dtype", "sequence_length", "input",
                                                "seed",       "fault",        "tool",      "golden"};

TEST_CASE("fields: an unusual value has words, and is gone when switched off", "[fields]") {
  for (const Field& field : fields()) {
    CAPTURE(field.text.name);
    CHECK(field.switches.empty() == (without_switch.count(field.text.name) == 1));
    if (field.switches.empty()) continue;
    Case c;
    if (field.text.name == "position_dtype") c.form = PositionForm::shared;
    field.text.read(c, other_text(field));
    const auto on = std::ranges::find_if(field.switches, [&](const Switch& s) { return s.on(c); });
    REQUIRE(on != field.switches.end());
    CHECK_FALSE(on->words(c).empty());
    on->off(c);
    CHECK_FALSE(on->on(c));
  }
}

TEST_CASE("fields: the orders have all entries of their columns", "[fields]") {
  std::size_t simpler = 0, off = 0, neighbours = 0;
  for (const Field& field : fields()) {
    simpler += field.simpler.size();
    off += field.switches.size();
    neighbours += field.neighbours.size();
  }
  CHECK(simpler_changes().size() == simpler);
  CHECK(switches().size() == off);
  CHECK(neighbour_changes().size() == neighbours);
}

TEST_CASE("fields: an unusual value has a neighbour that is another case", "[fields]") {
  for (const Field& field : fields()) {
    CAPTURE(field.text.name);
    if (field.neighbours.empty()) continue;
    Case c;
    field.text.read(c, other_text(field));
    std::vector<Case> all;
    for (const CaseChange& change : field.neighbours) change.propose(c, all);
    CHECK(std::ranges::any_of(all, [&](const Case& other) { return other != c; }));
  }
}

// All members that have a row of their own: with one more or less this does not compile.
auto members_of(const Case& c) {
  const auto& [requirement, spec, batch, seq, heads, key_heads, dtype, out_dtype, source, given, full_tables,
               unequal_halves, spare_rows, form, sequences, position_dtype, pattern, start, sequence_length, direction,
               in_place, layout, output, address, output_address, input, seed, fault, tool, before, golden] = c;
  const auto& [head_dim, rotary_dim, rotary_offset, pairing, base, scaling, axes, attention_factor, xpos] = spec;
  const auto& [sections, order, restart] = axes;  // a case has no xPos
  return std::tie(batch, seq, heads, key_heads, dtype, out_dtype, source, given, full_tables, unequal_halves,
                  spare_rows, form, sequences, position_dtype, pattern, start, sequence_length, direction, in_place,
                  layout, output, address, output_address, input, seed, fault, tool, before, golden, head_dim,
                  rotary_dim, rotary_offset, pairing, base, scaling, attention_factor, sections, order, restart);
}

TEST_CASE("fields: each member has a row that reads it", "[fields]") {
  const Case plain;
  Case c;
  for (const Field& field : fields()) field.text.read(c, other_text(field));
  const auto members = members_of(c), unread = members_of(plain);
  const auto count = [&]<std::size_t... i>(std::index_sequence<i...>) {
    std::size_t read = 0;
    ((read += std::get<i>(members) != std::get<i>(unread) ? 1 : 0), ...);
    return read;
  };
  constexpr std::size_t all = std::tuple_size_v<decltype(members)>;
  CHECK(count(std::make_index_sequence<all>()) == all);
  CHECK(fields().size() == all);
}

// All fields at once, except the types of positions and angles: these fit only their own forms.
TEST_CASE("fields: a case without a default value is read back from its text", "[fields]") {
  Case c;
  c.requirement = "ROT-01";
  for (const Field& field : fields()) {
    const std::string_view name = field.text.name;
    if (name == "head_dim" || name == "rotary_dim") continue;
    const bool type = name == "dtype" || name == "out_dtype" || name == "given";
    field.text.read(c, type ? "bf16" : name == "position_dtype" ? "i32" : other_text(field));
  }
  c.spec.axes.order = AxisLayout::Order::chunked;  // the other orders have no restart
  c.spec.head_dim = 136;
  c.spec.rotary_dim = 128;
  const std::string text = to_text(c);
  for (const Field& field : fields()) {
    CAPTURE(text, field.text.name);
    if (field.text.name != "axes_order") CHECK(text.find(std::string(field.text.name) + "=") != std::string::npos);
  }
  CHECK(case_from_text(text) == c);
}

TEST_CASE("fields: every word gives another value", "[fields]") {
  for (const Field& field : fields()) {
    for (const std::string_view word : field.text.words) {
      CAPTURE(field.text.name, word);
      Case c;
      field.text.read(c, std::string(word));
      CHECK(field.text.print(c) == word);
    }
  }
}

TEST_CASE("fields: every case has one of the kinds of each trait, and all kinds occur", "[fields]") {
  rc::Random random(1);
  Claims claims = test::all_claims();
  for (std::uint32_t& outputs : claims.capabilities.out_dtypes) outputs = claims.capabilities.table_dtypes;
  std::vector<std::set<std::size_t>> seen;
  std::vector<std::size_t> kinds;
  const auto look_at = [&](const Case& c) {
    std::size_t at = 0;
    for (const Field& field : fields()) {
      for (const Trait& trait : field.traits) {
        if (at == seen.size()) seen.emplace_back();
        const std::size_t kind = trait.kind_of(c);
        CHECK(kind < trait.kinds);
        seen[at++].insert(kind);
      }
    }
  };
  for (const Field& field : fields()) {
    for (const Trait& trait : field.traits) kinds.push_back(trait.kinds);
  }
  for (int i = 0; i < 6000; ++i) {
    Case c = *wide_random_case(random, claims, 40'000, [](Case&) {});
    // Fields that cases of some requirements set, and random cases do not.
    Draw draw(random);
    if (draw.one_in(10)) c.sequence_length = 5000;
    if (draw.one_in(10)) c.start = std::int64_t{1} << 33;
    if (draw.one_in(20)) c.spec.scaling = scaling::Constant{};
    const auto word_of = [&](const Field& field) { return std::string(draw.one_of(field.text.words)); };
    for (const Field& field : fields()) {
      const std::string_view name = field.text.name;
      const bool free = name == "layout" || name == "output" || name == "input" || name == "pattern";
      if (free && draw.one_in(10)) field.text.read(c, word_of(field));
    }
    look_at(c);
  }
  REQUIRE(seen.size() == kinds.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CAPTURE(i);
    CHECK(seen[i].size() == kinds[i]);
  }
}

}  // namespace
}  // namespace rope
