// Golden arrays as xtensor arrays, in doubles.
#pragma once

#include <string_view>

#include "golden/manifest.hpp"
#include "reference/xtensor.hpp"

namespace rope {

using Vector = xt::xtensor<double, 1>;
using Matrix = xt::xtensor<double, 2>;
using TokenArray = xt::xtensor<double, 4>;

// An array of positions or tables, flat, in the order of its file.
Vector values_of(const Manifest& manifest, const GoldenCase& golden, std::string_view name);

// q, k, v or an output as [batch, seq, heads, head_dim], whatever the order of the source.
TokenArray tokens_of(const Manifest& manifest, const GoldenCase& golden, std::string_view name);

// What attention makes of one head: [query, key]; for attended values [query, head_dim].
Matrix head_of(const Manifest& manifest, const GoldenCase& golden, std::string_view name, std::size_t batch,
               std::size_t head);

// One token of one head.
struct Token {
  std::size_t batch, seq, head;
};

// Visits the tokens of an array from tokens_of(), in the order batch, seq, head.
template <class Visitor>
void for_each_token(const TokenArray& array, Visitor&& visit) {
  for (std::size_t b = 0; b < array.shape(0); ++b) {
    for (std::size_t s = 0; s < array.shape(1); ++s) {
      for (std::size_t h = 0; h < array.shape(2); ++h) visit(Token{b, s, h});
    }
  }
}

}  // namespace rope
