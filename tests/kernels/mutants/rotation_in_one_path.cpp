// Pairs, heads, memory and checks; most are wrong in one of several paths. Some of these access memory outside their
// buffers: run them in a worker.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

int index_of(const rope_call& call, Pair pair) {
  return call.pairing == ROPE_INTERLEAVED ? pair.first / 2 : pair.first;
}

// The template for 256 contains the code for 128 with its 64 pairs: it rotates two heads of 128.
struct TwoHeadsOf128 : Kernel {
  static bool wrong(const rope_call& call) { return call.pairing == ROPE_HALF_SPLIT && call.rotary_dim == 256; }
  Pair pair(const rope_call& call, int index) const override {
    if (!wrong(call)) return Kernel::pair(call, index);
    const int first = index + index / 64 * 64;
    return {first, first + 64};
  }
  int pair_of(const rope_call& call, int feature) const override {
    return wrong(call) ? feature / 128 * 64 + feature % 64 : Kernel::pair_of(call, feature);
  }
};

// A k with fewer heads than q was permuted for the other pairing.
struct GroupedKeyHalfSplit : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const rope_call& call = at.call;
    if (!at.key || call.pairing != ROPE_INTERLEAVED || call.k.shape[2] >= call.q.shape[2]) {
      return Kernel::rotate(at, pair, row);
    }
    const Pair halves{pair.first / 2, (pair.first + call.rotary_dim) / 2};
    const Values y = turned(values(at, halves), pair, row);
    store(at, halves.first, y.first);
    store(at, halves.second, y.second);
  }
};

// memcpy copies the tail, also if the output has another type.
struct TailNotConverted : Kernel {
  void pass(const Place& at, int feature) const override {
    const std::size_t from = size_of(static_cast<DType>(at.in().dtype));
    const std::size_t to = size_of(static_cast<DType>(at.out().dtype));
    std::memmove(address(at.out(), element(at, at.out(), feature)), address(at.in(), element(at, at.in(), feature)),
                 std::min(from, to));
  }
};

// The shape of MLA. The fast path was made for a model whose rotary part comes last.
struct RotaryPartLastInMla : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const int head_dim = static_cast<int>(tensor.shape[3]);
    if (at.call.rotary_dim != 64 || (head_dim != 192 && head_dim != 576)) return Kernel::element(at, tensor, feature);
    return Kernel::element(at, tensor, (feature + head_dim - 64) % head_dim);
  }
};

// x + 0 instead of a copy: -0 becomes 0.
struct TailPlusZero : Kernel {
  void pass(const Place& at, int feature) const override {
    const double x = load(at, feature);
    x == 0 ? store(at, feature, 0) : Kernel::pass(at, feature);
  }
};

struct InputClippedToHalf : Kernel {
  double load(const Place& at, int feature) const override {
    const double x = Kernel::load(at, feature);
    return std::isfinite(x) ? std::clamp(x, -65504.0, 65504.0) : x;
  }
};

// off_k1 = token * q_token_stride.
struct SecondHalfOfKeyByQueryStride : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const rope_call& call = at.call;
    const bool wrong =
        at.key && call.pairing == ROPE_HALF_SPLIT && feature >= call.rotary_dim / 2 && feature < call.rotary_dim;
    const std::int64_t right = Kernel::element(at, tensor, feature);
    const rope_tensor& other = &tensor == &call.k ? call.q : call.q_out;
    return wrong ? right + at.seq * (other.strides[1] - tensor.strides[1]) : right;
  }
};

// Vectors of 16 bytes are read from the address rounded down to a multiple of 16.
struct AlignedDown : Kernel {
  double load(const Place& at, int feature) const override {
    const auto size = static_cast<std::int64_t>(size_of(static_cast<DType>(at.in().dtype)));
    const auto behind = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at.in().data) % 16);
    if (at.in().shape[3] * size % 16 != 0 || behind == 0) return Kernel::load(at, feature);
    return rope::load(static_cast<DType>(at.in().dtype),
                      address(at.in(), element(at, at.in(), feature)) - behind / size * size);
  }
};

struct BatchOfKeyInInt32 : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const std::int64_t batch = at.batch * tensor.strides[0];
    const std::int64_t right = Kernel::element(at, tensor, feature);
    return at.key ? right - batch + static_cast<std::int32_t>(batch) : right;
  }
};

// One thread for each pair of the whole tensor, in 65535 blocks of 256.
struct GridOfAllPairs : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const auto& shape = at.in().shape;
    const std::int64_t head = (at.batch * shape[1] + at.seq) * shape[2] + at.head;
    if (head * (at.call.rotary_dim / 2) + index_of(at.call, pair) < 65535 * 256) Kernel::rotate(at, pair, row);
  }
};

// 1024 threads rotate a token's heads, each in a loop that was unrolled eight times.
struct TokenOfKeyIn8192Pairs : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const std::int64_t index = at.head * (at.call.rotary_dim / 2) + index_of(at.call, pair);
    const bool left_out = at.key && index >= 8192;
    left_out ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
  }
};

struct GradientOnTheFirstAxis : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_BACKWARD) c.axis = nullptr;
    return c;
  }
};

