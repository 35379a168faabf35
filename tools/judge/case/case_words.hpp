// The words of the enumerators in a case's text. There is one table per enumeration; a field can hold whatever its
// table lists.
#pragma once

#include <span>
#include <string_view>

#include "tools/judge/case/case.hpp"

namespace rope {

template <class Enum>
struct Word {
  Enum value;
  std::string_view word;
};

template <class Enum>
std::span<const Word<Enum>> words_of();

template <>
std::span<const Word<DType>> words_of();
template <>
std::span<const Word<Pairing>> words_of();
template <>
std::span<const Word<AxisLayout::Order>> words_of();
template <>
std::span<const Word<AngleSource>> words_of();
template <>
std::span<const Word<PositionForm>> words_of();
template <>
std::span<const Word<PositionPattern>> words_of();
template <>
std::span<const Word<Direction>> words_of();
template <>
std::span<const Word<Layout>> words_of();
template <>
std::span<const Word<OutputLayout>> words_of();
template <>
std::span<const Word<InputKind>> words_of();
template <>
std::span<const Word<Fault>> words_of();
template <>
std::span<const Word<SanitizerTool>> words_of();

}  // namespace rope
