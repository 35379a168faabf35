// The judge: every element of a call's outputs against the exact value and the bound.
#pragma once

#include "tools/judge/verdict/expectation.hpp"
#include "tools/judge/verdict/finding.hpp"

namespace rope {

// `input` is the tensor as it was before the call, `output` what the kernel made of it.
Finding judge_tensor(const std::string& tensor_name, const Tensor& input, const Tensor& output,
                     Expectation& expectation);

// Both tensors of a call. q and k are the inputs as they were before the call.
Finding judge_call(const Call& after, const Tensor& q, const std::optional<Tensor>& k, Expectation& expectation);

}  // namespace rope
