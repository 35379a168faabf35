// What is written when, or never, and values that get special treatment.
#include <fmt/format.h>

#include <cmath>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

void look_at(const Spot& s, const char* name, const Tensor& tensor, std::int64_t index) {
  const std::int64_t element = index + tensor.origin;
  const auto count = static_cast<std::int64_t>(tensor.bytes.size() / size_of(tensor.dtype));
  if ((element < 0 || element >= count) && !*s.outside) *s.outside = OutsideAccess{name, false, element};
}

// The element `beside` elements away from a token's row in a table.
std::int64_t beside_row(const Spot& s, const Tensor& table, std::int64_t beside) {
  return token_position(s.call, s.batch, s.seq)[0] * table.strides[0] + (beside > 0 ? table.shape[1] - 1 : 0) + beside;
}

// A wrong index that ends at the same element says more.
constexpr double vague_read = 0.01;

// A load wider than a row, or beginning before it. No value shows it; the end of the memory does.
void add_wide_reads(Hypotheses& all) {
  using Look = void (*)(const Spot&, std::int64_t beside);
  const struct {
    const char* of;
    Look look;
  } rows[] = {
      {"q and k",
       [](const Spot& s, std::int64_t beside) {
         const std::int64_t row = row_offset(s.in(), {s.batch, s.seq, s.head});
         look_at(s, s.key ? "k" : "q", s.in(), row + (beside > 0 ? s.in().shape[3] - 1 : 0) + beside);
       }},
      {"rows of cos",
       [](const Spot& s, std::int64_t beside) {
         if (s.call.cos) look_at(s, "cos", *s.call.cos, beside_row(s, *s.call.cos, beside));
       }},
      {"rows of sin",
       [](const Spot& s, std::int64_t beside) {
         if (s.call.sin) look_at(s, "sin", *s.call.sin, beside_row(s, *s.call.sin, beside));
       }},
      {"the positions",
       [](const Spot& s, std::int64_t beside) {
         if (!s.call.positions) return;
         const Tensor& p = *s.call.positions;
         look_at(s, "positions", p, s.batch * p.strides[1] + (s.seq + beside) * p.strides[2]);
       }},
      {"values of seqlen_offsets",
       [](const Spot& s, std::int64_t beside) {
         if (!s.call.seqlen_offsets) return;
         const std::int64_t last = s.call.sequences() - 1;
         look_at(s, "seqlen_offsets", *s.call.seqlen_offsets, (beside > 0 ? last : 0) + beside);
       }},
      {"values of cu_seqlens",
       [](const Spot& s, std::int64_t beside) {
         if (!s.call.cu_seqlens) return;
         look_at(s, "cu_seqlens", *s.call.cu_seqlens, (beside > 0 ? s.call.sequences() : 0) + beside);
       }},
      {"values of theta",
       [](const Spot& s, std::int64_t beside) {
         if (s.call.theta) look_at(s, "theta", *s.call.theta, (beside > 0 ? s.call.rotary_dim / 2 - 1 : 0) + beside);
       }},
      {"the axes",
       [](const Spot& s, std::int64_t beside) {
         if (s.call.axis) look_at(s, "axis", *s.call.axis, (beside > 0 ? s.call.rotary_dim / 2 - 1 : 0) + beside);
       }},
  };
  const auto elements = [](std::int64_t count) { return fmt::format("{} element{}", count, count == 1 ? "" : "s"); };
  for (const auto& row : rows) {
    // A vector holds 4, 8 or 16 elements and may begin at any of the row's last ones.
    for (const std::int64_t beside : {1, 2, 3, 4, 7, 8, 15, 16, -1, -2, -4, -8}) {
      Hypothesis h{BugClass::strides_memory_race,
                   beside > 0 ? fmt::format("{} are read up to {} past the end", row.of, elements(beside))
                              : fmt::format("{} are read from {} before the start", row.of, elements(-beside)),
                   {},
                   vague_read,
                   {},
                   false};
      h.change.beside = [look = row.look, beside](const Spot& s) { look(s, beside); };
      all.push_back(std::move(h));
    }
  }
}

bool is_subnormal(DType dtype, double value) {
  return value != 0 && std::fabs(value) < smallest_subnormal(dtype) / (2 * unit_roundoff(dtype));
}

