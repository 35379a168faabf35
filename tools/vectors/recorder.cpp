#include "tools/vectors/recorder.hpp"

#include <cstring>

#include "tools/vectors/exact_answer.hpp"

namespace rope::vectors {
namespace {

NpyArray of_doubles(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  NpyArray array{NpyType::f8, shape, std::vector<std::byte>(values.size() * sizeof(double))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

}  // namespace

void Recorder::begin(const Case& c, Answers answers) {
  case_ = c;
  answers_ = answers;
  calls_.clear();
}

Reply Recorder::apply(Call& call) {
  calls_.push_back(describe(call));
  if (answers_ == Answers::none) return {};
  const ExactAnswer exact = answer_exactly(call, case_, oracles_);
  if (!expected_) return {};
  DescribedCall& described = calls_.back();
  const auto add = [&](const char* name, const std::vector<double>& values, const Tensor& like) {
    described.record.expected.push_back(stored(name, DType::f64, of_doubles(values, like.shape), described.contents));
  };
  add("q_out", exact.q.value, call.q);
  add("q_bound", exact.q.bound, call.q);
  if (call.k) {
    add("k_out", exact.k.value, *call.k);
    add("k_bound", exact.k.bound, *call.k);
  }
  return {};
}

}  // namespace rope::vectors
