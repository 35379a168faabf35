// Right kernels that get another call than the one under test: so it is known what they compute instead.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

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

// No far and no packed tensors: tests change the tensors as a whole.
inline Claims plain_claims() {
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  claims.capabilities.features &= ~ROPE_BIT(ROPE_FEATURE_ROTARY_OFFSET);  // these mistakes count features from 0
  return claims;
}

// A kernel that changes each call by `change`, then computes it.
inline Fake with_modified_call(std::function<void(Call&)> change, const Claims& claims = plain_claims()) {
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

// A kernel whose results are what `edit` makes of right ones.
inline Fake with_results(std::function<void(const Call& before, Call& after)> edit,
                         const Claims& claims = plain_claims()) {
  return Fake(claims, [edit = std::move(edit)](Call& call) {
    const Call before = call;
    const Reply reply = computed(call);
    if (reply.status == ROPE_OK) edit(before, call);
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

  // What the output holds there before the call.
  double held() const { return value_at(key ? call.k_result() : call.q_result(), row, feature); }
  bool is_rotary() const { return feature < call.rotary_dim; }
  std::int64_t pair() const {
    if (!is_rotary()) return -1;
    return call.pairing == Pairing::interleaved ? feature / 2 : feature % (call.rotary_dim / 2);
  }
  std::int64_t heads() const { return (key ? *call.k : call.q).shape[2]; }
};

// A right kernel. `change` may replace each element of its results.
inline Fake altered(std::function<double(const ResultElement&)> change, const Claims& claims = plain_claims()) {
  return with_results(
      [=](const Call& before, Call& after) {
        for (const bool key : {false, true}) {
          if (key && !after.k) continue;
          const Tensor& input = key ? *before.k : before.q;
          Tensor& output = key ? k_of(after) : q_of(after);
          for_each_row(output, [&](const RowIndex& row, std::byte* data) {
            for (std::int64_t f = 0; f < output.shape[3]; ++f) {
              std::byte* element = data + f * feature_step(output);
              const double y = load(output.dtype, element);
              const double changed = change({before, key, row, f, value_at(input, row, f), y});
              // An element that stays keeps the bits of its NaN.
              if (!(changed == y || (std::isnan(changed) && std::isnan(y)))) store(output.dtype, element, changed);
            }
          });
        }
      },
      claims);
}

// A right kernel that does not write some elements.
inline Fake leaving_out(std::function<bool(const ResultElement&)> is_left_out) {
  return with_results([is_left_out = std::move(is_left_out)](const Call& before, Call& after) {
    for (const bool key : {false, true}) {
      if (key && !after.k) continue;
      Tensor& output = key ? k_of(after) : q_of(after);
      const Tensor& held = key ? before.k_result() : before.q_result();
      for_each_row(output, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = 0; f < output.shape[3]; ++f) {
          if (!is_left_out({before, key, row, f, 0, 0})) continue;
          std::memcpy(data + f * feature_step(output), row_data(held, row) + f * feature_step(held),
                      size_of(output.dtype));  // the bits, whatever number they are
        }
      });
    }
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

// What the diagnosis must say of a kernel with one mistake. What is not given is not checked.
struct Expected {
  std::string sentence;
  std::optional<std::string> condition = {};
  std::optional<bool> certain = {};
  std::vector<std::string> only = {"ROT-01"};  // requirements
};

// A row of a table: a section of its own.
inline void expect(const char* mistake, Fake kernel, const Expected& expected) {
  DYNAMIC_SECTION(mistake) {
    const auto found = diagnosed(kernel, expected.only);
    CHECK(first_of(found).sentence == expected.sentence);
    if (expected.condition) CHECK(first_of(found).condition == *expected.condition);
    if (expected.certain) CHECK(found->certain == *expected.certain);
  }
}

}  // namespace rope::test