void add_subnormals(Hypotheses& all) {
  Hypothesis h{BugClass::special_values, "subnormal inputs are taken for zeros", {}, 0, {}, false};
  h.change.load = [](const Spot& s, double x) { return is_subnormal(s.in().dtype, x) ? 0 : x; };
  all.push_back(h);
  h.sentence = "subnormal inputs are read as if a 1 stood before their digits, as in other numbers";
  h.change.load = [](const Spot& s, double x) {
    const DType dtype = s.in().dtype;
    if (!is_subnormal(dtype, x)) return x;
    const double smallest_normal = smallest_subnormal(dtype) / (2 * unit_roundoff(dtype));
    return (x + std::copysign(smallest_normal, x)) / 2;  // the exponent that stands there is one lower
  };
  all.push_back(std::move(h));
  Hypothesis results{BugClass::special_values, "subnormal results are written as zeros", {}, 0, {}, false};
  results.change.store = [](const Spot& s, int, double y) { return is_subnormal(s.call.q_result().dtype, y) ? 0 : y; };
  all.push_back(std::move(results));
}

// A pair's first result is written before its second one is computed, but for the first pairs, whose inputs are saved.
void add_rereads(Hypotheses& all) {
  const auto add = [&](const std::string& where, std::function<int(int pairs)> from) {
    Hypothesis h{BugClass::strides_memory_race,
                 where + "the second result is made from the first one that was just written",
                 {},
                 0,
                 [=](const Call& call) { return from(call.rotary_dim / 2) < call.rotary_dim / 2; },
                 false};
    h.change.rereads_from = from;
    all.push_back(std::move(h));
  };
  add("", [](int) { return 0; });
  for (const int saved : {16, 32, 64, 128}) {
    add(fmt::format("in pairs from {} on, ", saved), [=](int) { return saved; });
  }
  for (const int block : {2, 4, 8, 16}) {
    add(fmt::format("in the pairs left over from blocks of {}, ", block),
        [=](int pairs) { return pairs / block * block; });
  }
}

}  // namespace

void add_memory_hypotheses(Hypotheses& all) {
  add_rereads(all);
  {
    Hypothesis h{BugClass::strides_memory_race, "the output is never written", {}, 0.02, {}, true};
    h.change.write = [](const Spot&) { return Write::nothing; };
    all.push_back(std::move(h));
  }
  {
    Hypothesis h{BugClass::strides_memory_race, "the output is the input, unrotated", {}, 0.02, {}, true};
    h.change.write = [](const Spot&) { return Write::copied; };
    all.push_back(std::move(h));
  }
  {
    Hypothesis h{BugClass::strides_memory_race, "the output is all zeros", {}, 0.02, {}, true};
    h.change.rotate = [](const Spot&, Values, Values, Values, Values) { return Values{0, 0}; };
    h.change.pass = [](const Spot&, int, double) { return 0.0; };
    all.push_back(std::move(h));
  }
  {
    Hypothesis h{BugClass::backward,
                 "the gradient is copied unrotated",
                 {},
                 0.01,
                 [](const Call& call) { return call.direction == Direction::backward; },
                 true};
    h.change.write = [](const Spot&) { return Write::copied; };
    all.push_back(std::move(h));
  }
  {
    Hypothesis h{BugClass::partial_passthrough,
                 "the rotary features are copied unrotated",
                 {},
                 0,
                 [](const Call& call) { return call.rotary_dim < call.q.shape[3]; },
                 true};
    h.change.rotate = [](const Spot&, Values x, Values, Values, Values) { return x; };
    all.push_back(std::move(h));
  }
  add_wide_reads(all);
  {
    Hypothesis h{BugClass::special_values, "features whose input is 0 stay 0", {}, 0, {}, false};
    h.change.store = [](const Spot& s, int f, double y) {
      return value_at(s.in(), {s.batch, s.seq, s.head}, f) == 0 ? 0 : y;
    };
    all.push_back(std::move(h));
  }
  add_subnormals(all);
  for (double epsilon : {1e-12, 1e-8, 1e-6, 1e-5}) {
    Hypothesis h{BugClass::special_values, "a small number is added to every result", {}, 0, {}, false};
    h.change.store = [=](const Spot& s, int f, double y) { return f < s.params.rotary_dim ? y + epsilon : y; };
    all.push_back(std::move(h));
  }
}

}  // namespace rope::diagnosis
