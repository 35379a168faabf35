// Given positions that are read from elsewhere: wrong strides, a wrong type, buffers that are too small.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

// The memory of the positions at an index, read as another type; NaN beyond its end.
long double read_as(const RowContext& s, DType dtype, std::int64_t index) {
  const Tensor& p = *s.call.positions;
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto end = static_cast<std::int64_t>(p.bytes.size());
  const std::int64_t at = index * size;
  if (at < 0 || at + size > end) {
    const std::int64_t byte = at < 0 ? at : std::max(at, end);
    if (s.outside != nullptr && !*s.outside) {
      *s.outside = OutsideAccess{"positions", false, byte / static_cast<std::int64_t>(size_of(p.dtype))};
    }
    return std::numeric_limits<long double>::quiet_NaN();
  }
  Tensor read = p;
  read.dtype = dtype;
  return static_cast<long double>(integer_at(read, index));
}

using Index = std::function<std::int64_t(const Tensor&, const RowContext&, int axis)>;

// Given positions, read from elsewhere.
void add_read(Hypotheses& all, BugClass bug_class, std::string sentence, Index index, bool other_type = false) {
  Hypothesis h{.bug_class = bug_class, .sentence = std::move(sentence)};
  h.change.position = [=](const RowContext& s, int axis, long double p) {
    if (!s.call.positions) return p;
    const Tensor& given = *s.call.positions;
    const DType other = given.dtype == DType::i32 ? DType::i64 : DType::i32;
    return read_as(s, other_type ? other : given.dtype, index(given, s, axis));
  };
  all.push_back(std::move(h));
}

std::int64_t right_index(const Tensor& p, const RowContext& s, int axis) {
  return axis * p.strides[0] + s.batch * p.strides[1] + s.seq * p.strides[2];
}

void add_misreads(Hypotheses& all) {
  add_read(all, BugClass::position_offset, "i32 positions are read as i64, or i64 positions as i32", right_index, true);
  add_read(all, BugClass::position_offset, "the seq_stride of the positions is ignored",
           [](const Tensor& p, const RowContext& s, int axis) {
             return axis * p.strides[0] + s.batch * p.strides[1] + s.seq;
           });
  add_read(all, BugClass::position_offset, "the strides of the positions are ignored",
           [](const Tensor& p, const RowContext& s, int axis) {
             return (axis * p.shape[1] + (p.shape[1] > 1 ? s.batch : 0)) * p.shape[2] + s.seq;
           });
  add_read(all, BugClass::position_offset,
           "a batch_stride of 0 is ignored: each batch reads a row of positions of its own",
           [](const Tensor& p, const RowContext& s, int axis) {
             return right_index(p, s, axis) + (p.strides[1] == 0 ? s.batch * p.shape[2] * p.strides[2] : 0);
           });
  add_read(all, BugClass::varlen_packing_cp,
           "each batch reads its positions right behind the previous batch's: the batch_stride is ignored",
           [](const Tensor& p, const RowContext& s, int axis) {
             const std::int64_t rows = p.strides[1] == 0 ? 0 : s.batch;
             return axis * p.strides[0] + rows * p.shape[2] + s.seq * p.strides[2];
           });
  add_read(all, BugClass::varlen_packing_cp,
           "the batch_stride of the positions is taken to be tokens * seq_stride",
           [](const Tensor& p, const RowContext& s, int axis) {
             const std::int64_t rows = p.strides[1] == 0 ? 0 : s.batch;
             return axis * p.strides[0] + (rows * p.shape[2] + s.seq) * p.strides[2];
           });
  add_read(all, BugClass::position_offset,
           "the batch_stride of the positions is taken to be the number of tokens, also if it is 0",
           [](const Tensor& p, const RowContext& s, int axis) {
             return axis * p.strides[0] + s.batch * p.shape[2] + s.seq * p.strides[2];
           });
  add_read(all, BugClass::multi_axis,
           "the axis_stride of the positions is taken to be batches * tokens, also if all batches share a row",
           [](const Tensor& p, const RowContext& s, int axis) {
             return axis * s.call.q.shape[0] * p.shape[2] + s.batch * p.strides[1] + s.seq * p.strides[2];
           });
  add_read(all, BugClass::multi_axis, "the axis_stride of the positions is taken to be the number of tokens",
           [](const Tensor& p, const RowContext& s, int axis) {
             return axis * p.shape[2] + s.batch * p.strides[1] + s.seq * p.strides[2];
           });
  add_read(all, BugClass::multi_axis, "the axis_stride of the positions is taken to be tokens * seq_stride",
           [](const Tensor& p, const RowContext& s, int axis) {
             return s.batch * p.strides[1] + (axis * p.shape[2] + s.seq) * p.strides[2];
           });
  add_read(all, BugClass::position_offset, "batch_stride and seq_stride of the positions are exchanged",
           [](const Tensor& p, const RowContext& s, int axis) {
             return axis * p.strides[0] + s.batch * p.strides[2] + s.seq * p.strides[1];
           });
  add_read(all, BugClass::multi_axis, "the seq_stride of the positions is multiplied by head_dim / rotary_dim",
           [](const Tensor& p, const RowContext& s, int axis) {
             const std::int64_t wide = s.params.head_dim / std::max(s.params.rotary_dim, 1);
             return axis * p.strides[0] + s.batch * p.strides[1] + s.seq * p.strides[2] * wide;
           });
  add_read(all, BugClass::multi_axis, "the seq_stride of the positions is used as their axis_stride",
           [](const Tensor& p, const RowContext& s, int axis) {
             return s.batch * p.strides[1] + s.seq * p.strides[2] + axis * p.strides[2];
           });
}

