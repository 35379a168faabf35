#include "tools/worker/client/call_shape.hpp"

#include <fmt/format.h>

namespace rope::worker {

std::string shape_of(const Call& call) {
  fmt::memory_buffer text;
  const auto add = [&](const Tensor& tensor) {
    fmt::format_to(std::back_inserter(text), "{}[{}|{}]", static_cast<int>(tensor.dtype), fmt::join(tensor.shape, ","),
                   fmt::join(tensor.kernel_strides(), ","));
  };
  add(call.q);
  for (const std::optional<Tensor>* tensor : {&call.k, &call.q_out, &call.k_out, &call.positions, &call.seqlen_offsets,
                                              &call.cu_seqlens, &call.cos, &call.theta, &call.axis}) {
    if (*tensor) add(**tensor);
    text.push_back(';');
  }
  fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {}", call.rotary_dim, call.rotary_offset,
                 static_cast<int>(call.pairing), static_cast<int>(call.direction), static_cast<int>(call.source),
                 call.scaling.index());
  return fmt::to_string(text);
}

}  // namespace rope::worker
