// The legal ways that we know to turn the pairs of one head, given the factors of its token. Every way is a class.
// Its prepare() changes the factors of a token: it applies the attention factor, or rounds tables, in its own way. Its
// rotate() turns one head.
// Float arithmetic stays float arithmetic here: W is the type that the kernel works in. The compiler may contract a
// product and a sum to one operation if its flags allow it.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/kernels/legal/element.hpp"

namespace rope::legal {

//   y[first]  = x[first]  * cos_first  - x[second] * sin_first
//   y[second] = x[second] * cos_second + x[first]  * sin_second
template <class W>
struct Row {
  std::vector<W> cos_first;
  std::vector<W> sin_first;
  std::vector<W> cos_second;
  std::vector<W> sin_second;

  template <class Change>
  void change(Change&& change) {
    for (std::vector<W>* factors : {&cos_first, &sin_first, &cos_second, &sin_second}) {
      for (W& factor : *factors) factor = change(factor);
    }
  }
};

template <class W>
struct Head {
  std::size_t pairs;
  const W* a;  // first features
  const W* b;  // second features
  W* ya;
  W* yb;
  const Row<W>& row;
  W lambda;
  std::int32_t in_dtype;
  std::int32_t out_dtype;
  bool in_block;  // for kernels that take four tokens at a time: this token is one of four, not left over
};

// The textbook's two lines; the attention factor is in the factors.
struct Plain {
  template <class W>
  static void prepare(Row<W>& row, W lambda, std::int32_t) {
    if (lambda != 1) row.change([lambda](W factor) { return factor * lambda; });
  }

  template <class W>
  static void rotate(const Head<W>& h) {
    pairs_from(h, 0);
  }

  template <class W>
  static void pairs_from(const Head<W>& h, std::size_t first) {
    for (std::size_t p = first; p < h.pairs; ++p) {
      h.ya[p] = h.a[p] * h.row.cos_first[p] - h.b[p] * h.row.sin_first[p];
      h.yb[p] = h.b[p] * h.row.cos_second[p] + h.a[p] * h.row.sin_second[p];
    }
  }
};

// The sum is fused with the cosine's product.
struct FusedCos : Plain {
  template <class W>
  static void rotate(const Head<W>& h) {
    for (std::size_t p = 0; p < h.pairs; ++p) {
      h.ya[p] = std::fma(h.a[p], h.row.cos_first[p], -(h.b[p] * h.row.sin_first[p]));
      h.yb[p] = std::fma(h.b[p], h.row.cos_second[p], h.a[p] * h.row.sin_second[p]);
    }
  }
};

// The sum is fused with the sine's product.
struct FusedSin : Plain {
  template <class W>
  static void rotate(const Head<W>& h) {
    for (std::size_t p = 0; p < h.pairs; ++p) {
      h.ya[p] = std::fma(-h.b[p], h.row.sin_first[p], h.a[p] * h.row.cos_first[p]);
      h.yb[p] = std::fma(h.a[p], h.row.sin_second[p], h.b[p] * h.row.cos_second[p]);
    }
  }
};

// FMA for four tokens at a time, none for those left over: a token's bits depend on the number of tokens.
struct FusedInBlocks : Plain {
  template <class W>
  static void rotate(const Head<W>& h) {
    h.in_block ? FusedCos::rotate(h) : Plain::rotate(h);
  }
};

// Eight pairs at a time: there the attention factor multiplies the result, in the tail it multiplies cos and sin.
struct VectorBody : Plain {
  template <class W>
  static void prepare(Row<W>&, W, std::int32_t) {}

  template <class W>
  static void rotate(const Head<W>& h) {
    constexpr std::size_t lanes = 8;
    typedef W Vector __attribute__((vector_size(lanes * sizeof(W))));
    const std::size_t body = h.pairs / lanes * lanes;
    for (std::size_t p = 0; p < body; p += lanes) {
      Vector a, b, c, s;
      std::memcpy(&a, h.a + p, sizeof a);
      std::memcpy(&b, h.b + p, sizeof b);
      std::memcpy(&c, &h.row.cos_first[p], sizeof c);
      std::memcpy(&s, &h.row.sin_first[p], sizeof s);
      const Vector first = h.lambda * (a * c - b * s);
      std::memcpy(&c, &h.row.cos_second[p], sizeof c);
      std::memcpy(&s, &h.row.sin_second[p], sizeof s);
      const Vector second = h.lambda * (a * s + b * c);
      std::memcpy(h.ya + p, &first, sizeof first);
      std::memcpy(h.yb + p, &second, sizeof second);
    }
    for (std::size_t p = body; p < h.pairs; ++p) {
      h.ya[p] = h.a[p] * (h.lambda * h.row.cos_first[p]) - h.b[p] * (h.lambda * h.row.sin_first[p]);
      h.yb[p] = h.b[p] * (h.lambda * h.row.cos_second[p]) + h.a[p] * (h.lambda * h.row.sin_second[p]);
    }
  }
};

// (a + ib)(cos + i sin), as std::complex multiplies. One cos and sin per pair: no tables with unequal halves.
struct Complex : Plain {
  template <class W>
  static void rotate(const Head<W>& h) {
    for (std::size_t p = 0; p < h.pairs; ++p) {
      const std::complex<W> turn(h.row.cos_first[p], h.row.sin_first[p]);
      const std::complex<W> y = turn * std::complex<W>(h.a[p], h.b[p]);
      h.ya[p] = y.real();
      h.yb[p] = y.imag();
    }
  }
};

// y = x * cos, then y += rotate_half(x) * sin: two passes. Between them y is in memory in the type of the output.
struct RotateHalf : Plain {
  template <class W>
  static void rotate(const Head<W>& h) {
    for (std::size_t p = 0; p < h.pairs; ++p) {
      h.ya[p] = rounded(h.out_dtype, h.a[p] * h.row.cos_first[p]);
      h.yb[p] = rounded(h.out_dtype, h.b[p] * h.row.cos_second[p]);
    }
    for (std::size_t p = 0; p < h.pairs; ++p) {
      h.ya[p] += -h.b[p] * h.row.sin_first[p];
      h.yb[p] += h.a[p] * h.row.sin_second[p];
    }
  }
};

// cos and sin, times the attention factor, are kept in the type of the input.
struct TablesRounded : Plain {
  template <class W>
  static void prepare(Row<W>& row, W lambda, std::int32_t dtype) {
    Plain::prepare(row, lambda, dtype);
    row.change([dtype](W factor) { return rounded(dtype, factor); });
  }
};

// Hugging Face in a 16-bit type: cos and sin, the attention factor, both products and the sum are tensors of that type.
struct EachRounded : Plain {
  template <class W>
  static void prepare(Row<W>& row, W lambda, std::int32_t dtype) {
    const W factor = rounded(dtype, lambda);
    row.change([&](W value) { return rounded(dtype, rounded(dtype, value) * factor); });
  }

  template <class W>
  static void rotate(const Head<W>& h) {
    const auto in_type = [&](W value) { return rounded(h.in_dtype, value); };
    for (std::size_t p = 0; p < h.pairs; ++p) {
      h.ya[p] = in_type(in_type(h.a[p] * h.row.cos_first[p]) - in_type(h.b[p] * h.row.sin_first[p]));
      h.yb[p] = in_type(in_type(h.b[p] * h.row.cos_second[p]) + in_type(h.a[p] * h.row.sin_second[p]));
    }
  }
};

}  // namespace rope::legal