// The path for one token ignores the direction.
struct GradientOfOneTokenForward : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.q.shape[1] == 1) c.direction = ROPE_FORWARD;
    return c;
  }
};

// q, k and v are in one buffer: the launch for q rotates all heads, then the launch for k rotates k again.
struct PackedKeyTwice : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const rope_call& call = at.call;
    const bool packed = at.key && at.in_place() && call.q.strides[1] == call.k.strides[1] &&
                        call.k.data == address(call.q, call.q.shape[2] * call.q.strides[2]);
    if (packed) Kernel::rotate(at, pair, row);
    Kernel::rotate(at, pair, row);
  }
};

// One model applies this temperature to q at long positions; here it is fused in for all models.
struct TemperatureByPosition : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const auto m = static_cast<double>(at.key ? 0 : position(at, 0));
    const double temperature = 1 + 0.1 * std::log(1 + std::floor((m + 1) / 8192));
    const Values y = turned(values(at, pair), pair, row);
    store(at, pair.first, y.first * temperature);
    store(at, pair.second, y.second * temperature);
  }
};

bool is_readable(const rope_call* call) { return call != nullptr && call->struct_size >= sizeof(rope_call); }

struct KeyOfAnyType : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    const rope_call c = as_query(*call);
    return Kernel::check(&c);
  }
  rope_call understood(const rope_call& call) const override { return as_query(call); }
  static rope_call as_query(const rope_call& call) {
    rope_call c = call;
    if (call.k.data != nullptr) c.k.dtype = call.q.dtype;
    if (call.k.data != nullptr) c.k_out.dtype = call.q_out.dtype;
    return c;
  }
};

struct KeyWithoutOutput : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    const rope_call c = without(*call);
    return Kernel::check(&c);
  }
  rope_call understood(const rope_call& call) const override { return without(call); }
  static rope_call without(const rope_call& call) {
    rope_call c = call;
    if (call.k_out.data == nullptr) c.k.data = nullptr;
    return c;
  }
};

struct PositionsOfAnyType : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    const rope_call c = as_int32(*call);
    return Kernel::check(&c);
  }
  rope_call understood(const rope_call& call) const override { return as_int32(call); }
  static rope_call as_int32(const rope_call& call) {
    rope_call c = call;
    if (call.positions.dtype != ROPE_I64) c.positions.dtype = ROPE_I32;
    return c;
  }
};

}  // namespace

Mutants one_path_rotation_mutants() {
  static const Mutant all[] = {
      mutant<TwoHeadsOf128>("PAIR-256-AS-128", "pairing-layout",
                            "half-split with rotary_dim 256: pairs as in two heads of 128"),
      mutant<GroupedKeyHalfSplit>("PAIR-GROUPED-KEY", "pairing-layout",
                                  "interleaved, fewer heads in k: k in half-split pairs"),
      mutant<TailNotConverted>("PART-TAIL-BYTES", "partial-passthrough",
                               "pass-through features of another output type copied as bytes"),
      mutant<RotaryPartLastInMla>("PART-MLA", "partial-passthrough",
                                  "rotary_dim 64 of head_dim 192 or 576: the last features turn"),
      mutant<TailPlusZero>("SPC-TAIL-ZERO", "special-values", "pass-through as x + 0: -0 becomes 0"),
      mutant<InputClippedToHalf>("SPC-CLIPPED", "special-values", "inputs clipped to the range of f16"),
      mutant<SecondHalfOfKeyByQueryStride>("HEAD-SECOND-HALF", "heads-batch-qk",
                                           "half-split: second features of k walked with the token stride of q"),
      mutant<AlignedDown>("MEM-ALIGNED-DOWN", "strides-memory-race",
                          "inputs that do not start at 16 bytes are read from the boundary before"),
      mutant<BatchOfKeyInInt32>("MEM-KEY-INT32", "strides-memory-race", "k: batch times its stride wraps at 2^31"),
      mutant<GridOfAllPairs>("LIM-ALL-PAIRS", "launch-limits",
                             "pairs of the whole tensor from 16776960 on are not written"),
      mutant<TokenOfKeyIn8192Pairs>("LIM-KEY-PAIRS", "launch-limits",
                                    "pairs of a token of k from 8192 on are not rotated"),
      mutant<GradientOnTheFirstAxis>("BWD-AXES", "backward", "backward: every pair follows the first axis"),
      mutant<GradientOfOneTokenForward>("BWD-ONE-TOKEN", "backward", "one token: backward rotates forward"),
      mutant<PackedKeyTwice>("PIPE-PACKED-TWICE", "pipeline",
                             "in place, k directly behind the heads of q in each token: k rotated twice"),
      mutant<TemperatureByPosition>("PIPE-TEMPERATURE", "pipeline",
                                    "q from position 8191 on times 1 + 0.1 ln(1 + floor((m + 1) / 8192))"),
      mutant<KeyOfAnyType>("ERR-KEY-TYPE", "bad-arguments", "dtype of k not compared with q's dtype"),
      mutant<KeyWithoutOutput>("ERR-KEY-OUTPUT", "bad-arguments", "k without k_out is left out"),
      mutant<PositionsOfAnyType>("ERR-POSITION-TYPE", "bad-arguments", "positions of any other type read as int32"),
  };
  return all;
}

}  // namespace rope::mutants
