// Tables are built once for a set of parameters and kept from call to call. A table grows when a larger position comes;
// past a limit, rows are made one by one. Calls share tables through shared_ptr.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

// The most rows that a table may have: four megabytes, but at least 64. Larger positions are made row by row.
std::int64_t most_rows(std::int64_t width) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 20) / width, 64, 16384);
}

enum class Bug {
  none,
  none_map,
  key_head_dim,
  key_without_scaling_factor,
};

extern const rope_kernel kernels[];  // in the order of Bug

std::vector<double> frequencies(const rope_call& c, std::int64_t length, std::int64_t pairs) {
  const rope_scaling& z = c.scaling;
  const int r = c.rotary_dim;
  double base = c.base;
  if (z.kind == ROPE_SCALING_NTK && r > 2) base *= std::pow(z.factor, r / (r - 2.0));
  if (z.kind == ROPE_SCALING_DYNAMIC && r > 2) {
    const double l = std::max(static_cast<double>(length), z.original_max_position);
    base *= std::pow(z.factor * l / z.original_max_position - (z.factor - 1.0), r / (r - 2.0));
  }
  std::vector<double> theta(static_cast<std::size_t>(pairs));
  for (int p = 0; p < pairs; ++p) {
    theta[static_cast<std::size_t>(p)] = std::pow(base, -2.0 * p / r);
    if (z.kind == ROPE_SCALING_LINEAR) theta[static_cast<std::size_t>(p)] /= z.factor;
    if (z.kind == ROPE_SCALING_LONGROPE) {
      theta[static_cast<std::size_t>(p)] /=
          (static_cast<double>(length) > z.original_max_position ? z.long_factor : z.short_factor)[p];
    }
  }
  return theta;
}

struct Table {
  std::vector<double> theta;
  double factor = 1.0;
  std::int64_t rows = 0;
  std::vector<float> cs;

  void row(std::int64_t m, float* out) const {
    for (std::size_t p = 0; p < theta.size(); ++p) {
      out[2 * p] = static_cast<float>(std::cos(static_cast<double>(m) * theta[p]) * factor);
      out[2 * p + 1] = static_cast<float>(std::sin(static_cast<double>(m) * theta[p]) * factor);
    }
  }
  void grow(std::int64_t want) {
    const std::int64_t before = rows;
    const std::int64_t width = static_cast<std::int64_t>(theta.size()) * 2;
    rows = std::min(
        most_rows(width),
        std::max<std::int64_t>(64, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(want)))));
    cs.resize(static_cast<std::size_t>(rows * width));
    for (std::int64_t m = before; m < rows; ++m) {
      row(m, cs.data() + m * width);
    }
  }
};
using Held = std::shared_ptr<const Table>;

template <class T>
void add(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string key_of(const rope_call& c, std::int64_t length, Bug bug) {
  std::string key;
  add(key, c.base);
  if (bug == Bug::key_head_dim) {
    add(key, c.q.shape[3]);
  } else {
    add(key, c.rotary_dim);
  }
  add(key, c.attention_factor);
  add(key, c.scaling.kind);
  if (bug != Bug::key_without_scaling_factor) add(key, c.scaling.factor);
  add(key, c.scaling.original_max_position);
  add(key, c.q.dtype);
  if (c.scaling.kind == ROPE_SCALING_DYNAMIC) add(key, length);
  if (c.scaling.kind == ROPE_SCALING_LONGROPE) {
    const bool is_long = static_cast<double>(length) > c.scaling.original_max_position;
    add(key, is_long);
    const double* values = is_long ? c.scaling.long_factor : c.scaling.short_factor;
    key.append(reinterpret_cast<const char*>(values), sizeof(double) * static_cast<std::size_t>(c.rotary_dim / 2));
  }
  return key;
}

struct Slot {
  std::string key;
  std::shared_ptr<Table> table;
};

template <Bug bug>
struct Store {
  std::mutex lock;
  std::string key;
  std::shared_ptr<Table> table;
  std::map<std::string, std::shared_ptr<Table>> tables;
  Slot slots[4];
  unsigned next = 0;
  std::int64_t longest = 0;
};
template <Bug bug>
Store<bug>& store() {
  static Store<bug> one;
  return one;
}

std::shared_ptr<Table> fresh(const rope_call& c, std::int64_t length, Bug bug) {
  auto t = std::make_shared<Table>();
  t->theta = frequencies(c, length, bug == Bug::key_head_dim ? c.q.shape[3] / 2 : c.rotary_dim / 2);
  t->factor = c.attention_factor;
  return t;
}

// A table is never changed once a call may read it: growing makes a larger copy.
template <Bug bug>
std::shared_ptr<Table> with_rows(const std::shared_ptr<Table>& t, std::int64_t want) {
  if (t->rows >= want) return t;
  auto larger = std::make_shared<Table>(*t);
  larger->grow(want);
  return larger;
}

template <Bug bug>
Held find(const rope_call& c, std::int64_t want) {
  Store<bug>& s = store<bug>();
  const std::lock_guard<std::mutex> hold(s.lock);
  std::int64_t length = c.sequence_length;
  const std::string key = key_of(c, length, bug);
  if (bug == Bug::none_map) {
    auto at = s.tables.find(key);
    if (at == s.tables.end()) {
      if (s.tables.size() >= 32) s.tables.clear();
      at = s.tables.emplace(key, fresh(c, length, bug)).first;
    }
    return at->second = with_rows<bug>(at->second, want);
  }
  if (!s.table || s.key != key) {
    s.key = key;
    s.table = fresh(c, length, bug);
  }
  return s.table = with_rows<bug>(s.table, want);
}

std::int64_t largest_below(const rope_call& c, std::int64_t limit) {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < c.q.shape[1]; ++s) {
      const std::int64_t m = position_of(c.positions, b, s);
      if (m < limit) most = std::max(most, m);
    }
  }
  return most;
}

