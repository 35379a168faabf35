// Which row and column of the tables are read, and as which type.
#include <fmt/format.h>

#include <algorithm>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {

namespace {

bool tables(const Call& call) { return call.source == AngleSource::tables; }
bool full(const Call& call) { return call.cos && call.cos->shape[1] == call.rotary_dim; }

void add(Hypotheses& all, std::string sentence, std::function<bool(const Call&)> applies,
         std::function<void(const Call&, bool sine, std::int64_t& row, std::int64_t& column)> change) {
  Hypothesis h{.bug_class = BugClass::table_cache, .sentence = std::move(sentence), .applies = std::move(applies)};
  h.change.table = std::move(change);
  all.push_back(std::move(h));
}

// Both tables, or only one.
struct Tables {
  const char* words;
  bool cos, sin;
};
constexpr Tables which[] = {{"the tables", true, true}, {"cos", true, false}, {"sin", false, true}};

void add_addresses(Hypotheses& all) {
  const auto misaddressed = [&](const char* sentence, const Tables& w,
                                std::function<void(const Call&, std::int64_t& row, std::int64_t& column)> change) {
    add(all, fmt::format(fmt::runtime(sentence), w.words), tables,
        [=](const Call& call, bool sine, std::int64_t& row, std::int64_t& column) {
          if (sine ? w.sin : w.cos) change(call, row, column);
        });
  };
  for (const Tables& w : which) {
    misaddressed("the row stride of {} is ignored", w, [](const Call& call, std::int64_t& row, std::int64_t& column) {
      column += row * (call.cos->shape[1] - call.cos->strides[0]);
    });
    misaddressed("the row stride of {} is taken to be rotary_dim", w,
                 [](const Call& call, std::int64_t& row, std::int64_t& column) {
                   column += row * (call.rotary_dim - call.cos->strides[0]);
                 });
    misaddressed("the row stride of {} is taken to be head_dim", w,
                 [](const Call& call, std::int64_t& row, std::int64_t& column) {
                   column += row * (call.q.shape[3] - call.cos->strides[0]);
                 });
    misaddressed("only the first row of {} is used", w, [](const Call&, std::int64_t& row, std::int64_t&) { row = 0; });
    misaddressed("row p - 1 of {} is read, not row p", w,
                 [](const Call&, std::int64_t& row, std::int64_t&) { row = row > 0 ? row - 1 : 0; });
    misaddressed("row p + 1 of {} is read, not row p", w, [](const Call&, std::int64_t& row, std::int64_t&) { ++row; });
    misaddressed("column c + 1 of {} is read, not column c", w,
                 [](const Call& call, std::int64_t&, std::int64_t& column) {
                   column = std::min<std::int64_t>(column + 1, call.cos->shape[1] - 1);
                 });
  }
}

void add_row_per_token(Hypotheses& all) {
  Hypothesis h{
      .bug_class = BugClass::table_cache,
      .sentence =
          "where the tables have as many rows as there are tokens, row s is used for token s, whatever its position",
      .applies = [](const Call& call) { return call.cos && call.cos->shape[0] == call.q.shape[1]; }};
  h.change.position = [](const RowContext& s, int, long double) { return static_cast<long double>(s.seq); };
  all.push_back(std::move(h));
}

void add_columns(Hypotheses& all) {
  add(
      all, "sin is read behind cos in the same row, as if one table held both",
      [](const Call& call) { return call.cos && call.cos->strides[0] >= 2 * call.cos->shape[1]; },
      [](const Call& call, bool sine, std::int64_t&, std::int64_t& column) {
        if (sine) column += call.cos->shape[1];  // both tables hold the same values behind their rows
      });
  add(all, "full-width tables: the second feature of a pair gets the first's column", full,
      [](const Call& call, bool, std::int64_t&, std::int64_t& column) {
        const std::int64_t half = call.rotary_dim / 2;
        column = call.pairing == Pairing::interleaved ? column / 2 * 2 : column % half;
      });
  add(all, "full-width tables: the first feature of a pair gets the second's column", full,
      [](const Call& call, bool, std::int64_t&, std::int64_t& column) {
        const std::int64_t half = call.rotary_dim / 2;
        column = call.pairing == Pairing::interleaved ? column / 2 * 2 + 1 : column % half + half;
      });
  add(all, "full-width tables: columns are read in the order of the other pairing", full,
      [](const Call& call, bool, std::int64_t&, std::int64_t& column) {
        const std::int64_t half = call.rotary_dim / 2;
        column =
            call.pairing == Pairing::interleaved ? column % 2 * half + column / 2 : column % half * 2 + column / half;
      });
  for (const bool of_sine : {true, false}) {
    add(all,
        fmt::format("full-width tables: the second feature of a pair gets the first's column of {}, but its own of {}",
                    of_sine ? "sin" : "cos", of_sine ? "cos" : "sin"),
        full, [=](const Call& call, bool sine, std::int64_t&, std::int64_t& column) {
          const std::int64_t half = call.rotary_dim / 2;
          if (sine == of_sine) column = call.pairing == Pairing::interleaved ? column / 2 * 2 : column % half;
        });
  }
  for (const bool second : {true, false}) {
    Hypothesis h{
        .bug_class = BugClass::multi_axis,
        .sentence = fmt::format("full-width tables: the {} feature of a pair gets the row of axis 0's position",
                                second ? "second" : "first"),
        .applies = [](const Call& call) { return full(call) && call.axis; }};
    h.change.axis_of = [second](const Params& p, int feature, int axis) {
      const bool of_second = p.pairing == Pairing::interleaved ? feature % 2 == 1 : feature >= p.rotary_dim / 2;
      return of_second == second ? 0 : axis;
    };
    all.push_back(std::move(h));
  }
  add(all, "full-width tables are read as if they had half width", full,
      [](const Call& call, bool, std::int64_t&, std::int64_t& column) {
        column = call.pairing == Pairing::interleaved ? column / 2 : column % (call.rotary_dim / 2);
      });
}

void add_columns_of_head(Hypotheses& all) {
  add(all, "the columns of the tables are counted from the head's first feature, not from rotary_offset",
      [](const Call& call) { return call.cos && call.rotary_offset != 0; },
      [](const Call& call, bool, std::int64_t&, std::int64_t& column) {
        column += full(call) ? call.rotary_offset : call.rotary_offset / 2;
      });
}

void add_types(Hypotheses& all) {
  {
    Hypothesis h{.bug_class = BugClass::table_cache, .sentence = "tables are read as if they had q's type",
                 .applies = tables};
    h.change.table_dtype = [](const Call& call, DType) { return call.q.dtype; };
    all.push_back(std::move(h));
  }
  {
    Hypothesis h{.bug_class = BugClass::table_cache, .sentence = "tables are read as if they were f32",
                 .applies = tables};
    h.change.table_dtype = [](const Call&, DType) { return DType::f32; };
    all.push_back(std::move(h));
  }
}

// Sines in one array with the cosines, at a place computed from the wrong width.
void add_misplaced_sines(Hypotheses& all) {
  for (const bool is_tail_zero : {true, false}) {
    Hypothesis h{
        .bug_class = BugClass::table_cache,
        .sentence = is_tail_zero
                        ? "sin is read behind cos from the next power of two on, not from rotary_dim/2; 0 past the end"
                        : "cos is used in place of sin in the second half of the pairs"};
    h.change.row = [=](const RowContext& s, const PairList& pairs, Row& row) {
      std::size_t width = 1;
      while (width < pairs.size()) width *= 2;
      const std::vector<double> sine = row.sin;
      static_cast<void>(s);
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const std::size_t from = p + width - pairs.size();
        for (const int feature : {pairs[p].first, pairs[p].second}) {
          const auto f = static_cast<std::size_t>(feature);
          const auto whose = [&](std::size_t q) {
            return static_cast<std::size_t>(feature == pairs[p].first ? pairs[q].first : pairs[q].second);
          };
          if (is_tail_zero) {
            row.sin[f] = from < pairs.size() ? sine[whose(from)] : 0;
          } else if (p >= pairs.size() / 2) {
            row.sin[f] = row.cos[f];
          }
        }
      }
    };
    all.push_back(std::move(h));
  }
}

}  // namespace

void add_table_hypotheses(Hypotheses& all) {
  add_addresses(all);
  add_row_per_token(all);
  add_columns(all);
  add_columns_of_head(all);
  add_types(all);
  add_misplaced_sines(all);
}

}  // namespace rope::diagnosis
