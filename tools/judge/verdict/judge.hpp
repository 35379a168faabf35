// The judge: compares every element of a call's outputs with the exact value and the bound.
#pragma once

#include "tools/judge/verdict/expectation.hpp"
#include "tools/judge/verdict/finding.hpp"

namespace rope {

// `input` is the tensor before the call, `output` the kernel's result.
Finding judge_tensor(const std::string& tensor_name, const Tensor& input, const Tensor& output,
                     Expectation& expectation);

// Both tensors of a call. q and k are the inputs before the call.
Finding judge_call(const Call& after, const Tensor& q, const std::optional<Tensor>& k, Expectation& expectation);

}  // namespace rope
