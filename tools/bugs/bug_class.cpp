#include "tools/bugs/bug_class.hpp"

#include <array>

namespace rope {
namespace {

constexpr std::array<BugClassWord, static_cast<std::size_t>(BugClass::count)> words{{
    {BugClass::frequency_base, "frequency-base"},
    {BugClass::position_offset, "position-offset"},
    {BugClass::pairing_layout, "pairing-layout"},
    {BugClass::sign_direction, "sign-direction"},
    {BugClass::partial_passthrough, "partial-passthrough"},
    {BugClass::scaling_config, "scaling-config"},
    {BugClass::precision, "precision"},
    {BugClass::table_cache, "table-cache"},
    {BugClass::heads_batch_qk, "heads-batch-qk"},
    {BugClass::strides_memory_race, "strides-memory-race"},
    {BugClass::launch_limits, "launch-limits"},
    {BugClass::special_values, "special-values"},
    {BugClass::bad_arguments, "bad-arguments"},
    {BugClass::backward, "backward"},
    {BugClass::multi_axis, "multi-axis"},
    {BugClass::varlen_packing_cp, "varlen-packing-cp"},
    {BugClass::pipeline, "pipeline"},
    {BugClass::exception, "exception"},
    {BugClass::phase, "phase"},
}};

constexpr bool is_complete() {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].bug_class != static_cast<BugClass>(i) || words[i].word.empty()) return false;
  }
  return true;
}
static_assert(is_complete(), "every class has its row, in the order of the enumerators");

}  // namespace

std::span<const BugClassWord> bug_class_words() { return words; }

std::string_view word_of(BugClass bug_class) { return words[static_cast<std::size_t>(bug_class)].word; }

}  // namespace rope
