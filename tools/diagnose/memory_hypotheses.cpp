// What is written when, or never, and values that get special treatment.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

void look_at(const RowContext& s, const char* name, const Tensor& tensor, std::int64_t index) {
  const std::int64_t element = index + tensor.origin;
  const auto count = static_cast<std::int64_t>(tensor.bytes.size() / size_of(tensor.dtype));
  if ((element < 0 || element >= count) && !*s.outside) *s.outside = OutsideAccess{name, false, element};
}

// The row of a table that a token gets.
std::int64_t table_row(const RowContext& s, const Tensor& table) {
  return token_position(s.call, s.batch, s.seq)[0] * table.strides[0];
}

// Where a row of elements begins in its tensor, how many it has, and how far they lie apart.
struct ReadRow {
  const char* name;
  const Tensor* tensor;  // null: the call has none
  std::int64_t first = 0, count = 0, step = 1;

  void look_at(const RowContext& s, std::int64_t element) const {
    diagnosis::look_at(s, name, *tensor, first + element * step);
  }
};

template <class T>
const T* pointer_to(const std::optional<T>& tensor) {
  return tensor ? &*tensor : nullptr;
}

ReadRow of_table(const RowContext& s, const char* name, const std::optional<Tensor>& table) {
  if (!table) return {name, nullptr};
  return {name, &*table, table_row(s, *table), table->shape[1]};
}

// A wrong index that ends at the same element says more.
constexpr double vague_read = 0.01;

// A load wider than a row, or beginning before it. No value shows it; the end of the memory does. Where it ends, only
// gaps behind the last row can show.
void add_wide_reads(Hypotheses& all) {
  using FindRow = ReadRow (*)(const RowContext&);
  const struct {
    const char* of;
    FindRow find;
  } rows[] = {
      {"rows of q and k",
       [](const RowContext& s) {
         return ReadRow{s.key ? "k" : "q", &s.in(), row_offset(s.in(), {s.batch, s.seq, s.head}), s.in().shape[3],
                        s.in().strides[3]};
       }},
      {"rotary features of q and k",
       [](const RowContext& s) {
         return ReadRow{s.key ? "k" : "q", &s.in(), row_offset(s.in(), {s.batch, s.seq, s.head}), s.call.rotary_dim,
                        s.in().strides[3]};
       }},
      {"second halves of the pairs of q and k",
       [](const RowContext& s) {
         const std::int64_t half = s.call.rotary_dim / 2, step = s.in().strides[3];
         if (s.call.pairing != Pairing::half_split) return ReadRow{"q", nullptr};
         return ReadRow{s.key ? "k" : "q", &s.in(), row_offset(s.in(), {s.batch, s.seq, s.head}) + half * step, half,
                        step};
       }},
      {"rows of cos", [](const RowContext& s) { return of_table(s, "cos", s.call.cos); }},
      {"rows of sin", [](const RowContext& s) { return of_table(s, "sin", s.call.sin); }},
      {"positions",
       [](const RowContext& s) {
         if (!s.call.positions) return ReadRow{"positions", nullptr};
         const Tensor& p = *s.call.positions;
         return ReadRow{"positions", &p, s.batch * p.strides[1], p.shape[2], p.strides[2]};
       }},
      {"values of seqlen_offsets",
       [](const RowContext& s) {
         return ReadRow{"seqlen_offsets", pointer_to(s.call.seqlen_offsets), 0, s.call.sequences()};
       }},
      {"values of cu_seqlens",
       [](const RowContext& s) {
         return ReadRow{"cu_seqlens", pointer_to(s.call.cu_seqlens), 0, s.call.sequences() + 1};
       }},
      {"values of theta",
       [](const RowContext& s) {
         return ReadRow{"theta", pointer_to(s.call.theta), 0, s.call.rotary_dim / 2};
       }},
      {"the axes of the pairs",
       [](const RowContext& s) {
         return ReadRow{"axis", pointer_to(s.call.axis), 0, s.call.rotary_dim / 2};
       }},
  };
  const auto add = [&](std::string sentence, double cost, FindRow find,
                       std::function<void(const RowContext&, const ReadRow&)> look) {
    Hypothesis h{.bug_class = BugClass::strides_memory_race, .sentence = std::move(sentence), .cost = cost};
    h.change.beside = [=](const RowContext& s) {
      const ReadRow row = find(s);
      if (row.tensor != nullptr && row.count > 0) look(s, row);
    };
    all.push_back(std::move(h));
  };
  for (const bool of_sin : {false, true}) {
    add(
        fmt::format("the row of {} for the next position is read, too", of_sin ? "sin" : "cos"), 0,
        of_sin ? [](const RowContext& s) { return of_table(s, "sin", s.call.sin); }
               : [](const RowContext& s) { return of_table(s, "cos", s.call.cos); },
        [](const RowContext& s, const ReadRow& of) {
          for (std::int64_t i = 0; i < of.count; ++i) of.look_at(s, of.tensor->strides[0] + i);
        });
  }
  for (const auto& row : rows) {
    for (const std::int64_t block : {2, 4, 8, 16, 32}) {
      add(fmt::format("{} are read in whole blocks of {}, so the last one goes beyond the end", row.of, block), 0,
          row.find, [block](const RowContext& s, const ReadRow& of) {
            for (std::int64_t i = of.count; i % block != 0; ++i) of.look_at(s, i);
          });
    }
    for (std::int64_t more = 1; more <= 16; ++more) {
      add(more == 1 ? fmt::format("{} are read beyond the end", row.of)
                    : fmt::format("{} are read beyond the end, at least {} elements", row.of, more),
          vague_read, row.find, [more](const RowContext& s, const ReadRow& of) {
            for (std::int64_t i = 0; i < more; ++i) of.look_at(s, of.count + i);
          });
    }
    for (const std::int64_t before : {1, 2, 4, 8}) {
      add(fmt::format("{} are read from {} element{} before the start", row.of, before, before == 1 ? "" : "s"),
          vague_read, row.find, [before](const RowContext& s, const ReadRow& of) { of.look_at(s, -before); });
    }
  }
}