template <class T>
void heads(const rope_call& c, const rope_tensor& in, const rope_tensor& out, std::int64_t b, std::int64_t s,
           const float* cs) {
  const std::int64_t half = c.rotary_dim / 2;
  const std::int64_t head_dim = in.shape[3];
  const bool neighbours = c.pairing == ROPE_INTERLEAVED;
  for (std::int64_t h = 0; h < in.shape[2]; ++h) {
    const T* x = static_cast<const T*>(in.data) + b * in.strides[0] + s * in.strides[1] + h * in.strides[2];
    T* y = static_cast<T*>(out.data) + b * out.strides[0] + s * out.strides[1] + h * out.strides[2];
    for (std::int64_t p = 0; p < half; ++p) {
      const std::int64_t i = neighbours ? 2 * p : p;
      const std::int64_t j = neighbours ? 2 * p + 1 : p + half;
      const float a = static_cast<float>(x[i]);
      const float d = static_cast<float>(x[j]);
      y[i] = static_cast<T>(a * cs[2 * p] - d * cs[2 * p + 1]);
      y[j] = static_cast<T>(a * cs[2 * p + 1] + d * cs[2 * p]);
    }
    if (x != y && head_dim > 2 * half) {
      std::memcpy(y + 2 * half, x + 2 * half, static_cast<std::size_t>(head_dim - 2 * half) * sizeof(T));
    }
  }
}

void token(const rope_call& c, std::int64_t b, std::int64_t s, const float* cs) {
  const auto rotate = [&](const rope_tensor& in, const rope_tensor& out) {
    c.q.dtype == ROPE_F32 ? heads<float>(c, in, out, b, s, cs) : heads<Float16>(c, in, out, b, s, cs);
  };
  rotate(c.q, c.q_out);
  if (c.k.data != nullptr) rotate(c.k, c.k_out);
}

template <Bug bug>
void rotate(const rope_call& c) {
  const std::int64_t limit = most_rows(bug == Bug::key_head_dim ? c.q.shape[3] : c.rotary_dim);
  const Held table = find<bug>(c, largest_below(c, limit) + 1);
  const std::int64_t width = static_cast<std::int64_t>(table->theta.size()) * 2;
  std::vector<float> own(static_cast<std::size_t>(width));
  for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < c.q.shape[1]; ++s) {
      const std::int64_t m = position_of(c.positions, b, s);
      if (m >= table->rows) table->row(m, own.data());
      token(c, b, s, m < table->rows ? table->cs.data() + m * width : own.data());
    }
  }
}

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call] {
    { rotate<bug>(*call); }
    return ROPE_OK;
  });
}

constexpr std::uint32_t partial = mask(ROPE_FEATURE_PARTIAL);
constexpr std::uint32_t factor = mask(ROPE_FEATURE_ATTENTION_FACTOR);
constexpr std::uint32_t plain = mask(ROPE_SCALING_NONE);
constexpr std::uint32_t linear = plain | mask(ROPE_SCALING_LINEAR);
constexpr std::uint32_t dynamic = mask(ROPE_SCALING_DYNAMIC);
constexpr std::uint32_t longrope = mask(ROPE_SCALING_LONGROPE);
constexpr std::uint32_t ntk = mask(ROPE_SCALING_NTK);

constexpr rope_capabilities base_claims(std::uint32_t more) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.features = more | mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_OFFSET,
                                ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
  return claims;
}

constexpr rope_capabilities computed(std::uint32_t scalings, std::uint32_t more) {
  rope_capabilities claims = base_claims(more);
  claims.angle_sources = mask(ROPE_COMPUTED);
  claims.scalings = scalings;
  claims.max_position = 1 << 20;
  return claims;
}

constexpr rope_capabilities with_f16(rope_capabilities claims) {
  claims.out_dtypes[ROPE_F16] = mask(ROPE_F16);
  return claims;
}

template <Bug bug>
constexpr rope_kernel table_rows(const char* name, const rope_capabilities& claims) {
  return kernel(name, "tables kept between calls, by all parameters", apply<bug>, claims);
}

constexpr rope_kernel kernels[] = {
    table_rows<Bug::none>("table_rows", with_f16(computed(linear | ntk | dynamic, partial | factor))),
    table_rows<Bug::none_map>("table_rows-map", with_f16(computed(linear | dynamic | longrope, partial | factor))),
    table_rows<Bug::key_head_dim>("table_rows/key-head-dim", with_f16(computed(plain, partial))),
    table_rows<Bug::key_without_scaling_factor>("table_rows/key-without-scaling-factor", computed(linear | ntk, 0)),
};

}  // namespace

Kernels table_rows_kernels() { return kernels; }

}  // namespace rope::designs::engines
