// The judge: compares every element of a call's outputs with the exact value and the bound.
#pragma once

#include "tools/judge/verdict/expectation.hpp"
#include "tools/judge/verdict/finding.hpp"
#include "tools/judge/verdict/use_histogram.hpp"

namespace rope {

// `input` is the tensor before the call, `output` the kernel's result. `histogram`, if not null, gets the error of each
// pair.
Finding judge_tensor(const std::string& tensor_name, const Tensor& input, const Tensor& output,
                     Expectation& expectation, UseHistogram* histogram = nullptr);

// Both tensors of a call. q and k are the inputs before the call.
Finding judge_call(const Call& after, const Tensor& q, const std::optional<Tensor>& k, Expectation& expectation,
                   UseHistogram* histogram = nullptr);

}  // namespace rope