// The last pairs are loaded with a whole vector, which begins with them: first cos and sin, then the features.
void add_whole_vectors(Hypotheses& all) {
  for (const std::int64_t vector : {2, 4, 8, 16, 32}) {
    Hypothesis h{.bug_class = BugClass::strides_memory_race,
                 .sentence = fmt::format(
                     "the pairs left over from vectors of {} are loaded as a whole vector, beyond the ends of cos, "
                     "sin and the features",
                     vector)};
    h.change.beside = [=](const RowContext& s) {
      const std::int64_t pairs = s.call.rotary_dim / 2, end = (pairs + vector - 1) / vector * vector;
      const bool is_split = s.call.pairing == Pairing::half_split;
      const auto look_behind = [&](const ReadRow& row) {
        for (std::int64_t i = pairs; row.tensor != nullptr && i < end; ++i) {
          row.look_at(s, row.count == pairs ? i : is_split ? pairs + i : 2 * i + 1);
        }
      };
      look_behind(of_table(s, "cos", s.call.cos));
      look_behind(of_table(s, "sin", s.call.sin));
      look_behind({s.key ? "k" : "q", &s.in(), row_offset(s.in(), {s.batch, s.seq, s.head}), s.call.rotary_dim,
                   s.in().strides[3]});
    };
    all.push_back(std::move(h));
  }
}

bool is_subnormal(DType dtype, double value) {
  return value != 0 && std::fabs(value) < smallest_subnormal(dtype) / (2 * unit_roundoff(dtype));
}

