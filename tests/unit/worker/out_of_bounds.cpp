// Kernels that are right except for one access: they read or write one element before or past a tensor. There is one
// for every tensor that a call may have. Their names are VERB_SIDE_TENSOR, for example write_past_k_out.
#include <cstdint>
#include <string>
#include <vector>

#include "impls/builtin.hpp"

namespace rope {
namespace {

enum class Which { q, k, q_out, k_out, positions, cos, sin, theta, axis };

struct Extent {
  const void* data;
  std::int64_t size;  // bytes of an element
  std::int64_t low = 0;
  std::int64_t high = 0;  // the last element

  void add(std::int64_t count, std::int64_t stride) { (stride < 0 ? low : high) += (count - 1) * stride; }
};

std::int64_t size_of(std::int32_t dtype) {
  if (dtype == ROPE_F64 || dtype == ROPE_I64) return 8;
  return dtype == ROPE_F32 || dtype == ROPE_I32 ? 4 : 2;
}

Extent extent(const rope_tensor& tensor) {
  Extent result{tensor.data, size_of(tensor.dtype)};
  for (int d = 0; d < 4; ++d) result.add(tensor.shape[d], tensor.strides[d]);
  return result;
}

Extent extent(const rope_call& call, Which which) {
  const std::int64_t pairs = call.rotary_dim / 2;
  switch (which) {
    case Which::q: return extent(call.q);
    case Which::k: return extent(call.k);
    case Which::q_out: return extent(call.q_out);
    case Which::k_out: return extent(call.k_out);
    case Which::positions: {
      const rope_positions& given = call.positions;
      Extent result{given.data, size_of(given.dtype)};
      result.add(given.axes, given.axis_stride);
      result.add(call.q.shape[0], given.batch_stride);
      result.add(call.q.shape[1], given.seq_stride);
      return result;
    }
    case Which::cos:
    case Which::sin: {
      Extent result{which == Which::cos ? call.table.cos : call.table.sin, size_of(call.table.dtype)};
      result.add(call.table.rows, call.table.row_stride);
      result.add(call.table.width, 1);
      return result;
    }
    case Which::theta: return {call.theta, size_of(call.theta_dtype), 0, pairs - 1};
    case Which::axis: return {call.axis, 4, 0, pairs - 1};
  }
  return {};
}

const rope_kernel& right() { return half_split_kernel(); }

template <Which which, bool write, bool past>
std::int32_t apply(const rope_call* call) {
  const Extent place = extent(*call, which);
  const bool empty = call->q.shape[0] == 0 || call->q.shape[1] == 0;
  if (place.data != nullptr && !empty) {
    const std::int64_t index = past ? place.high + 1 : place.low - 1;
    auto* bytes = const_cast<volatile char*>(static_cast<const volatile char*>(place.data)) + index * place.size;
    for (std::int64_t i = 0; i < place.size; ++i) {
      if (write) {
        bytes[i] = 1;
      } else {
        static_cast<void>(bytes[i]);
      }
    }
  }
  return right().apply(call);
}

struct Deed {
  std::string name;
  std::int32_t (*apply)(const rope_call*);
};

template <Which which>
void add_deeds(std::vector<Deed>& deeds, const std::string& tensor) {
  deeds.push_back({"read_past_" + tensor, apply<which, false, true>});
  deeds.push_back({"read_before_" + tensor, apply<which, false, false>});
  deeds.push_back({"write_past_" + tensor, apply<which, true, true>});
  deeds.push_back({"write_before_" + tensor, apply<which, true, false>});
}

struct Library {
  Library() {
    add_deeds<Which::q>(deeds, "q");
    add_deeds<Which::k>(deeds, "k");
    add_deeds<Which::q_out>(deeds, "q_out");
    add_deeds<Which::k_out>(deeds, "k_out");
    add_deeds<Which::positions>(deeds, "positions");
    add_deeds<Which::cos>(deeds, "cos");
    add_deeds<Which::sin>(deeds, "sin");
    add_deeds<Which::theta>(deeds, "theta");
    add_deeds<Which::axis>(deeds, "axis");
    for (const Deed& deed : deeds) {
      rope_kernel kernel = right();
      kernel.name = deed.name.c_str();
      kernel.apply = deed.apply;
      kernels.push_back(kernel);
    }
  }
  std::vector<Deed> deeds;
  std::vector<rope_kernel> kernels;
};

const Library& library() {
  static const Library made;
  return made;
}

}  // namespace
}  // namespace rope

extern "C" std::uint32_t rope_kernel_count() { return static_cast<std::uint32_t>(rope::library().kernels.size()); }
extern "C" const rope_kernel* rope_kernel_get(std::uint32_t index) {
  return index < rope_kernel_count() ? &rope::library().kernels[index] : nullptr;
}
