// ExecutedPlan: the rotation that a kernel was seen to execute, measured from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/identify/frequency_rule.hpp"
#include "tools/identify/phase.hpp"
#include "tools/identify/structure.hpp"
#include "tools/identify/table_use.hpp"
#include "tools/judge/case/case_list.hpp"

namespace rope {

struct ExecutedPair {
  FeaturePair features;
  int axis = 0;                  // that its angle follows; -1: it follows more than one, or none
  double theta = 0;              // radians per position, known up to multiples of 2 pi; negative: the inverse rotation
  double theta_error = 0;        // of theta, at most
  double intercept = 0;          // radians, the angle at position 0
  double lambda = 1;             // what the pair is multiplied by
  std::int64_t reached = 0;      // the largest position at which theta was still seen to hold
  std::vector<PhaseStep> steps;  // how theta was closed in on
  std::optional<double> other_theta;  // of the second feature, where the two turn by different angles
};

// A position as it was given, and the one that the angles were those of.
struct MovedPosition {
  std::int64_t given = 0;
  std::int64_t executed = 0;
};

struct ExecutedPlan {
  Case way;  // how the kernel was called; its spec is what the kernel was told
  std::int64_t sequence_length = 0;
  Structure structure;
  std::vector<ExecutedPair> pairs;
  std::vector<TableUse> tables;  // one a pair, where tables are given; theta is not known then

  std::optional<Pairing> pairing;  // none: the pairs are neither; one pair alone is both
  int rotary_dim = 0;              // features that turn, as far as the pairs show it
  int sign = 1;                    // -1: every angle has the other sign; 0: some have
  double lambda = 1;               // of all pairs; NaN where they differ
  double told_lambda = 1;
  std::optional<std::int64_t> position_offset;  // where angles do not begin at position 0
  std::vector<MovedPosition> moved;             // positions that were taken for others
  std::string positions;                        // what becomes of positions, in words; empty: nothing
  bool longer_calls_differ = false;             // a call of a few tokens is turned by its positions, a longer one not
  std::vector<std::string> precision;           // what was found rounded, in words
  double angle_error = 0;                       // of an angle, relative, at most; 0 where none was seen
  double angle_noise = 0;  // of an angle, radians, at most, from the rounding of results; as much of lambda, relative

  std::vector<FrequencyRule> rules;  // that make the frequencies; the first is the likeliest
  std::optional<RopeSpec> spec;      // that a person can paste; none where no spec makes this plan

  // Random rows at random positions, predicted from this plan: how many elements, and how many came out so.
  std::int64_t predicted = 0;
  std::int64_t predicted_right = 0;

  std::int64_t calls = 0;
  std::int64_t rows = 0;
  std::string problem;  // why the kernel could not be probed; all else is empty then
};

// Probes a subject as `way` says. A kernel that does not answer has a plan with a problem; never throws because of what
// the kernel does.
ExecutedPlan identify(Subject& subject, const Case& way, Oracles& oracles);

// How a subject can be called: one way a pairing, dtype f32 and computed angles where these are claimed. `spec` as it
// was told, or the default; `source` where only one is wanted.
std::vector<Case> ways_to_identify(const Claims& claims, const Selection& selection,
                                   std::optional<AngleSource> source = {});

}  // namespace rope
