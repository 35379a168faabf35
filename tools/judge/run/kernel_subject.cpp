#include "tools/judge/run/kernel_subject.hpp"

#include <fmt/format.h>

#include <chrono>
#include <list>
#include <optional>

#include "tools/judge/call/concurrent_call.hpp"
#include "tools/judge/call/floating_point_mode.hpp"
#include "tools/judge/call/row_placement.hpp"

namespace rope {

Claims claims_of(const rope_capabilities& capabilities) {
  Claims claims;
  claims.capabilities = capabilities;
  if (capabilities.head_dims != nullptr) {
    claims.head_dims.assign(capabilities.head_dims, capabilities.head_dims + capabilities.head_dim_count);
  }
  claims.capabilities.head_dims = nullptr;  // claims.head_dims has the copy
  return claims;
}

KernelSubject::KernelSubject(const rope_kernel& kernel, const Stop* stop)
    : kernel_(kernel), stop_(stop), name_(kernel.name), claims_(claims_of(kernel.claims)) {
  claims_.far_tensors = claims_.packed_tensors = claims_.concurrent_calls = claims_.compiled = true;
}

namespace {

// The tensors of a call whose rows are placed elsewhere than they are stored, while this lives.
class PlacedTensors {
 public:
  PlacedTensors(Call& call, rope_call& bound) {
    if (call.cos) place(*call.cos, bound.table.cos);
    if (call.sin) place(*call.sin, bound.table.sin);
    place(call.q, bound.q.data, call.k, bound.k.data);
    if (call.in_place) {
      bound.q_out = bound.q;
      bound.k_out = bound.k;
      return;
    }
    place(*call.q_out, bound.q_out.data, call.k_out, bound.k_out.data);
  }

  void read_back() {
    for (const PlacedRows& memory : placed_) memory.read_back();
  }

 private:
  template <class Pointer>
  void place(Tensor& tensor, Pointer& given) {
    if (tensor.placed_strides.empty()) return;
    given = placed_.emplace_back(std::vector{&tensor}).first_element(tensor);
  }

  void place(Tensor& q, void*& given_q, std::optional<Tensor>& k, void*& given_k) {
    if (!k || k->behind_q == 0) {
      place(q, given_q);
      if (k) place(*k, given_k);
      return;
    }
    PlacedRows& both = placed_.emplace_back(std::vector{&q, &*k});
    given_q = both.first_element(q);
    given_k = both.first_element(*k);
  }

  std::list<PlacedRows> placed_;
};

// bind() leaves large inputs shared.
void own_inputs(Call& call) {
  call.q.data();
  if (call.k) call.k->data();
}

void note_mode(const FloatingPointMode& before, Reply& reply) {
  const std::string breach = breach_of_mode(before);
  if (breach.empty()) return;
  reply.kind = ReplyKind::misbehaved;
  reply.detail = breach;
  reply.breaks_mode = true;
}

}  // namespace

Reply KernelSubject::apply(Call& call) {
  throw_if_requested(stop_);
  if (claims_.capabilities.overwrites_inputs != 0) own_inputs(call);
  rope_call bound = bind(call);
  std::optional<PlacedTensors> placed;
  try {
    placed.emplace(call, bound);
  } catch (const NoRoom& error) {
    return {ReplyKind::crashed, ROPE_FAILED, error.what(), 0};
  }
  const FloatingPointMode mode = FloatingPointMode::current();
  const auto start = std::chrono::steady_clock::now();
  Reply reply;
  reply.status = kernel_.apply(&bound);
  reply.nanoseconds = (std::chrono::steady_clock::now() - start).count();
  note_mode(mode, reply);
  placed->read_back();
  return reply;
}

Opener KernelSubject::opener() const {
  return [&kernel = kernel_, stop = stop_] { return std::make_unique<KernelSubject>(kernel, stop); };
}

std::optional<Reply> KernelSubject::apply_concurrently(Call& call, Call& companion) try {
  throw_if_requested(stop_);
  Call other = companion;  // a copy, because in place the call would change it
  if (claims_.capabilities.overwrites_inputs != 0) {
    own_inputs(call);
    own_inputs(other);
  }
  rope_call bound = bind(call), bound_other = bind(other);
  PlacedTensors placed(call, bound), placed_other(other, bound_other);
  const FloatingPointMode mode = FloatingPointMode::current();
  const ConcurrentResult result = run_concurrently(kernel_.apply, bound, bound_other);
  placed.read_back();
  Reply reply;
  reply.status = result.status;
  reply.nanoseconds = result.nanoseconds;
  if (result.status == ROPE_OK && result.companion_status != ROPE_OK) {
    reply.status = result.companion_status;
    reply.detail = "the concurrent call was answered so";
  }
  note_mode(mode, reply);
  return reply;
} catch (const NoRoom& error) {
  return Reply{ReplyKind::crashed, ROPE_FAILED, error.what(), 0};
}

}  // namespace rope
