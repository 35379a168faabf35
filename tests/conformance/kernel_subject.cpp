#include "tests/conformance/kernel_subject.hpp"

#include <fmt/format.h>

#include <chrono>
#include <list>
#include <optional>
#include <stdexcept>

#include "tests/conformance/far_tensor.hpp"

#include "tests/conformance/beside.hpp"

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
    : kernel_(kernel), name_(kernel.name), claims_(claims_of(kernel.claims)) {
  claims_.far_tensors = claims_.concurrent_calls = claims_.compiled = true;
}

namespace {

// The tensors of a call that lie far apart, placed for as long as this lives.
class FarTensors {
 public:
  FarTensors(Call& call, rope_call& bound) {
    if (call.cos) place(*call.cos, bound.table.cos);
    if (call.sin) place(*call.sin, bound.table.sin);
    place(call.q, bound.q.data);
    if (call.k) place(*call.k, bound.k.data);
    if (call.in_place) {
      bound.q_out = bound.q;
      bound.k_out = bound.k;
      return;
    }
    place(*call.q_out, bound.q_out.data);
    if (call.k_out) place(*call.k_out, bound.k_out.data);
  }

  void read_back() {
    for (auto& [tensor, memory] : placed_) memory.read_into(*tensor);
  }

 private:
  template <class Pointer>
  void place(Tensor& tensor, Pointer& given) {
    if (tensor.far_strides.empty()) return;
    given =
        placed_.emplace_back(std::piecewise_construct, std::tuple(&tensor), std::tie(tensor)).second.first_element();
  }

  std::list<std::pair<Tensor*, FarMemory>> placed_;
};

}  // namespace

Reply KernelSubject::apply(Call& call) {
  rope_call bound = bind(call);
  std::optional<FarTensors> far;
  try {
    far.emplace(call, bound);
  } catch (const std::runtime_error& error) {
    return {ReplyKind::crashed, ROPE_FAILED, error.what(), 0};
  }
  const auto start = std::chrono::steady_clock::now();
  Reply reply;
  reply.status = kernel_.apply(&bound);
  reply.nanoseconds = (std::chrono::steady_clock::now() - start).count();
  far->read_back();
  return reply;
}

std::optional<Reply> KernelSubject::apply_beside(Call& call, Call& companion) {
  Call other = companion;  // in place it would be changed
  const BesideResult result = run_beside(kernel_.apply, bind(call), bind(other));
  Reply reply;
  reply.status = result.status;
  reply.nanoseconds = result.nanoseconds;
  if (result.status == ROPE_OK && result.companion_status != ROPE_OK) {
    reply.status = result.companion_status;
    reply.detail = "the call that ran beside it was answered so";
  }
  return reply;
}

}  // namespace rope