// Not, or not only, in the inputs of pairs.
void add_subnormals_taken_for_zeros(Hypotheses& all, const Hypothesis& of_pairs) {
  enum class Copied { exactly, exactly_to_the_same_type, as_zeros };
  Hypothesis of_tables = of_pairs;
  of_tables.sentence = "subnormal entries of tables are taken for zeros";
  of_tables.change.load = nullptr;
  const auto flush_entries = [](const RowContext& s, const PairList&, Row& row) {
    if (!s.call.cos) return;
    for (std::vector<double>* values : {&row.cos, &row.sin}) {
      for (double& value : *values) value = is_subnormal(s.call.cos->dtype, value) ? 0 : value;
    }
  };
  of_tables.change.row = flush_entries;
  all.push_back(std::move(of_tables));
  const struct {
    bool in_tables;
    Copied copied;
    const char* words;
  } ways[] = {
      {true, Copied::exactly, "subnormal inputs and entries of tables are taken for zeros"},
      {false, Copied::as_zeros, "subnormal inputs are taken for zeros, also where they are copied"},
      {true, Copied::as_zeros,
       "subnormal inputs and entries of tables are taken for zeros, also where they are copied"},
      {false, Copied::exactly_to_the_same_type,
       "subnormal inputs are taken for zeros, also where they are copied to another type"},
      {true, Copied::exactly_to_the_same_type,
       "subnormal inputs and entries of tables are taken for zeros, also where they are copied to another type"},
  };
  for (const auto& way : ways) {
    Hypothesis h = of_pairs;
    h.sentence = way.words;
    if (way.copied != Copied::exactly) {
      h.change.pass = [copied = way.copied](const RowContext& s, int, double x) {
        const bool is_read = copied == Copied::as_zeros || s.in().dtype != s.out().dtype;
        return is_read && is_subnormal(s.in().dtype, x) ? 0 : x;
      };
    }
    if (way.in_tables) h.change.row = flush_entries;
    all.push_back(std::move(h));
  }
}

void add_subnormals(Hypotheses& all) {
  Hypothesis h{.bug_class = BugClass::special_values, .sentence = "subnormal inputs are taken for zeros"};
  h.change.load = [](const RowContext& s, double x) { return is_subnormal(s.in().dtype, x) ? 0 : x; };
  all.push_back(h);
  add_subnormals_taken_for_zeros(all, h);
  h.sentence = "subnormal inputs are read as if a 1 stood before their digits, as in other numbers";
  h.change.load = [](const RowContext& s, double x) {
    const DType dtype = s.in().dtype;
    if (!is_subnormal(dtype, x)) return x;
    const double smallest_normal = smallest_subnormal(dtype) / (2 * unit_roundoff(dtype));
    return (x + std::copysign(smallest_normal, x)) / 2;  // the exponent that stands there is one lower
  };
  all.push_back(std::move(h));
  Hypothesis results{.bug_class = BugClass::special_values, .sentence = "subnormal results are written as zeros"};
  results.change.store = [](const RowContext& s, int, double y) {
    return is_subnormal(s.call.q_result().dtype, y) ? 0 : y;
  };
  all.push_back(std::move(results));
}

}  // namespace

void add_memory_hypotheses(Hypotheses& all) {
  {
    Hypothesis h{.bug_class = BugClass::backward, .sentence = "the gradient is copied unrotated", .cost = 0.01,
                 .applies = [](const Call& call) { return call.direction == Direction::backward; }, .unrotated = true};
    h.change.write = [](const RowContext&) { return Write::copied; };
    all.push_back(std::move(h));
  }
  add_wide_reads(all);
  add_whole_vectors(all);
  {
    Hypothesis h{.bug_class = BugClass::special_values, .sentence = "features whose input is 0 stay 0"};
    h.change.store = [](const RowContext& s, int f, double y) {
      return value_at(s.in(), {s.batch, s.seq, s.head}, f) == 0 ? 0 : y;
    };
    all.push_back(std::move(h));
  }
  add_subnormals(all);
  for (double epsilon : {1e-12, 1e-8, 1e-6, 1e-5}) {
    Hypothesis h{.bug_class = BugClass::special_values,
                 .sentence = fmt::format("{} is added to every result", epsilon)};
    h.change.store = [=](const RowContext& s, int f, double y) { return f < s.params.rotary_dim ? y + epsilon : y; };
    all.push_back(std::move(h));
  }
}

}  // namespace rope::diagnosis
