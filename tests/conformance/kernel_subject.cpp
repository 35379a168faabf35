#include "tests/conformance/kernel_subject.hpp"

#include <chrono>

namespace rope {

Claims claims_of(const rope_capabilities& capabilities) {
  Claims claims;
  claims.capabilities = capabilities;
  if (capabilities.head_dims != nullptr) {
    claims.head_dims.assign(capabilities.head_dims, capabilities.head_dims + capabilities.head_dim_count);
  }
  claims.capabilities.head_dims = nullptr;  // the copy is what counts
  return claims;
}

KernelSubject::KernelSubject(const rope_kernel& kernel)
    : kernel_(kernel), name_(kernel.name), claims_(claims_of(kernel.claims)) {}

Reply KernelSubject::apply(Call& call) {
  const rope_call bound = bind(call);
  const auto start = std::chrono::steady_clock::now();
  Reply reply;
  reply.status = kernel_.apply(&bound);
  reply.nanoseconds = (std::chrono::steady_clock::now() - start).count();
  return reply;
}

}  // namespace rope
