// The instance of the kernel that a job needs. No other file lists them.
#pragma once

#include "impls/cuda/plan.hpp"
#include "impls/cuda/rotate_kernel.hpp"

namespace rope::cuda {

// Calls use(Variant<..>()) with the variant of the job.
template <class Use>
void with_variant(const Job& job, const Use& use) {
  const bool given = job.call.angle_source == ROPE_TABLES;
  const auto with_width = [&]<class In, class Out, class Work, bool tables>() {
    constexpr int wide = static_cast<int>(16 / sizeof(In));
    job.width == 1 ? use(Variant<In, Out, Work, 1, tables>()) : use(Variant<In, Out, Work, wide, tables>());
  };
  const auto with_types = [&]<class In, class Out>() {
    if constexpr (std::is_same_v<Out, double>) {
      given ? with_width.template operator()<In, Out, double, true>()
            : with_width.template operator()<In, Out, double, false>();
    } else {
      if constexpr (std::is_same_v<Out, float>) {  // tables in f64
        if (job.in_double) return with_width.template operator()<In, Out, double, true>();
      }
      given ? with_width.template operator()<In, Out, float, true>()
            : with_width.template operator()<In, Out, float, false>();
    }
  };
  const bool same = job.call.q.dtype == job.call.q_out.dtype;
  switch (job.call.q.dtype) {
    case ROPE_F64: return with_types.template operator()<double, double>();
    case ROPE_F32: return with_types.template operator()<float, float>();
    case ROPE_F16:
      return same ? with_types.template operator()<Half, Half>() : with_types.template operator()<Half, float>();
    default:
      return same ? with_types.template operator()<Bfloat16, Bfloat16>()
                  : with_types.template operator()<Bfloat16, float>();
  }
}

}  // namespace rope::cuda
