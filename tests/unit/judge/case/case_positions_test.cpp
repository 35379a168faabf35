#include <rapidcheck/catch.h>
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <set>

#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

using Positions = std::vector<std::int64_t>;

Case three_tokens(PositionPattern pattern, PositionForm form = PositionForm::shared) {
  Case c;
  c.seq = 4;
  c.batch = 2;
  c.start = 100;
  c.pattern = pattern;
  c.form = form;
  return c;
}

TEST_CASE("patterns of positions", "[case_positions]") {
  CHECK(positions(three_tokens(PositionPattern::consecutive)) == Positions{100, 101, 102, 103, 100, 101, 102, 103});
  CHECK(positions(three_tokens(PositionPattern::repeated)) == Positions{100, 100, 100, 101, 100, 100, 100, 101});
  CHECK(positions(three_tokens(PositionPattern::descending)) == Positions{103, 102, 101, 100, 103, 102, 101, 100});
  CHECK(positions(three_tokens(PositionPattern::exchanged)) == Positions{100, 102, 101, 103, 100, 102, 101, 103});
  Case odd = three_tokens(PositionPattern::exchanged);
  odd.batch = 1;
  odd.seq = 5;  // the one in the middle has no partner
  CHECK(positions(odd) == Positions{100, 102, 101, 103, 104});
  CHECK(positions(three_tokens(PositionPattern::last_apart)) == Positions{100, 101, 102, 107, 100, 101, 102, 107});
  CHECK(positions(three_tokens(PositionPattern::restarting)) == Positions{100, 101, 102, 100, 100, 101, 102, 100});
  CHECK(positions(three_tokens(PositionPattern::left_padded)) == Positions{100, 100, 101, 102, 100, 100, 101, 102});
}

TEST_CASE("an image between texts: each two of three axes are alike at a token at which the third is not",
          "[case_positions]") {
  Case c = three_tokens(PositionPattern::image, PositionForm::shared);
  c.batch = 1;
  c.seq = 8;
  c.spec.axes.sections = {8, 12, 12};
  CHECK(positions(c) == Positions{100, 101, 102, 102, 102, 102, 104, 105,    // text, time of the image, text
                                  100, 101, 102, 102, 103, 103, 104, 105,    // rows
                                  100, 101, 102, 103, 102, 103, 104, 105});  // columns
}

TEST_CASE("patterns that differ only between batches, after an equal beginning", "[case_positions]") {
  const auto of = [](PositionPattern pattern) { return positions(three_tokens(pattern, PositionForm::per_batch)); };
  CHECK(of(PositionPattern::last_apart) == Positions{100, 101, 102, 103, 100, 101, 102, 107});
  CHECK(of(PositionPattern::restarting) == Positions{100, 101, 102, 100, 100, 100, 101, 102});
  CHECK(of(PositionPattern::left_padded) == Positions{100, 100, 101, 102, 100, 100, 100, 101});
}

TEST_CASE("batches have their own positions only if the form says so", "[case_positions]") {
  for (const auto form : {PositionForm::offset, PositionForm::shared}) {
    const Positions p = positions(three_tokens(PositionPattern::consecutive, form));
    CHECK(std::equal(p.begin(), p.begin() + 4, p.begin() + 4));
  }
  const Positions own = positions(three_tokens(PositionPattern::consecutive, PositionForm::per_batch));
  CHECK(own == Positions{100, 101, 102, 103, 113, 114, 115, 116});
}

TEST_CASE("the tokens of a sequence are counted from its start", "[case_positions]") {
  Case c = three_tokens(PositionPattern::consecutive, PositionForm::seqlen_offsets);
  CHECK(positions(c) == Positions{113, 114, 115, 116, 100, 101, 102, 103});
  CHECK(sequence_starts(c) == Positions{113, 100});

  c.batch = 1;
  c.seq = 7;
  c.sequences = 3;
  c.form = PositionForm::cu_seqlens;
  CHECK(packed_borders(c) == Positions{0, 1, 3, 7});
  CHECK(positions(c) == Positions{100, 100, 101, 100, 101, 102, 103});
  c.form = PositionForm::cu_seqlens_and_offsets;
  CHECK(positions(c) == Positions{113, 100, 101, 126, 127, 128, 129});
  CHECK(largest_position(c) == 129);
}

