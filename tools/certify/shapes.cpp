#include "tools/certify/shapes.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "reference/input_error.hpp"

#include "tools/certify/ways.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::certify {
namespace {

constexpr int shape_head_dim = 64;
constexpr int largest_head_dim = 512;

// head_dim and rotary_dim of the n-th element: (2, 2), (4, 2), (4, 4), (6, 2), ..
std::array<int, 2> dims_at(std::int64_t n) {
  int pairs = 1;
  for (; n >= pairs; ++pairs) n -= pairs;
  return {2 * pairs, 2 * static_cast<int>(n) + 2};
}

void set_dims(Case& c, std::int64_t n) {
  const auto [head_dim, rotary_dim] = dims_at(n);
  c.spec.head_dim = head_dim;
  c.spec.rotary_dim = rotary_dim;
}

void set_head_dim(Case& c, std::int64_t n) { c.spec.head_dim = c.spec.rotary_dim = static_cast<int>(2 * n + 2); }
void set_seq(Case& c, std::int64_t n) { c.seq = static_cast<int>(n + 1); }
void set_heads(Case& c, std::int64_t n) { c.heads = static_cast<int>(n + 1); }
void set_batch(Case& c, std::int64_t n) { c.batch = static_cast<int>(n + 1); }

// Without cached and loose_strides, which MEM-03 asks for: with them, each certificate made so far would be of another
// plan.
constexpr Layout input_layouts[] = {Layout::contiguous,      Layout::shifted,         Layout::strided,
                              Layout::key_strided,     Layout::angles_strided,  Layout::seq_last,
                              Layout::reversed,        Layout::expanded,        Layout::packed,
                              Layout::distant_batches, Layout::distant_tokens,  Layout::distant_heads,
                              Layout::distant_rows};
constexpr OutputLayout output_layouts[] = {OutputLayout::as_input,    OutputLayout::contiguous, OutputLayout::strided,
                                    OutputLayout::key_strided, OutputLayout::shifted,    OutputLayout::reversed};

// Layout x layout of the output x in place x with k.
void set_layout(Case& c, std::int64_t n) {
  c.in_place = n % 2 == 1;
  n /= 2;
  if (n % 2 == 1) c.key_heads = c.heads;
  n /= 2;
  c.output = output_layouts[n % std::ssize(output_layouts)];
  c.layout = input_layouts[n / std::ssize(output_layouts)];
  c.batch = 2;
}

struct Line {
  const char* over;
  std::int64_t size;
  bool for_every_way;  // else only for one way of each dtype
  void (*set)(Case& c, std::int64_t n);
};

constexpr std::int64_t dims = largest_head_dim / 2;
constexpr Line lines[] = {
    {"head_dim", dims, true, set_head_dim},
    {"head_dim and rotary_dim", dims * (dims + 1) / 2, false, set_dims},
    {"seq", 1100, true, set_seq},
    {"heads", 130, true, set_heads},
    {"batch", 40, true, set_batch},
    {"layout", 4 * std::ssize(output_layouts) * std::ssize(input_layouts), true, set_layout},
};

const Line& line_over(const std::string& over) {
  const auto found = std::ranges::find(lines, over, [](const Line& line) { return std::string(line.over); });
  if (found == std::end(lines)) throw InputError("a sweep over shapes cannot be over " + over);
  return *found;
}

// Whether an earlier way has the same dtype: one way of each is enough for the long lines.
bool is_first_of_dtype(const std::vector<Case>& all, std::size_t i) {
  return std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const Case& other) { return other.dtype == all[i].dtype; });
}

}  // namespace

// A way without a rule: rules change angles, which have a sweep of their own.
void propose_shapes(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps) {
  std::vector<Case> all = ways(request, selection, shape_head_dim);
  if (!selection.spec) {
    std::erase_if(all, [](const Case& c) { return kind_of(c.spec.scaling) != scaling::None::kind; });
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Line& line : lines) {
      const bool changes_dims = line.set == set_dims || line.set == set_head_dim;
      if (!(line.for_every_way || is_first_of_dtype(all, i)) || (selection.spec && changes_dims)) continue;
      Sweep sweep{"shapes", line.over, all[i], line.size, 0};
      sweep.base.seq = 3;
      sweep.base.heads = 2;
      sweep.base.start = 0;
      sweep.block = std::max<std::int64_t>(16, line.size / 64);
      if (has_any(sweep, request.claims)) sweeps.push_back(sweep);
    }
  }
}

std::vector<Part> shape_parts(const Sweep& sweep, Range range) {
  const Line& line = line_over(sweep.over);
  std::vector<Part> parts;
  for (std::int64_t n = range.first; n < range.first + range.count; ++n) {
    Part& part = parts.emplace_back(Part{sweep.base, 1});
    line.set(part.c, n);
  }
  return parts;
}

}  // namespace rope::certify
