#include "golden/manifest_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "golden/json_fields.hpp"

namespace rope {
namespace {

using json_fields::fail;

using Shape = std::vector<std::int64_t>;

// The tokens of k and v: q's, or the array k_positions has their number.
std::int64_t keys_of(const GoldenCase& golden) {
  const GoldenArray* positions = golden.find("k_positions");
  const GoldenArray& q = *golden.find("q");
  if (positions == nullptr || positions->shape.size() != 3) return q.shape[static_cast<std::size_t>(golden.axis_of[1])];
  return positions->shape[2];
}

// Attention arrays name their axes in their own words.
void check_attention_shape(const GoldenCase& golden, const GoldenArray& array, const std::string& path) {
  const GoldenArray& q = *golden.find("q");
  const std::vector<std::pair<std::string_view, int>> axes{
      {"batch", 0}, {"query", 1}, {"key", 1}, {"heads", 2}, {"head_dim", 3}};
  Shape expected;
  for (std::size_t from = 0; from < array.axes.size();) {
    const std::size_t to = std::min(array.axes.find(", ", from), array.axes.size());
    const std::string_view word = std::string_view(array.axes).substr(from, to - from);
    const auto found = std::find_if(axes.begin(), axes.end(), [&](const auto& axis) { return axis.first == word; });
    if (found == axes.end()) {
      fail(path, fmt::format("array {}: axis \"{}\"; expected batch, query, key, heads or head_dim", array.name, word));
    }
    expected.push_back(word == "key"
                           ? keys_of(golden)
                           : q.shape[static_cast<std::size_t>(golden.axis_of[static_cast<std::size_t>(found->second)])]);
    from = to + 2;
  }
  if (array.shape != expected) {
    fail(path, fmt::format("array {}: shape {}; its axes \"{}\" make it {}", array.name, shape_text(array.shape),
                           array.axes, shape_text(expected)));
  }
}

void check_shapes(const GoldenCase& golden, const std::string& path) {
  const auto demand = [&](const GoldenArray& array, bool holds, const std::string& expected) {
    if (!holds)
      fail(path, fmt::format("array {}: shape {}; expected {}", array.name, shape_text(array.shape), expected));
  };
  const auto extent = [&](const GoldenArray& array, int axis) {
    return array.shape[static_cast<std::size_t>(golden.axis_of[static_cast<std::size_t>(axis)])];
  };
  const std::int64_t pairs = golden.spec.rotary_dim / 2;
  if (const GoldenArray* theta = golden.find("theta")) {
    demand(*theta, theta->shape == Shape{pairs}, fmt::format("({}), one frequency a pair", pairs));
  }
  const GoldenArray* q = golden.find("q");
  if (q == nullptr) return;
  demand(*q, q->shape.size() == 4 && extent(*q, 3) == golden.spec.head_dim,
         fmt::format("four axes with head_dim {}", golden.spec.head_dim));
  const std::int64_t batch = extent(*q, 0), seq = extent(*q, 1);
  for (const GoldenArray& array : golden.arrays) {
    const std::string input = array.name.substr(0, array.name.find('_'));
    const std::int64_t tokens = input == "k" || input == "v" ? keys_of(golden) : seq;
    switch (array.role) {
      case GoldenRole::input:
        demand(array,
               array.shape.size() == 4 && extent(array, 0) == batch && extent(array, 1) == tokens &&
                   extent(array, 3) == golden.spec.head_dim,
               "the shape of q, but for the heads and the tokens of k_positions");
        break;
      case GoldenRole::position:
        demand(array,
               array.shape.size() == 3 && array.shape[0] == golden.spec.axes.count() &&
                   (array.shape[1] == 1 || array.shape[1] == batch) && array.shape[2] == tokens,
               "(axes, batch or 1, seq)");
        break;
      case GoldenRole::table:
        demand(array,
               array.shape.size() == 3 && (array.shape[0] == 1 || array.shape[0] == batch) && array.shape[1] == tokens &&
                   (array.shape[2] == pairs || array.shape[2] == 2 * pairs),
               "(batch or 1, seq, rotary_dim or half of it)");
        break;
      case GoldenRole::output:
        demand(array, golden.find(input) != nullptr && array.shape == golden.find(input)->shape, "the shape of its input");
        break;
      case GoldenRole::mask:
      case GoldenRole::score:
      case GoldenRole::weight:
      case GoldenRole::attended: check_attention_shape(golden, array, path); break;
      case GoldenRole::frequencies: break;
    }
  }
}

// A computed case has every layer; a printed case has what was printed.
void check_layers(const GoldenCase& golden, const std::string& path) {
  if (golden.rounding == GoldenRounding::printed) return;
  for (const char* needed : {"q", "positions", "theta", "cos", "sin", "q_out"}) {
    if (golden.find(needed) == nullptr) fail(path, fmt::format("array {} is missing", needed));
  }
  if (golden.find("k") != nullptr && golden.find("k_out") == nullptr) fail(path, "array k_out is missing, k is there");
  if (!golden.c || !golden.output_dtype) fail(path, "\"c\" and \"output_dtype\" are needed where outputs are computed");
}

bool is_beyond(const GoldenCase& golden, BeyondContract what) {
  return std::find(golden.beyond_contract.begin(), golden.beyond_contract.end(), what) != golden.beyond_contract.end();
}

// Checks a case's arrays against the case's fields.
void check_promises(const GoldenCase& golden, const std::string& path) {
  if (is_beyond(golden, BeyondContract::magnitude) != golden.spec.xpos.has_value()) {
    fail(path, "beyond_contract has \"magnitude\" where the spec has xpos, and only there");
  }
  if (golden.spec.xpos && golden.find("q_scale") == nullptr) fail(path, "array q_scale is missing, the spec has xpos");
  if (is_beyond(golden, BeyondContract::key_positions) != (golden.find("k_positions") != nullptr)) {
    fail(path, "beyond_contract has \"key-positions\" where the array k_positions is there, and only there");
  }
  if (golden.find("k_positions") != nullptr) {
    for (const char* needed : {"k", "k_cos", "k_sin"}) {
      if (golden.find(needed) == nullptr) fail(path, fmt::format("array {} is missing, k_positions is there", needed));
    }
  }
  const bool fractional = is_beyond(golden, BeyondContract::fractional_positions);
  for (const GoldenArray& array : golden.arrays) {
    if (array.role == GoldenRole::position && is_floating(array.dtype) != fractional) {
      fail(path, fmt::format("array {}: dtype {}; i64, or a floating type where beyond_contract has "
                             "\"fractional-positions\"",
                             array.name, rope::name(array.dtype)));
    }
  }
  if (golden.instead && golden.instead->rule == GoldenRule::other_positions &&
      golden.find("positions_used") == nullptr) {
    fail(path, "array positions_used is missing, instead.rule is \"other_positions\"");
  }
  if (golden.find("weights") != nullptr) {
    for (const char* needed : {"scores", "v", "attended"}) {
      if (golden.find(needed) == nullptr) fail(path, fmt::format("array {} is missing, weights is there", needed));
    }
  }
}

}  // namespace

void check_agreement(const GoldenCase& golden, const std::string& path) {
  check_layers(golden, path);
  check_promises(golden, path);
  check_shapes(golden, path);
}

}  // namespace rope
