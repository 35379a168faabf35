// Right kernels that get another call than the one under test: so it is known what they compute instead.
#pragma once

#include <catch2/catch.hpp>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tools/diagnose/diagnose.hpp"
#include "tools/diagnose/evidence.hpp"
#include "tools/diagnose/hypothesis.hpp"

namespace rope::test {

// A right kernel's answer, in the pairing of the call.
inline Reply computed(Call& call) {
  KernelSubject half(half_split_kernel()), inter(interleaved_kernel());
  return (call.pairing == Pairing::half_split ? half : inter).apply(call);
}

// Where a call's results are, also in place.
inline Tensor& q_of(Call& call) { return call.in_place ? call.q : *call.q_out; }
inline Tensor& k_of(Call& call) { return call.in_place ? *call.k : *call.k_out; }

// A kernel with all claims that changes each call by `change`, then computes it. Without `compiled`, as if its process
// started slowly.
inline Fake misled(std::function<void(Call&)> change, bool compiled = true) {
  Claims claims = all_claims();
  claims.compiled = compiled;
  claims.far_tensors = claims.packed_tensors = false;
  return Fake(claims, [change = std::move(change)](Call& call) {
    Call taken = call;
    change(taken);
    const Reply reply = computed(taken);
    if (call.in_place) {
      call.q = taken.q;
      call.k = taken.k;
    } else {
      call.q_out = taken.q_out;
      call.k_out = taken.k_out;
    }
    return reply;
  });
}

// An element of a right result, and the call before it was made.
struct ResultElement {
  const Call& call;
  bool key;
  RowIndex row;
  std::int64_t feature;
  double x, y;  // of the input in the same place, of the result
};

// A right kernel with all claims. `change` may replace each element of its results.
inline Fake altered(std::function<double(const ResultElement&)> change) {
  const std::shared_ptr<Fake> whole(new Fake(misled([](Call&) {})));
  return Fake(whole->claims(), [=](Call& call) {
    const Call before = call;
    const Reply reply = whole->apply(call);
    for (const bool key : {false, true}) {
      if (key && !call.k) continue;
      const Tensor& input = key ? *before.k : before.q;
      Tensor& output = key ? k_of(call) : q_of(call);
      for_each_row(output, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = 0; f < output.shape[3]; ++f) {
          std::byte* element = data + f * output.strides[3] * static_cast<std::int64_t>(size_of(output.dtype));
          store(output.dtype, element,
                change({before, key, row, f, value_at(input, row, f), load(output.dtype, element)}));
        }
      });
    }
    return reply;
  });
}

inline SubjectReport reported(Subject& subject, Oracles& oracles, std::vector<std::string> only) {
  SuiteOptions options;
  options.selection.level = Level::quick;
  options.selection.only = std::move(only);
  return run_suite(subject, oracles, all_requirements(), options);
}

inline std::optional<Diagnosis> diagnosed(Subject& subject, std::vector<std::string> only = {"ROT-01"}) {
  Oracles oracles;
  const SubjectReport report = reported(subject, oracles, std::move(only));
  return diagnosis::diagnose(report, subject, oracles, nullptr);
}

// What the diagnosis looks at first.
struct Evidence {
  explicit Evidence(Subject& subject)
      : report(reported(subject, oracles, {"ROT-01"})), examiner(subject, oracles, nullptr) {
    for (const Case& c : diagnosis::cases_to_observe(report, subject.claims())) {
      seen.push_back(diagnosis::observe(c, examiner));
    }
  }

  Oracles oracles;
  SubjectReport report;
  Examiner examiner;
  diagnosis::Observations seen;
};

inline const diagnosis::Hypothesis& that_says(std::string_view sentence) {
  for (const diagnosis::Hypothesis& h : diagnosis::all_hypotheses()) {
    if (h.sentence == sentence) return h;
  }
  FAIL("no hypothesis says: " << sentence);
  throw std::logic_error("unreachable");
}

inline const Candidate& first_of(const std::optional<Diagnosis>& diagnosis) {
  REQUIRE(diagnosis);
  REQUIRE(diagnosis->first() != nullptr);
  return *diagnosis->first();
}

// "the result is doubled, only in k"
inline std::string with_condition(const std::optional<Diagnosis>& diagnosis) {
  const Candidate& first = first_of(diagnosis);
  return first.condition.empty() ? first.sentence : first.sentence + ", " + first.condition;
}

}  // namespace rope::test
