// ExecutedPlan: the rotation that a kernel executes, measured from outside.
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
  int axis = 0;                  // the axis that its angle follows; -1: more than one, or none
  double theta = 0;              // radians per position, known up to multiples of 2 pi; negative: the inverse rotation
  double theta_error = 0;        // of theta, at most
  double intercept = 0;          // radians, the angle at position 0
  double lambda = 1;             // the factor of the pair
  std::int64_t reached = 0;      // the largest position at which theta still held
  std::vector<PhaseStep> steps;  // how theta was narrowed down
  std::optional<double> other_theta;  // of the second feature, if the two turn by different angles
};

// A position as it was given, and the position whose angles were used.
struct MovedPosition {
  std::int64_t given = 0;
  std::int64_t executed = 0;
};

struct ExecutedPlan {
  Case way;  // how the kernel was called; its spec is the one that the kernel was given
  std::int64_t sequence_length = 0;
  Structure structure;
  std::vector<ExecutedPair> pairs;
  std::vector<TableUse> tables;  // one per pair, if tables are given; then theta is not known

  std::optional<Pairing> pairing;  // none: the pairs are neither; a single pair is both
  int rotary_dim = 0;              // features that turn, as far as the pairs show it
  int sign = 1;                    // -1: every angle has the other sign; 0: some have
  double lambda = 1;               // of all pairs; NaN if they differ
  double told_lambda = 1;
  std::optional<std::int64_t> position_offset;  // if angles do not begin at position 0
  std::vector<MovedPosition> moved;             // positions that were taken for others
  std::string positions;                        // what happens to positions, in words; empty: nothing
  bool longer_calls_differ = false;             // a short call follows its positions, a longer one does not
  std::vector<std::string> precision;           // the roundings found, in words
  double angle_error = 0;                       // relative bound for angles; 0 if no error was seen
  double angle_noise = 0;  // bound in radians for angles, from rounded results; the same, relative, for lambda

  std::vector<FrequencyRule> rules;  // that yield the frequencies; the likeliest first
  std::optional<RopeSpec> spec;      // for the user to paste; none if no spec yields this plan

  // Random rows at random positions, predicted from this plan: how many elements, and how many were right.
  std::int64_t predicted = 0;
  std::int64_t predicted_right = 0;

  std::int64_t calls = 0;
  std::int64_t rows = 0;
  std::string problem;  // why the kernel could not be probed; then all else is empty
};

// Probes a subject as `way` says. If the kernel does not answer, the plan has a problem. Never throws because of what
// the kernel does.
ExecutedPlan identify(Subject& subject, const Case& way, Oracles& oracles);

// How a subject can be called: one way per pairing, with dtype f32 and computed angles if these are claimed. `spec` is
// the requested one, or the default; `source` is set if only one is wanted.
std::vector<Case> ways_to_identify(const Claims& claims, const Selection& selection,
                                   std::optional<AngleSource> source = {});

}  // namespace rope
