// Identification of kernels that a test defines.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

#include "impls/builtin.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/property.hpp"
#include "tools/identify/describe.hpp"

namespace rope::test {

inline Case way_of(const RopeSpec& spec, DType dtype, AngleSource source = AngleSource::computed) {
  Case way;
  way.spec = spec;
  way.dtype = way.out_dtype = dtype;
  way.source = source;
  way.given = source == AngleSource::tables ? dtype : dtype == DType::f64 ? DType::f64 : DType::f32;
  return way;
}

inline ExecutedPlan identified(const Case& way, std::function<Reply(Call&)> answer) {
  Fake subject(all_claims(), std::move(answer));
  Oracles oracles;
  return identify(subject, way, oracles);
}

// Right in both pairings.
inline Reply right_pairing(Call& call) {
  KernelSubject kernel(call.pairing == Pairing::half_split ? half_split_kernel() : interleaved_kernel());
  return kernel.apply(call);
}

// As many specs as the environment asks for, 1000 for the published figures; only few in every run.
inline int spec_count() {
  const char* text = std::getenv("ROPECHECK_IDENTIFY_SPECS");
  return text != nullptr ? std::atoi(text) : 60;
}

// The relative error that theta, base and factor have to be recovered to.
inline double promised(DType dtype) { return dtype == DType::f32 || dtype == DType::f64 ? 1e-6 : 1e-3; }

inline std::string in_words(const ExecutedPlan& plan) {
  std::string text;
  for (const auto& [what, value] : description(plan)) text += what + ": " + value + "\n";
  return text;
}

}  // namespace rope::test
