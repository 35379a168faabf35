#include "tests/kernels/mutants/guard.hpp"

#include <algorithm>
#include <array>

#include "impls/position.hpp"
#include "reference/dtype.hpp"

namespace rope::mutants {
namespace {

constexpr std::array<const char*, 29> words{"backward",
                                            "in place",
                                            "k",
                                            "q",
                                            "tables",
                                            "interleaved",
                                            "half_split",
                                            "partial",
                                            "given positions",
                                            "positions of each batch",
                                            "counted positions",
                                            "q contiguous",
                                            "q_out contiguous",
                                            "head stride 0",
                                            "out of place",
                                            "dtype",
                                            "head_dim",
                                            "batches",
                                            "tokens",
                                            "heads",
                                            "scaling rule",
                                            "largest position",
                                            "batch",
                                            "token",
                                            "head",
                                            "row",
                                            "pair",
                                            "pass-through feature",
                                            "feature"};
static_assert(words.size() == static_cast<std::size_t>(Of::feature) + 1);

bool is_dense(const rope_tensor& tensor) {
  std::int64_t packed = 1;
  for (int i = 3; i >= 0; --i) {
    if (tensor.shape[i] > 1 && tensor.strides[i] != packed) return false;
    packed *= tensor.shape[i];
  }
  return true;
}

std::int64_t largest_position(const rope_call& call) {
  const int axes = call.positions.data == nullptr ? 1 : call.positions.axes;
  std::int64_t largest = 0;
  for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
      for (int axis = 0; axis < axes; ++axis) largest = std::max(largest, position_of(call, axis, b, s));
    }
  }
  return largest;
}

std::int64_t value_of(Of of, const Place& at, int feature) {
  const rope_call& call = at.call;
  const auto& shape = at.in().shape;
  switch (of) {
    case Of::backward: return call.direction == ROPE_BACKWARD ? 1 : 0;
    case Of::in_place: return at.in_place() ? 1 : 0;
    case Of::key: return at.key ? 1 : 0;
    case Of::query: return at.key ? 0 : 1;
    case Of::tables: return call.angle_source == ROPE_TABLES ? 1 : 0;
    case Of::interleaved: return call.pairing == ROPE_INTERLEAVED ? 1 : 0;
    case Of::half_split: return call.pairing == ROPE_HALF_SPLIT ? 1 : 0;
    case Of::partial: return call.rotary_dim < shape[3] ? 1 : 0;
    case Of::given: return call.positions.data != nullptr ? 1 : 0;
    case Of::own_positions: return call.positions.data != nullptr && call.positions.batch_stride != 0 ? 1 : 0;
    case Of::counted: return call.positions.data == nullptr ? 1 : 0;
    case Of::dense_query: return is_dense(call.q) ? 1 : 0;
    case Of::dense_query_out: return is_dense(call.q_out) ? 1 : 0;
    case Of::out_of_place: return at.in_place() ? 0 : 1;
    case Of::expanded: return shape[2] > 1 && at.in().strides[2] == 0 ? 1 : 0;
    case Of::dtype: return at.in().dtype;
    case Of::head_dim: return shape[3];
    case Of::batches: return shape[0];
    case Of::tokens: return shape[1];
    case Of::heads: return shape[2];
    case Of::rule: return call.angle_source == ROPE_COMPUTED ? call.scaling.kind : ROPE_SCALING_NONE;
    case Of::largest_position: return largest_position(call);
    case Of::batch: return at.batch;
    case Of::token: return at.seq;
    case Of::head: return at.head;
    case Of::row: return (at.batch * shape[1] + at.seq) * shape[2] + at.head;
    case Of::pair: return call.pairing == ROPE_INTERLEAVED ? feature / 2 : feature % std::max(call.rotary_dim / 2, 1);
    case Of::passed: return feature - call.rotary_dim;
    case Of::feature: return feature;
  }
  return 0;
}

std::int64_t count_of(Of of, const Place& at) {
  const auto& shape = at.in().shape;
  switch (of) {
    case Of::batch: return shape[0];
    case Of::token: return shape[1];
    case Of::head: return shape[2];
    case Of::row: return shape[0] * shape[1] * shape[2];
    case Of::pair: return at.call.rotary_dim / 2;
    case Of::passed: return shape[3] - at.call.rotary_dim;
    default: return shape[3];
  }
}

bool holds(const Literal& literal, const Place& at, int feature) {
  const std::int64_t value = value_of(literal.of, at, feature);
  switch (literal.is) {
    case Literal::Is::equal: return value == literal.n;
    case Literal::Is::at_least: return value >= literal.n;
    case Literal::Is::at_most: return value <= literal.n;
    case Literal::Is::left_over: return value >= count_of(literal.of, at) / literal.n * literal.n;
    case Literal::Is::last: return value + 1 == count_of(literal.of, at);
  }
  return false;
}

bool is_of_call(const Literal& literal) {
  return literal.of < Of::batch && literal.of != Of::key && literal.of != Of::query;
}

std::string words_of(const Literal& literal) {
  const std::string what = words[static_cast<std::size_t>(literal.of)], n = std::to_string(literal.n);
  if (literal.of == Of::dtype) {
    return std::string(name(static_cast<DType>(literal.n))) + (literal.is == Literal::Is::equal ? "" : " or bf16");
  }
  switch (literal.is) {
    case Literal::Is::equal: return literal.of < Of::dtype ? what : what + " " + n;
    case Literal::Is::at_least: return what + " " + n + " or more";
    case Literal::Is::at_most: return what + " " + n + " or less";
    case Literal::Is::left_over: return what + " left over from blocks of " + n;
    case Literal::Is::last: return "the last " + what;
  }
  return what;
}

}  // namespace

bool holds(const Guard& guard, const Place& at, int feature) {
  return std::all_of(guard.begin(), guard.end(), [&](const Literal& each) { return holds(each, at, feature); });
}

bool holds(const Guard& guard, const rope_call& call) {
  const Place any{call, false, 0, 0, 0};
  return std::all_of(guard.begin(), guard.end(),
                     [&](const Literal& each) { return is_of_call(each) && holds(each, any, 0); });
}

std::string words_of(const Guard& guard) {
  std::string all;
  for (const Literal& literal : guard) all += (all.empty() ? "only " : ", ") + words_of(literal);
  return all;
}

}  // namespace rope::mutants
