#include "tools/judge/case/field_words.hpp"

#include <fmt/format.h>

namespace rope::field_words {

std::string words_of(Layout layout) {
  switch (layout) {
    case Layout::contiguous: break;
    case Layout::shifted: return std::string(unaligned_data);
    case Layout::strided: return "padded strides";
    case Layout::key_strided: return "padded strides of k only";
    case Layout::angles_strided: return "padded strides of positions and tables only";
    case Layout::seq_last:
    case Layout::heads_first: return std::string(heads_before_tokens);
    case Layout::reversed: return "tokens in reverse order in memory, features two apart";
    case Layout::cached: return std::string(gaps_between_batches);
    case Layout::loose_strides: return std::string(loose_strides);
    case Layout::packed: return std::string(q_and_k_in_one_memory);
    case Layout::expanded: return std::string(one_row_for_all);
    case Layout::distant_rows: return "table rows more than 2^31 elements apart";
    case Layout::late_rows: return "long tables";
    case Layout::distant_batches:
    case Layout::distant_tokens:
    case Layout::distant_heads: return "rows more than 2^31 elements apart";
  }
  return "";
}

std::string words_of(OutputLayout layout) {
  switch (layout) {
    case OutputLayout::as_input: break;
    case OutputLayout::contiguous: return "a contiguous output";
    case OutputLayout::key_strided: return "padded strides of k_out only";
    case OutputLayout::shifted: return "an output at an unaligned address";
    case OutputLayout::strided: return "an output with padded strides";
    case OutputLayout::reversed: return "an output with negative strides, features apart";
  }
  return "";
}

std::string words_of(AngleSource source) {
  switch (source) {
    case AngleSource::tables: break;
    case AngleSource::frequencies: return std::string(frequencies_given);
    case AngleSource::computed: return std::string(computed_angles);
  }
  return "";
}

std::string words_of_address(std::string_view what, int address) {
  return fmt::format("{} at {} bytes past a multiple of {}", what, address, address_unit);
}

std::string words_of_calls_before(const Case& c) {
  const std::optional<DType> other = other_dtype_before(c);
  return other ? fmt::format("after an earlier {} call", name(*other)) : "after an earlier call at other positions";
}

}  // namespace rope::field_words
