#include "tools/judge/case/case_words.hpp"

#include <array>
#include <vector>

#include "reference/axis_orders.hpp"

namespace rope {
namespace {

constexpr Word<PositionForm> forms[] = {
    {PositionForm::offset, "offset"},
    {PositionForm::shared, "shared"},
    {PositionForm::per_batch, "per_batch"},
    {PositionForm::seqlen_offsets, "seqlen_offsets"},
    {PositionForm::cu_seqlens, "cu_seqlens"},
    {PositionForm::cu_seqlens_and_offsets, "cu_seqlens_and_offsets"}};

constexpr Word<PositionPattern> patterns[] = {
    {PositionPattern::consecutive, "consecutive"},       {PositionPattern::repeated, "repeated"},
    {PositionPattern::descending, "descending"},         {PositionPattern::exchanged, "exchanged"},
    {PositionPattern::first_in_order, "first_in_order"}, {PositionPattern::last_apart, "last_apart"},
    {PositionPattern::restarting, "restarting"},         {PositionPattern::left_padded, "left_padded"},
    {PositionPattern::recurring, "recurring"},           {PositionPattern::in_step, "in_step"},
    {PositionPattern::image, "image"},                   {PositionPattern::scattered, "scattered"},
};

constexpr Word<Layout> layouts[] = {
    {Layout::contiguous, "contiguous"},
    {Layout::shifted, "shifted"},
    {Layout::strided, "strided"},
    {Layout::key_strided, "key_strided"},
    {Layout::angles_strided, "angles_strided"},
    {Layout::seq_last, "seq_last"},
    {Layout::heads_first, "heads_first"},
    {Layout::reversed, "reversed"},
    {Layout::expanded, "expanded"},
    {Layout::cached, "cached"},
    {Layout::loose_strides, "loose_strides"},
    {Layout::packed, "packed"},
    {Layout::distant_batches, "distant_batches"},
    {Layout::distant_tokens, "distant_tokens"},
    {Layout::distant_heads, "distant_heads"},
    {Layout::distant_rows, "distant_rows"},
    {Layout::late_rows, "late_rows"},
};

constexpr Word<OutputLayout> output_layouts[] = {
    {OutputLayout::as_input, "as_input"}, {OutputLayout::contiguous, "contiguous"},
    {OutputLayout::strided, "strided"},   {OutputLayout::key_strided, "key_strided"},
    {OutputLayout::shifted, "shifted"},   {OutputLayout::reversed, "reversed"},
};

constexpr Word<InputKind> inputs[] = {
    {InputKind::spread, "spread"},
    {InputKind::unit, "unit"},
    {InputKind::lonely, "lonely"},
    {InputKind::constant, "constant"},
    {InputKind::repeated, "repeated"},
    {InputKind::huge, "huge"},
    {InputKind::subnormal, "subnormal"},
    {InputKind::zero, "zero"},
    {InputKind::counted_first, "counted_first"},
    {InputKind::counted_second, "counted_second"},
    {InputKind::products_first, "products_first"},
    {InputKind::products_second, "products_second"},
};

// For enumerations that have their own names.
template <class Enum, std::size_t n>
std::array<Word<Enum>, n> named(const Enum (&values)[n]) {
  std::array<Word<Enum>, n> words;
  for (std::size_t i = 0; i < n; ++i) words[i] = {values[i], name(values[i])};
  return words;
}

}  // namespace

template <>
std::span<const Word<DType>> words_of() {
  static const auto words = named({DType::f64, DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64});
  return words;
}

template <>
std::span<const Word<Pairing>> words_of() {
  static const auto words = named({Pairing::half_split, Pairing::interleaved});
  return words;
}

template <>
std::span<const Word<AxisLayout::Order>> words_of() {
  static const auto words = [] {
    std::vector<Word<AxisLayout::Order>> found;
    for (const AxisOrder& each : axis_orders()) found.push_back({each.order, each.word});
    return found;
  }();
  return words;
}

template <>
std::span<const Word<AngleSource>> words_of() {
  static const auto words = named({AngleSource::tables, AngleSource::frequencies, AngleSource::computed});
  return words;
}

template <>
std::span<const Word<PositionForm>> words_of() {
  return forms;
}

template <>
std::span<const Word<PositionPattern>> words_of() {
  return patterns;
}

template <>
std::span<const Word<Direction>> words_of() {
  static const auto words = named({Direction::forward, Direction::backward});
  return words;
}

template <>
std::span<const Word<Layout>> words_of() {
  return layouts;
}

template <>
std::span<const Word<OutputLayout>> words_of() {
  return output_layouts;
}

template <>
std::span<const Word<InputKind>> words_of() {
  return inputs;
}

template <>
std::span<const Word<Fault>> words_of() {
  static const std::vector<Word<Fault>> words = [] {
    std::vector<Word<Fault>> all;
    for (const FaultRow& known : fault_rows()) all.push_back({known.fault, known.word});
    return all;
  }();
  return words;
}

template <>
std::span<const Word<SanitizerTool>> words_of() {
  static const std::vector<Word<SanitizerTool>> words = [] {
    std::vector<Word<SanitizerTool>> all{{SanitizerTool::none, name(SanitizerTool::none)}};
    for (const SanitizerTool tool : sanitizer_tools) all.push_back({tool, name(tool)});
    return all;
  }();
  return words;
}

}  // namespace rope
