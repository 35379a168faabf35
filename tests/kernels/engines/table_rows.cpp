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
#include "tests/kernels/engines/engine.hpp"

namespace rope::styles::engines {
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
  rows_of_first_type,
  new_rows_from_zero,
  tables_by_address,
  slot_keeps_rows,
  longest_length_seen,
  longrope_length_not_in_key,
  key_without_attention_factor,
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
  void grow(std::int64_t want, Bug bug) {
    const std::int64_t before = rows;
    const std::int64_t width = static_cast<std::int64_t>(theta.size()) * 2;
    rows = std::min(
        most_rows(width),
        std::max<std::int64_t>(64, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(want)))));
    cs.resize(static_cast<std::size_t>(rows * width));
    for (std::int64_t m = before; m < rows; ++m) {
      row(bug == Bug::new_rows_from_zero ? m - before : m, cs.data() + m * width);
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
  if (bug != Bug::key_without_attention_factor) add(key, c.attention_factor);
  add(key, c.scaling.kind);
  if (bug != Bug::key_without_scaling_factor) add(key, c.scaling.factor);
  add(key, c.scaling.original_max_position);
  if (bug != Bug::rows_of_first_type) add(key, c.q.dtype);
  if (c.scaling.kind == ROPE_SCALING_DYNAMIC && bug != Bug::longrope_length_not_in_key) add(key, length);
  if (c.scaling.kind == ROPE_SCALING_LONGROPE) {
    const bool is_long = static_cast<double>(length) > c.scaling.original_max_position;
    if (bug != Bug::longrope_length_not_in_key) add(key, is_long);
    const double* values =
        is_long && bug != Bug::longrope_length_not_in_key ? c.scaling.long_factor : c.scaling.short_factor;
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
  larger->grow(want, bug);
  return larger;
}

template <Bug bug>
Held find(const rope_call& c, std::int64_t want) {
  Store<bug>& s = store<bug>();
  const std::lock_guard<std::mutex> hold(s.lock);
  std::int64_t length = c.sequence_length;
  if (bug == Bug::longest_length_seen) length = s.longest = std::max(s.longest, length);
  const std::string key = key_of(c, length, bug);
  if (bug == Bug::none_map) {
    auto at = s.tables.find(key);
    if (at == s.tables.end()) {
      if (s.tables.size() >= 32) s.tables.clear();
      at = s.tables.emplace(key, fresh(c, length, bug)).first;
    }
    return at->second = with_rows<bug>(at->second, want);
  }
  if (bug == Bug::slot_keeps_rows) {
    for (Slot& slot : s.slots) {
      if (slot.table && slot.key == key) return slot.table = with_rows<bug>(slot.table, want);
    }
    Slot& slot = s.slots[s.next++ % 4];
    slot.key = key;
    auto t = fresh(c, length, bug);
    if (slot.table && slot.table->theta.size() == t->theta.size()) {  // keep the allocation
      t->rows = slot.table->rows;
      t->cs = slot.table->cs;
    }
    return slot.table = with_rows<bug>(t, want);
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

// The rows have f16 values if the call that built them was f16.
void rotate_typed(const rope_call& c) {
  static std::mutex lock;
  static std::string key;
  static std::vector<float> cs;
  static std::int64_t rows;
  const std::int64_t width = c.rotary_dim;
  Table table;
  table.theta = frequencies(c, c.sequence_length, width / 2);
  const std::lock_guard<std::mutex> hold(lock);
  const std::string mine = key_of(c, c.sequence_length, Bug::rows_of_first_type);
  const std::int64_t want = largest_below(c, most_rows(width)) + 1;
  if (mine != key || rows < want) {
    key = mine;
    rows = want;
    cs.resize(static_cast<std::size_t>(rows * width));
    for (std::int64_t m = 0; m < rows; ++m) table.row(m, cs.data() + m * width);
    if (c.q.dtype == ROPE_F16) {
      for (float& v : cs) v = static_cast<float>(static_cast<Float16>(v));
    }
  }
  std::vector<float> own(static_cast<std::size_t>(width));
  for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < c.q.shape[1]; ++s) {
      const std::int64_t m = position_of(c.positions, b, s);
      if (m >= rows) table.row(m, own.data());
      token(c, b, s, m < rows ? cs.data() + m * width : own.data());
    }
  }
}

// The caller's tables are widened and interleaved once, and found again by their addresses.
void rotate_given(const rope_call& c) {
  struct Woven {
    const void* cos;
    const void* sin;
    std::int64_t rows;
    std::int64_t stride;
    std::int32_t width;
    std::int32_t dtype;
    std::vector<float> cs;
  };
  static std::mutex lock;
  static Woven held{};
  const std::int64_t half = c.rotary_dim / 2;
  const rope_table& t = c.table;
  const std::lock_guard<std::mutex> hold(lock);
  if (held.cos != t.cos || held.sin != t.sin || held.rows != t.rows || held.stride != t.row_stride ||
      held.width != t.width || held.dtype != t.dtype) {
    held = {t.cos, t.sin, t.rows, t.row_stride, t.width, t.dtype, {}};
    held.cs.resize(static_cast<std::size_t>(t.rows * 2 * half));
    const auto value = [&](const void* from, std::int64_t i) {
      if (t.dtype == ROPE_F32) return static_cast<const float*>(from)[i];
      return widen(static_cast<const Bfloat16*>(from)[i]);
    };
    for (std::int64_t m = 0; m < t.rows; ++m) {
      for (std::int64_t p = 0; p < half; ++p) {
        held.cs[static_cast<std::size_t>(2 * (m * half + p))] = value(t.cos, m * t.row_stride + p);
        held.cs[static_cast<std::size_t>(2 * (m * half + p) + 1)] = value(t.sin, m * t.row_stride + p);
      }
    }
  }
  for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < c.q.shape[1]; ++s) {
      const float* cs = held.cs.data() + position_of(c.positions, b, s) * 2 * half;
      token(c, b, s, cs);
    }
  }
}

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call] {
    if constexpr (bug == Bug::tables_by_address) {
      rotate_given(*call);
    } else if constexpr (bug == Bug::rows_of_first_type) {
      rotate_typed(*call);
    } else {
      rotate<bug>(*call);
    }
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

constexpr rope_capabilities given_tables(std::uint32_t more) {
  rope_capabilities claims = base_claims(more);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.table_dtypes = mask(ROPE_F32, ROPE_BF16);
  claims.half_tables = 1;
  claims.max_position = INT32_MAX;
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
    table_rows<Bug::rows_of_first_type>("table_rows/rows-of-first-type", with_f16(computed(linear, 0))),
    table_rows<Bug::new_rows_from_zero>("table_rows/new-rows-from-zero", computed(linear, 0)),
    table_rows<Bug::tables_by_address>("table_rows/tables-by-address", given_tables(partial)),
    table_rows<Bug::slot_keeps_rows>("table_rows/slot-keeps-rows", computed(linear, 0)),
    table_rows<Bug::longest_length_seen>("table_rows/longest-length-seen",
                                         with_f16(computed(plain | dynamic, partial))),
    table_rows<Bug::longrope_length_not_in_key>("table_rows/longrope-length-not-in-key", computed(plain | longrope, 0)),
    table_rows<Bug::key_without_attention_factor>("table_rows/key-without-attention-factor",
                                                  with_f16(computed(linear, factor))),
};

}  // namespace

Kernels table_rows_kernels() { return kernels; }

}  // namespace rope::styles::engines
