// The rotation of a golden case straight from the definition, in long double and without the contract: for positions
// that are no whole numbers, for xPos, and for what a source does instead of what is defined.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "golden/manifest.hpp"
#include "reference/rotation_plan.hpp"

namespace rope {

// One token of one head: batch, token, head.
struct Token {
  std::size_t batch, seq, head;
};

struct PlainRotation {
  std::vector<long double> theta;  // radians per position, one a pair
  std::vector<double> c;           // |theta~/theta - 1| of the source is at most c u
  std::vector<int> axis;
  std::optional<Magnitude> magnitude;
  double lambda = 1;
  DType working = DType::f32;  // in which angles and products are made

  std::function<long double(std::size_t axis, const Token&)> position;
  std::function<std::size_t(std::size_t feature)> read_at;      // the feature that stands in the place of `feature`
  std::function<std::size_t(std::size_t feature)> pair_of_cos;  // whose cosine a feature is multiplied by
  bool k_turned_with_q = false;
};

PlainRotation as_defined(const Manifest& manifest, const GoldenCase& golden);

// The definition with the case's `instead` applied to it; as_defined() where it has none.
PlainRotation as_the_source_does(const Manifest& manifest, const GoldenCase& golden);

// The largest error of the stored q_out and k_out, as a fraction of its bound; infinite where a feature that does not
// turn is not a copy.
double worst_use(const Manifest& manifest, const GoldenCase& golden, const PlainRotation& rotation);

// Any array as doubles.
std::vector<double> values_of(const Manifest& manifest, const GoldenCase& golden, std::string_view array);

// Where element (batch, seq, head, feature) of an array of the case's axes stands.
std::size_t index_in(const GoldenCase& golden, const GoldenArray& array, const Token& token, std::size_t feature);

// Tokens of an array of the case's axes, in the order batch, seq, head.
void for_each_token(const GoldenCase& golden, const GoldenArray& array, const std::function<void(const Token&)>& visit);

}  // namespace rope
