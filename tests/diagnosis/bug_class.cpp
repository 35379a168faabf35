#include "tests/diagnosis/bug_class.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rope::diagnosis {
namespace {

struct Spoken {
  std::string_view words;
  const char* bug_class;
};
constexpr Spoken spoken[] = {
    {"very large inputs", "special-values"},
    {"subnormal inputs", "special-values"},
    {"zeros for inputs", "special-values"},
    {"inputs of an unusual size", "special-values"},
    {"backward", "backward"},
    {"several axes", "multi-axis"},
    {"axes that alternate", "multi-axis"},
    {"axes in blocks", "multi-axis"},
    {"scaling", "scaling-config"},
    {"linear scaling", "scaling-config"},
    {"ntk scaling", "scaling-config"},
    {"dynamic scaling", "scaling-config"},
    {"yarn scaling", "scaling-config"},
    {"longrope scaling", "scaling-config"},
    {"llama3 scaling", "scaling-config"},
    {"proportional scaling", "scaling-config"},
    {"pixel scaling", "scaling-config"},
    {"constant scaling", "scaling-config"},
    {"an attention factor", "scaling-config"},
    {"in place", "strides-memory-race"},
    {"strides that are not contiguous", "strides-memory-race"},
    {"padded rows", "strides-memory-race"},
    {"rows without gaps that begin between aligned addresses", "strides-memory-race"},
    {"strides of k unlike those of q", "strides-memory-race"},
    {"padded positions and tables", "strides-memory-race"},
    {"negative strides, features apart", "strides-memory-race"},
    {"an output laid out otherwise than the input", "strides-memory-race"},
    {"heads before tokens in memory", "strides-memory-race"},
    {"rotary_dim below head_dim", "partial-passthrough"},
    {"full-width tables", "table-cache"},
    {"half-width tables", "table-cache"},
    {"tables with unequal halves", "table-cache"},
    {"tables of another type than q", "table-cache"},
    {"tables that end with the largest position", "table-cache"},
    {"more rows in the tables than positions need", "table-cache"},
    {"tables given", "table-cache"},
    {"in k", "heads-batch-qk"},
    {"in q", "heads-batch-qk"},
    {"k given", "heads-batch-qk"},
    {"k with fewer heads than q", "heads-batch-qk"},
    {"k with more heads than q", "heads-batch-qk"},
    {"past the first batch", "heads-batch-qk"},
    {"past the first head", "heads-batch-qk"},
    {"several batches", "heads-batch-qk"},
    {"several heads", "heads-batch-qk"},
    {"f16", "precision"},
    {"bf16", "precision"},
    {"f32", "precision"},
    {"f64", "precision"},
    {"16-bit tensors", "precision"},
    {"positions for each batch", "position-offset"},
    {"given positions", "position-offset"},
    {"positions from an offset", "position-offset"},
};

}  // namespace

std::string class_of_condition(const std::vector<Literal>& condition) {
  for (const Spoken& s : spoken) {
    for (const Literal& l : condition) {
      if (l.words == s.words) return s.bug_class;
    }
  }
  for (const Literal& l : condition) {
    // No kernel handles so many by one loop: the number is that of a grid or a block.
    const bool index = l.words.starts_with("token ") || l.words.starts_with("head ") || l.words.starts_with("batch ");
    if (l.counted && index && l.limit >= 1000) return "launch-limits";
    if (l.counted && l.words.starts_with("head_dim") && l.limit >= 1000) return "launch-limits";
    if (l.counted && l.words.starts_with("number of heads")) return "heads-batch-qk";
    if (l.counted && l.words.starts_with("head ")) return "heads-batch-qk";
  }
  return "";
}

std::string words_of(const std::vector<Literal>& condition) {
  std::string text;
  for (const Literal& l : condition) text += (text.empty() ? "only " : ", ") + l.words;
  return text;
}

bool is_of_large_positions(const Weighed& cause) {
  // No table is so long, no rule begins there and no counter ends there but those of 2^31: the angles are what is left.
  constexpr std::int64_t large = 1 << 20;
  return std::any_of(cause.condition.begin(), cause.condition.end(), [](const Literal& l) {
    return l.counted && l.words.starts_with("position ") && l.words.ends_with("or more") && l.limit >= large;
  });
}

std::string class_of(const Weighed& cause) {
  const Hypothesis& h = *cause.hypothesis;
  if (is_of_large_positions(cause)) return "precision";
  const std::string spoken_for = class_of_condition(cause.condition);
  // One size alone that is not rotated is a specialisation that is empty: sizes and types are chosen together
  // (PREC-11).
  const bool one_size = std::any_of(cause.condition.begin(), cause.condition.end(), [](const Literal& l) {
    return l.words == fmt::format("head_dim {}", l.limit) && l.counted && l.limit < 1000;
  });
  if (h.unrotated && one_size && spoken_for.empty()) return "precision";
  const auto only = [&](std::string_view words) {
    return std::any_of(cause.condition.begin(), cause.condition.end(),
                       [&](const Literal& l) { return l.words == words; });
  };
  if (h.short_table && (only("computed angles") || only("frequencies given") || only("no tables given"))) {
    return "table-cache";
  }
  // What is left out from a power of two on, or of calls that have many of something, is what a launch did not reach.
  const bool of_a_launch = std::any_of(cause.condition.begin(), cause.condition.end(), [](const Literal& l) {
    const bool index = l.words.starts_with("token ") || l.words.starts_with("head ") || l.words.starts_with("batch ");
    const bool many = l.words.starts_with("number of ") && !l.words.ends_with("or less") && l.limit > 8;
    const bool from_a_power = index && l.limit >= 8 && (l.limit & (l.limit - 1)) == 0 && l.words.ends_with("or more");
    return l.counted && (many || from_a_power);
  });
  if (spoken_for.empty()) return h.unrotated && of_a_launch ? "launch-limits" : h.bug_class;
  // One step too many is one for a tensor. Rows of it that were read again after they had been written are not.
  if (h.turns_again && only("in place") && !only("in q") && !only("in k")) return "strides-memory-race";
  // The pass that is wrong is the bug, whatever else the pass gets wrong.
  if (only("backward")) return "backward";
  if (spoken_for == "special-values") return spoken_for;
  // That nothing is rotated says nothing; when it happens says all. k that stays as it was is memory not written.
  if (h.unrotated && of_a_launch) return "launch-limits";
  const bool of_a_batch = only("past the first batch") || only("several batches");
  if (h.unrotated && of_a_batch && only("positions for each batch")) return "varlen-packing-cp";
  if (h.unrotated) {
    const bool some_heads = only("past the first head") || only("k with more heads than q") ||
                            only("k with fewer heads than q") || only("several heads");
    return only("in k") && !some_heads ? h.bug_class : spoken_for;
  }
  const bool vague = h.bug_class == "position-offset" || h.bug_class == "table-cache" || h.change.position;
  if (vague && (spoken_for == "scaling-config" || spoken_for == "multi-axis")) return spoken_for;
  if (h.bug_class == "scaling-config" && spoken_for == "table-cache" && h.change.params) return spoken_for;
  if (h.bug_class == "pipeline" && spoken_for == "scaling-config") return spoken_for;
  return h.bug_class;
}

}  // namespace rope::diagnosis