TEST_CASE("a row of few tokens packs empty sequences, too", "[case_positions]") {
  Case c = three_tokens(PositionPattern::consecutive, PositionForm::cu_seqlens_and_offsets);
  c.batch = 1;
  c.seq = 3;
  c.sequences = 6;
  CHECK(packed_borders(c) == Positions{0, 0, 0, 1, 2, 3, 3});
  CHECK(positions(c) == Positions{100 + 13 * 3, 100 + 13 * 2, 100 + 13 * 5});
  c.seq = 0;
  CHECK(positions(c).empty());
}

TEST_CASE("axes walk at different paces if positions are given, together if they are an offset", "[case_positions]") {
  Case c = three_tokens(PositionPattern::consecutive);
  c.batch = 1;
  c.spec.axes.sections = {32, 32};
  CHECK(positions(c) == Positions{100, 101, 102, 103, 105, 107, 109, 108});
  c.form = PositionForm::offset;
  CHECK(positions(c) == Positions{100, 101, 102, 103, 100, 101, 102, 103});
}

TEST_CASE("scattered positions are of every order of magnitude up to the start", "[case_positions]") {
  Case c = three_tokens(PositionPattern::scattered);
  c.batch = 1;
  c.seq = 4000;
  c.start = 1 << 20;
  std::set<int> magnitudes;
  for (const std::int64_t m : positions(c)) {
    CHECK((m >= 0 && m <= c.start));
    magnitudes.insert(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(m))));
  }
  CHECK(magnitudes.size() >= 21);
  c.start = 0;
  CHECK(largest_position(c) == 0);
}

TEST_CASE("a case has the same positions every time, and largest_position is the largest", "[case_positions]") {
  rc::prop("for random cases", [] {
    const Case c = test::any_case();
    const Positions p = positions(c);
    RC_ASSERT(p.size() == static_cast<std::size_t>(c.spec.axes.count() * c.batch * c.seq));
    RC_ASSERT(positions(c) == p);
    RC_ASSERT(*std::min_element(p.begin(), p.end()) >= 0);
    const std::int64_t largest = *std::max_element(p.begin(), p.end());
    RC_ASSERT(largest_position(c) == largest);
    RC_ASSERT(smallest_position(c) == *std::min_element(p.begin(), p.end()));
    RC_ASSERT(sequence_length(c) == (c.sequence_length != 0 ? c.sequence_length : largest + 1));
    if (c.form == PositionForm::per_batch || c.form == PositionForm::seqlen_offsets) return;
    const auto seq = static_cast<std::size_t>(c.seq);
    for (std::size_t row = 1; row < static_cast<std::size_t>(c.batch); ++row) {
      RC_ASSERT(std::equal(p.begin(), p.begin() + c.seq, p.begin() + static_cast<std::ptrdiff_t>(row * seq)));
    }
  });
}

TEST_CASE("counted positions end where the list of all does", "[case_positions]") {
  for (const PositionForm form : {PositionForm::offset, PositionForm::shared, PositionForm::per_batch,
                                  PositionForm::seqlen_offsets, PositionForm::cu_seqlens}) {
    for (const PositionPattern pattern : {PositionPattern::consecutive, PositionPattern::descending}) {
      for (const int batch : {1, 2}) {
        Case c;
        c.form = form;
        c.pattern = pattern;
        c.batch = is_packed(form) ? 1 : batch;
        c.seq = 7;
        c.start = 40;
        const auto all = positions(c);
        INFO(to_text(c));
        CHECK(largest_position(c) == *std::ranges::max_element(all));
        CHECK(smallest_position(c) == *std::ranges::min_element(all));
      }
    }
  }
}

TEST_CASE("another seed scatters differently", "[case_positions]") {
  Case c = three_tokens(PositionPattern::scattered);
  c.start = 1 << 20;
  const Positions before = positions(c);
  c.seed = 2;
  CHECK(positions(c) != before);
}

TEST_CASE("no tokens, no positions", "[case_positions]") {
  Case c;
  c.seq = 0;
  CHECK(positions(c).empty());
  CHECK(largest_position(c) == 0);
  CHECK(sequence_length(c) == 1);
}

}  // namespace
}  // namespace rope
