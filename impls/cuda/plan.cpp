#include "impls/cuda/plan.hpp"

#include <algorithm>

#include "impls/contract.hpp"
#include "impls/theta.hpp"

namespace rope::cuda {
namespace {

constexpr std::int64_t vector_bytes = 16;
constexpr std::int64_t most_slots = 1024;             // of a unit: 32 KiB of shared memory at most, four rows in double
constexpr std::int64_t heads_of_the_same_angles = 4;  // at least this many, to compute or read angles once for

std::int64_t size_of_element(const rope_tensor& tensor) {
  return static_cast<std::int64_t>(size_of(static_cast<DType>(tensor.dtype)));
}

std::int64_t over(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// Whether a load of 16 bytes at any head, token and multiple of 16 bytes in the head is aligned.
bool takes_vectors(const rope_tensor& tensor) {
  if (count(tensor) == 0) return true;
  const std::int64_t size = size_of_element(tensor);
  if (tensor.strides[3] != 1 || reinterpret_cast<std::uintptr_t>(tensor.data) % vector_bytes != 0) return false;
  for (int i = 0; i < 3; ++i) {
    if (tensor.shape[i] > 1 && tensor.strides[i] % (vector_bytes / size) != 0) return false;
  }
  return true;
}

bool has_key(const rope_call& call) { return call.k.data != nullptr; }

// In place, pass-through features are already where they belong.
bool copies_what_passes(const rope_call& call) {
  return call.q.dtype != call.q_out.dtype || call.q.data != call.q_out.data ||
         (has_key(call) && call.k.data != call.k_out.data);
}

void cut(Job& job, const Cut& size) {
  const std::int64_t items = size.items;
  const std::int64_t unit_chunks = std::min<std::int64_t>(job.chunks, most_slots / job.width);
  job.stretches = over(job.chunks, unit_chunks);
  const std::int64_t most_heads = std::max<std::int64_t>(over(heads_of_the_same_angles * items, unit_chunks), 1);
  job.groups = over(job.heads, most_heads);
  const std::int64_t unit_heads = job.groups == 0 ? 1 : over(job.heads, job.groups);
  const std::int64_t slots = std::min<std::int64_t>(unit_chunks, job.rotary_chunks) * job.width;
  const std::int64_t most_tokens = std::min(items / (unit_heads * unit_chunks), most_slots / slots);
  const std::int64_t unit_tokens = std::clamp<std::int64_t>(most_tokens, 1, std::max<std::int64_t>(job.tokens, 1));
  job.units = over(job.tokens, unit_tokens) * job.groups * job.stretches;
  job.unit_chunks = Divisor(static_cast<std::uint32_t>(unit_chunks));
  job.unit_heads = static_cast<std::int32_t>(unit_heads);
  job.unit_tokens = static_cast<std::int32_t>(unit_tokens);
  const std::int64_t columns = unit_tokens * unit_chunks;
  const std::int64_t lanes = std::max<std::int64_t>(size.threads / columns, 1);
  job.columns = Divisor(static_cast<std::uint32_t>(columns));
  job.lanes = static_cast<std::int32_t>(lanes);
  job.places = static_cast<std::uint32_t>(columns * lanes);
  job.slots = Divisor(static_cast<std::uint32_t>(slots));
}

}  // namespace

std::int32_t widest_chunk(const rope_call& call) {
  const std::int64_t width = vector_bytes / size_of_element(call.q);
  const bool tensors = takes_vectors(call.q) && takes_vectors(call.q_out) &&
                       (!has_key(call) || (takes_vectors(call.k) && takes_vectors(call.k_out)));
  const bool features = call.rotary_dim / 2 % width == 0 && call.q.shape[3] % width == 0 &&
                        call.rotary_offset % (2 * width) == 0;  // no chunk is on both sides of what turns
  return tensors && features ? static_cast<std::int32_t>(width) : 1;
}

Plan plan_of(const rope_call& call, const Cut& size, std::int32_t width) {
  Plan plan{};
  Job& job = plan.job;
  job.call = call;
  job.heads = call.q.shape[2] + (has_key(call) ? call.k.shape[2] : 0);
  job.tokens = call.q.shape[0] * call.q.shape[1];
  job.in_double = works_in_double(call);
  job.two_rows = call.angle_source == ROPE_TABLES && call.table.width == call.rotary_dim;
  job.width = width;
  const std::int64_t passing = copies_what_passes(call) ? call.q.shape[3] - call.rotary_dim : 0;
  job.rotary_chunks = call.rotary_dim / 2 / job.width;
  job.chunks = job.rotary_chunks + static_cast<std::int32_t>(over(passing, 2 * job.width));
  cut(job, size);

  if (call.angle_source == ROPE_COMPUTED) {
    const Theta theta = theta_of(call);
    plan.many_theta = theta.high;
    plan.many_theta.insert(plan.many_theta.end(), theta.low.begin(), theta.low.end());
    if (plan.many_theta.size() <= std::size(job.few_theta)) {
      std::copy(plan.many_theta.begin(), plan.many_theta.end(), job.few_theta);
      plan.many_theta.clear();
    }
  }
  const std::size_t element = job.in_double != 0 ? sizeof(double) : sizeof(float);
  plan.shared_bytes = std::size_t{job.slots.value()} * static_cast<std::size_t>(job.unit_tokens) *
                      (job.two_rows != 0 ? 4 : 2) * element;
  return plan;
}

}  // namespace rope::cuda
