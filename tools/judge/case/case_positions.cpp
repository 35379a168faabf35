#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "tools/judge/case/case.hpp"

namespace rope {
namespace {

// Every order of magnitude up to `limit` is equally likely, so that large positions do not drown small ones.
std::int64_t scattered(std::uint64_t word, std::int64_t limit) {
  int bits = 0;
  while (bits < 62 && (std::int64_t{1} << bits) <= limit) ++bits;
  const auto width = static_cast<int>(word % static_cast<std::uint64_t>(bits + 1));
  const std::uint64_t value = (word >> 8) & ((std::uint64_t{1} << width) - 1);
  return std::min(static_cast<std::int64_t>(value), limit);
}

// The first token and the last keep their places. So a kernel that looks only at these two takes the others to be
// consecutive.
std::int64_t exchanged(int token, int tokens) {
  const int partner = ((token - 1) ^ 1) + 1;
  return token > 0 && token < tokens - 1 && partner < tokens - 1 ? partner : token;
}

// A token's index in its sequence, for two sequences in one row. The border differs from batch to batch.
std::int64_t in_second_sequence(int token, int tokens, int row) {
  const int border = 1 + (tokens / 2 + row) % std::max(tokens - 1, 1);
  return token < border ? token : token - border;
}

// Axis 0 stands still in the image, and the others count its rows and columns. So any two of three axes are alike at
// some token at which the third is not.
std::int64_t around_an_image(int token, int tokens, int axis) {
  constexpr int patches = 4, side = 2;
  const int before = (tokens + 3) / 4, patch = token - before;
  if (patch < 0) return token;
  if (patch >= patches) return before + side + patch - patches;
  return before + (axis == 0 ? 0 : axis == 1 ? patch / side : patch % side);
}

// Whether each batch starts elsewhere. The other patterns define themselves how batches differ.
bool walks_with_batches(PositionPattern pattern) {
  switch (pattern) {
    case PositionPattern::consecutive:
    case PositionPattern::repeated:
    case PositionPattern::descending:
    case PositionPattern::exchanged:
    case PositionPattern::first_in_order:
    case PositionPattern::in_step:
    case PositionPattern::image: return true;
    case PositionPattern::last_apart:
    case PositionPattern::restarting:
    case PositionPattern::left_padded:
    case PositionPattern::recurring:
    case PositionPattern::scattered: return false;
  }
  return false;
}

// Whether the pattern defines how axes differ.
bool has_axes_of_its_own(PositionPattern pattern) {
  return pattern == PositionPattern::scattered || pattern == PositionPattern::in_step ||
         pattern == PositionPattern::image;
}

// Positions that are counted within sequences.
std::vector<std::int64_t> counted(const Case& c) {
  const std::vector<std::int64_t> starts = sequence_starts(c);
  const std::vector<std::int64_t> borders = is_packed(c.form) ? packed_borders(c) : std::vector<std::int64_t>{};
  std::vector<std::int64_t> of_axis;
  for (int b = 0; b < c.batch; ++b) {
    std::size_t sequence = is_packed(c.form) ? 0 : static_cast<std::size_t>(b);
    for (int s = 0; s < c.seq; ++s) {
      while (is_packed(c.form) && borders[sequence + 1] <= s) ++sequence;
      of_axis.push_back(starts[sequence] + s - (is_packed(c.form) ? borders[sequence] : 0));
    }
  }
  std::vector<std::int64_t> result;
  for (int a = 0; a < c.spec.axes.count(); ++a) result.insert(result.end(), of_axis.begin(), of_axis.end());
  return result;
}

}  // namespace

std::vector<std::int64_t> sequence_starts(const Case& c) {
  const int sequences = is_packed(c.form) ? c.sequences : c.batch;
  std::vector<std::int64_t> starts;
  for (int i = 0; i < sequences; ++i) {
    // Neighbours are exchanged, so that no two starts are as far apart as two tokens, and they do not only rise.
    const int exchanged_place = (i ^ 1) < sequences ? i ^ 1 : i;
    const int place = c.pattern == PositionPattern::recurring ? i % 2 : exchanged_place;
    starts.push_back(c.start + (gives_starts(c.form) ? 13 * place : 0));
  }
  return starts;
}

std::vector<std::int64_t> packed_borders(const Case& c) {
  const std::int64_t n = c.sequences >= 4 ? c.sequences - 1 : c.sequences;
  std::vector<std::int64_t> borders;
  for (std::int64_t i = 0; i <= n; ++i) borders.push_back(c.seq * i * (i + 1) / (n * (n + 1)));
  if (n < c.sequences) borders.push_back(c.seq);
  if (c.sequences >= 5) borders[2] = borders[1];  // a longer sequence follows the empty one
  return borders;
}

std::vector<std::int64_t> positions(const Case& c) {
  if (gives_starts(c.form) || is_packed(c.form)) return counted(c);
  std::vector<std::int64_t> result;
  // The standard fixes the numbers of this generator, so a case has the same positions everywhere.
  const std::int64_t batches = c.batch;
  std::vector<std::uint64_t> words;
  if (c.pattern == PositionPattern::scattered) {
    words.resize(static_cast<std::size_t>(c.spec.axes.count() * batches * c.seq));
    std::mt19937_64 random(c.seed);
    for (std::uint64_t& word : words) word = random();
  }
  const bool axes_differ = gives_positions(c.form);
  for (int a = 0; a < c.spec.axes.count(); ++a) {
    for (int b = 0; b < c.batch; ++b) {
      for (int s = 0; s < c.seq; ++s) {
        const int row = c.form == PositionForm::per_batch ? b : 0;
        const auto index = static_cast<std::size_t>((a * batches + row) * c.seq + s);
        std::int64_t m = 0;
        switch (c.pattern) {
          case PositionPattern::consecutive:
          case PositionPattern::in_step: m = c.start + s; break;
          case PositionPattern::repeated: m = c.start + s / 3; break;
          case PositionPattern::descending: m = c.start + c.seq - 1 - s; break;
          case PositionPattern::exchanged: m = c.start + exchanged(s, c.seq); break;
          case PositionPattern::first_in_order: m = c.start + (row == 0 ? s : exchanged(s, c.seq)); break;
          case PositionPattern::last_apart: {
            const bool is_last = s == c.seq - 1 && (c.form != PositionForm::per_batch || row == c.batch - 1);
            m = c.start + s + (is_last ? 4 : 0);
            break;
          }
          case PositionPattern::restarting: m = c.start + in_second_sequence(s, c.seq, row); break;
          case PositionPattern::left_padded: m = c.start + std::max(0, s - 1 - row % 3); break;
          case PositionPattern::recurring: m = c.start + s + 13 * (row % 2); break;
          case PositionPattern::image: m = c.start + around_an_image(s, c.seq, a); break;
          case PositionPattern::scattered: m = scattered(words[index], c.start); break;
        }
        // If batches and axes walked in step, a kernel that confuses the two would pass.
        if (walks_with_batches(c.pattern)) m += 13 * row;
        if (!has_axes_of_its_own(c.pattern) && axes_differ) m += (5 + s % 3) * a;
        result.push_back(m);
      }
    }
  }
  return result;
}

namespace {

// The first and the last position where tokens count up or down, as in calls with many tokens: both are asked for often.
std::optional<std::pair<std::int64_t, std::int64_t>> counted_range(const Case& c) {
  if (c.seq < 1 || c.batch < 1) return std::nullopt;
  const bool rises = c.pattern == PositionPattern::consecutive;
  const bool is_one_row = c.batch == 1 && c.sequences == 1 && c.spec.axes.count() == 1;
  const bool is_counted = is_one_row && (rises || c.pattern == PositionPattern::descending);
  if (!is_counted && !(rises && c.form == PositionForm::offset)) return std::nullopt;
  return std::pair(c.start, c.start + c.seq - 1);
}

}  // namespace

std::int64_t largest_position(const Case& c) {
  if (const auto range = counted_range(c)) return range->second;
  const std::vector<std::int64_t> all = positions(c);
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

std::int64_t smallest_position(const Case& c) {
  if (const auto range = counted_range(c)) return range->first;
  const std::vector<std::int64_t> all = positions(c);
  return all.empty() ? 0 : *std::min_element(all.begin(), all.end());
}

std::int64_t sequence_length(const Case& c) {
  return c.sequence_length != 0 ? c.sequence_length : largest_position(c) + 1;
}

}  // namespace rope