// Positions that go through buffers of a fixed size.
void add_buffers(Hypotheses& all) {
  for (std::int64_t size = 8; size <= 1024; size *= 2) {
    add_read(all, BugClass::position_offset,
             fmt::format("counted over all batches, tokens from {} on get the given positions of tokens 0, 1, .. again",
                         size),
             [=](const Tensor& p, const RowContext& s, int axis) {
               const std::int64_t tokens = s.call.q.shape[1], token = (s.batch * tokens + s.seq) % size;
               return axis * p.strides[0] + token / tokens * p.strides[1] + token % tokens * p.strides[2];
             });
  }
}

// Given positions of some tokens decide that all count on, without a look at the others.
void add_assumed_order(Hypotheses& all) {
  struct Tokens {
    const RowContext& s;
    int axis;
    std::int64_t first, count;  // tokens

    std::int64_t of(std::int64_t i) const {
      return token_position(s.call, s.batch, first + i)[static_cast<std::size_t>(axis)];
    }
    std::int64_t least() const {
      std::int64_t least = of(0);
      for (std::int64_t i = 1; i < count; ++i) least = std::min(least, of(i));
      return least;
    }
    std::int64_t most() const {
      std::int64_t most = of(0);
      for (std::int64_t i = 1; i < count; ++i) most = std::max(most, of(i));
      return most;
    }
  };
  const struct {
    const char* words;
    bool (*counts_on)(const Tokens&);
    std::int64_t (*from)(const Tokens&);
  } tests[] = {
      {"positions are taken to count on from the first if the last is as far away as then, whatever lies between",
       [](const Tokens& r) { return r.of(r.count - 1) - r.of(0) == r.count - 1; },
       [](const Tokens& r) { return r.of(0); }},
      {"positions are taken to count on from the smallest if the largest is as far away as then, in any order",
       [](const Tokens& r) { return r.most() - r.least() == r.count - 1; }, [](const Tokens& r) { return r.least(); }},
      {"positions are taken to count on from the first if the second does",
       [](const Tokens& r) { return r.count > 1 && r.of(1) == r.of(0) + 1; }, [](const Tokens& r) { return r.of(0); }},
  };
  for (const auto& test : tests) {
    for (const std::int64_t block : {0, 4, 8, 16, 32, 64}) {
      const std::string where = block == 0 ? "" : fmt::format("in each block of {} tokens, ", block);
      Hypothesis h{.bug_class = BugClass::position_offset, .sentence = where + test.words};
      h.change.position = [=](const RowContext& s, int axis, long double p) {
        if (!s.call.positions && !s.call.cu_seqlens) return p;
        const std::int64_t tokens = s.in().shape[1], first = block == 0 ? 0 : s.seq / block * block;
        const Tokens run{s, axis, first, block == 0 ? tokens : std::min(block, tokens - first)};
        return test.counts_on(run) ? static_cast<long double>(test.from(run) + s.seq - first) : p;
      };
      all.push_back(std::move(h));
    }
  }
}

}  // namespace

void add_given_position_hypotheses(Hypotheses& all) {
  add_assumed_order(all);
  add_misreads(all);
  add_buffers(all);
}

}  // namespace rope::diagnosis
