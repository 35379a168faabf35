#include "tools/judge/case/build_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "golden/input_generator.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/case/case_tables.hpp"
#include "tools/judge/case/counted_values.hpp"
#include "tools/judge/case/poison.hpp"

namespace rope {
namespace {

// Neighbouring indices of the dimension are more than 2^31 elements apart, so the third is beyond 2^32. The distance is
// a multiple of neither, so that an index cut to 32 bits does not hit a row.
constexpr std::int64_t distance = (std::int64_t{1} << 31) + 3079;

std::vector<std::int64_t> placed_strides(const std::vector<std::int64_t>& shape, std::size_t dimension) {
  std::vector<std::int64_t> strides{0, 0, 0, 1};
  std::int64_t packed = shape[3];
  for (std::size_t i = 3; i-- > 0;) {
    strides[i] = i == dimension ? distance : packed;
    if (i != dimension) packed *= shape[i];
  }
  return strides;
}

// The layout of q, or of k.
Layout of_tensor(Layout layout, bool key) {
  if (layout == Layout::key_strided) return key ? Layout::strided : Layout::contiguous;
  return layout == Layout::angles_strided ? Layout::contiguous : layout;
}

// The layout of positions and tables.
Layout of_angles(Layout layout) {
  switch (layout) {
    case Layout::key_strided:
    case Layout::cached:
    case Layout::heads_first:
    case Layout::loose_strides: return Layout::contiguous;
    case Layout::angles_strided: return Layout::strided;
    default: return layout;
  }
}

// All of its memory is a multiple of the unit, so the address does not depend on which of its ends lies against a page.
void put_at(Tensor& tensor, int address, std::byte gap) {
  constexpr std::size_t unit = address_unit;
  const std::size_t size = size_of(tensor.dtype);
  tensor.origin = address / static_cast<std::int64_t>(size);
  const std::size_t used = (static_cast<std::size_t>(tensor.origin) + static_cast<std::size_t>(tensor.count())) * size;
  tensor.bytes.assign((used + unit - 1) / unit * unit, gap);
}

// Strides of [batch, seq, heads, head_dim] in elements. The paddings are odd, so that rows of 16-bit types are not
// aligned by luck, and differ between q and k.
Tensor laid_out(DType dtype, const std::vector<std::int64_t>& shape, Layout of_all, bool key, std::byte gap,
                int address, TensorMemory* memory) {
  const Layout layout = of_tensor(of_all, key);
  Tensor tensor = Tensor::without_bytes(dtype, shape);
  const auto without_gaps = [&] {
    tensor.renew(static_cast<std::size_t>(tensor.count()) * size_of(dtype), memory);
    return tensor;
  };
  if (layout == Layout::contiguous && address >= 0) {
    put_at(tensor, address, gap);
    return tensor;
  }
  if (is_contiguous(layout) && layout != Layout::shifted && layout != Layout::loose_strides) return without_gaps();
  if (layout == Layout::packed || layout == Layout::distant_rows) return without_gaps();
  if (const std::optional<std::size_t> dimension = distant_dimension(layout)) {
    tensor.placed_strides = placed_strides(shape, *dimension);
    return without_gaps();
  }
  const std::int64_t dim = shape[3];
  if (layout == Layout::loose_strides) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (shape[i] == 1) tensor.strides[i] = 2 * tensor.strides[i] + 1;
    }
    return without_gaps();
  }
  if (layout == Layout::cached) {
    tensor.strides[0] += (key ? 2 : 3) * tensor.strides[1];
  } else if (layout == Layout::strided) {
    const std::int64_t head = dim + (key ? 9 : 5);
    const std::int64_t seq = shape[2] * head + 7;
    tensor.strides = {shape[1] * seq + 11, seq, head, 1};
    tensor.origin = 3;
  } else if (layout == Layout::reversed) {
    const std::int64_t head = 2 * dim + (key ? 3 : 1);
    const std::int64_t seq = shape[2] * head;
    tensor.strides = {-shape[1] * seq, -seq, -head, -2};
    for (std::size_t i = 0; i < 4; ++i) tensor.origin -= std::max<std::int64_t>(shape[i] - 1, 0) * tensor.strides[i];
  } else if (layout == Layout::shifted) {
    tensor.origin = 1;
  } else if (layout == Layout::expanded) {
    tensor.strides = {0, dim, 0, 1};
  } else {
    const std::int64_t head = shape[1] * dim;
    tensor.strides = {shape[2] * head, dim, head, 1};
  }
  std::int64_t last = tensor.origin;
  for (std::size_t i = 0; i < 4; ++i) {
    last += std::max<std::int64_t>(shape[i] - 1, 0) * std::max<std::int64_t>(tensor.strides[i], 0);
  }
  // A shifted tensor has another element behind it. So it does not begin at an aligned address when it ends with a
  // page.
  const std::int64_t tail = layout == Layout::strided ? 9 : layout == Layout::shifted ? 2 : 1;
  const std::size_t size = static_cast<std::size_t>(last + tail) * size_of(dtype);
  std::fill_n(tensor.renew(size, memory), size, gap);
  return tensor;
}

// The value of a feature, from the generator's value for it.
double input_value(const Case& c, double drawn, bool of_lonely_pair, bool first_feature) {
  switch (c.input) {
    // The generator's values are below 2^4.
    case InputKind::huge:
      return drawn * std::exp2(std::ilogb(std::min(largest_finite(c.dtype), largest_finite(c.out_dtype))) - 5);
    case InputKind::subnormal: return drawn * smallest_subnormal(c.dtype) / unit_roundoff(c.dtype) / 32;
    case InputKind::zero: return 0;
    case InputKind::counted_first:
    case InputKind::counted_second:
    case InputKind::products_first:
    case InputKind::products_second: return 0;  // the other feature: put_counted()
    case InputKind::unit: return first_feature ? 1 : 0;
    case InputKind::spread:
    case InputKind::constant:
    case InputKind::repeated: return drawn;
    case InputKind::lonely: return of_lonely_pair ? drawn : drawn * 1024;
  }
  return 0;
}

// Whether its memory is the rows, one after the other.
bool has_rows_in_order(const Tensor& t) {
  const std::int64_t dim = t.shape[3], token = t.shape[2] * dim;
  return t.origin == 0 && t.bytes.size() == static_cast<std::size_t>(t.count()) * size_of(t.dtype) &&
         t.strides[3] == 1 && t.strides[2] == dim && t.strides[1] == token && t.strides[0] == t.shape[1] * token;
}

Tensor input_tensor(const Case& c, int heads, std::uint64_t seed, bool key, TensorMemory* memory) {
  const int address = key ? c.output_address : c.address;
  Tensor tensor = laid_out(c.dtype, {c.batch, c.seq, heads, c.spec.head_dim}, c.layout, key,
                           c.in_place ? canary : input_canary, address, c.in_place ? nullptr : memory);
  const int half = c.spec.rotary_dim / 2;
  const std::size_t size = size_of(c.dtype);
  if (is_counted(c.input) && c.spec.rotary_dim == c.spec.head_dim && has_rows_in_order(tensor)) {
    tensor.bytes.assign(tensor.bytes.size(), std::byte{0});
    for_each_row(tensor, [&](const RowIndex& row, std::byte* data) { put_counted(c, row, tensor, data); });
    return tensor;  // nothing is drawn
  }
  if (c.input == InputKind::spread && has_rows_in_order(tensor)) {
    generate_input(seed, c.dtype, tensor.bytes);
    return tensor;
  }
  const auto dim = static_cast<std::size_t>(c.spec.head_dim);
  std::size_t count = static_cast<std::size_t>(tensor.count());
  if (c.input == InputKind::repeated) count = std::min(count, repeated_rows * dim);
  const std::vector<std::byte> drawn = generate_input(seed, count, c.dtype);
  const bool as_drawn =
      c.input == InputKind::spread || c.input == InputKind::constant || c.input == InputKind::repeated;
  std::vector<double> values(dim);
  std::size_t index = 0;
  for_each_row(tensor, [&](const RowIndex& row, std::byte* data) {
    if (c.input == InputKind::constant) index = static_cast<std::size_t>(row.head) * dim;
    if (index == count) index = 0;  // the rows repeat
    const std::byte* of_row = drawn.data() + index * size;
    index += dim;
    if (as_drawn && tensor.strides[3] == 1) {
      std::memcpy(data, of_row, dim * size);
      return;
    }
    // The lonely pair: a different one in each row.
    const auto lonely = static_cast<int>((row.seq * 7 + row.head * 3 + row.batch) % std::max(half, 1));
    load(c.dtype, of_row, 1, dim, values.data());
    for (int feature = 0; feature < c.spec.head_dim; ++feature) {
      const int j = feature - c.spec.rotary_offset;
      const bool turns = j >= 0 && j < c.spec.rotary_dim, split = c.spec.pairing == Pairing::half_split;
      const int pair = split ? j % half : j / 2;
      const bool first = !turns || (split ? j < half : j % 2 == 0);
      double& value = values[static_cast<std::size_t>(feature)];
      if (is_counted(c.input) && !turns) continue;
      value = input_value(c, value, turns && pair == lonely, first);
    }
    store(c.dtype, data, tensor.strides[3], dim, values.data());
    if (is_counted(c.input)) put_counted(c, row, tensor, data);
  });
  return tensor;
}

// Puts q and k, or their outputs, into one memory.
void pack_together(Tensor& q, std::optional<Tensor>& k) {
  if (!k || k->shape[2] == 0) return;
  const std::int64_t seq = (q.shape[2] + 2 * k->shape[2]) * q.shape[3];
  q.placed_strides = k->placed_strides = {q.shape[1] * seq, seq, q.shape[3], 1};
  k->behind_q = q.shape[2] * q.shape[3];
}

Layout output_layout(const Case& c) {
  switch (c.output) {
    case OutputLayout::as_input: return c.layout == Layout::expanded ? Layout::contiguous : c.layout;
    case OutputLayout::contiguous: return Layout::contiguous;
    case OutputLayout::strided: return Layout::strided;
    case OutputLayout::key_strided: return Layout::key_strided;
    case OutputLayout::shifted: return Layout::shifted;
    case OutputLayout::reversed: return Layout::reversed;
  }
  return c.layout;
}

Tensor output_tensor(const Case& c, int heads, bool key) {
  const Layout layout = output_layout(c);
  Tensor tensor = laid_out(c.out_dtype, {c.batch, c.seq, heads, c.spec.head_dim}, layout, key, canary,
                           key ? c.address : c.output_address, nullptr);
  fill_with_poison(tensor, key ? ~c.seed : c.seed);
  return tensor;
}

// Shared positions have a batch stride of 0. Strided tensors come with gaps behind positions, batches and axes. Tensors
// with heads before tokens come with a token's coordinates side by side, and its batches behind them.
Tensor position_tensor(const Case& c) {
  const bool per_batch = c.form == PositionForm::per_batch;
  const std::int64_t axes = c.spec.axes.count(), rows = per_batch ? c.batch : 1;
  Tensor tensor = Tensor::contiguous(c.position_dtype, {axes, rows, c.seq});
  const Layout layout = of_angles(c.layout);
  if (layout == Layout::strided) {
    const std::int64_t row = 2 * std::int64_t{c.seq} + 3;
    tensor.strides = {rows * row + 5, row, 2};
  } else if (layout == Layout::seq_last) {
    tensor.strides = {1, axes, axes * rows};
  }
  std::int64_t last = 0;
  for (std::size_t i = 0; i < 3; ++i) last += std::max<std::int64_t>(tensor.shape[i] - 1, 0) * tensor.strides[i];
  tensor.bytes.assign(static_cast<std::size_t>(tensor.count() == 0 ? 0 : last + 1) * size_of(c.position_dtype),
                      input_canary);
  const std::vector<std::int64_t> all = positions(c);
  const auto batches = static_cast<std::size_t>(c.batch);
  const auto seq = static_cast<std::size_t>(c.seq);
  for (std::size_t a = 0; a < static_cast<std::size_t>(c.spec.axes.count()); ++a) {
    for (std::size_t b = 0; b < (per_batch ? batches : std::min<std::size_t>(batches, 1)); ++b) {
      for (std::size_t s = 0; s < seq; ++s) {
        const std::int64_t value = all[(a * batches + b) * seq + s];
        const std::int64_t at = static_cast<std::int64_t>(a) * tensor.strides[0] +
                                static_cast<std::int64_t>(b) * tensor.strides[1] +
                                static_cast<std::int64_t>(s) * tensor.strides[2];
        store_integer(tensor, at, value);
      }
    }
  }
  if (!per_batch) tensor.strides[1] = 0;
  return tensor;
}

Tensor integers(DType dtype, const std::vector<std::int64_t>& values) {
  Tensor tensor = Tensor::contiguous(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) store_integer(tensor, static_cast<std::int64_t>(i), values[i]);
  return tensor;
}

void give_tables(const Case& c, Call& call, Oracles& oracles, TensorMemory* memory) {
  const std::int64_t rows = largest_position(c) + 1 + c.spare_rows;
  if (is_of_products(c.input) && size_of(c.given) == 2) {
    call.cos = call.sin = counted_table(c, rows);
    return;
  }
  // Strided tensors come with tables whose rows are padded too.
  std::tie(call.cos, call.sin) = case_tables(c, of_angles(c.layout) == Layout::strided, rows, oracles, memory);
  if (c.layout == Layout::distant_rows) call.cos->placed_strides = call.sin->placed_strides = {distance, 1};
}

void give_frequencies(const Case& c, Call& call, Oracles& oracles) {
  const RotationPlan& plan = oracles.of(c.spec, sequence_length(c)).plan();
  call.theta = Tensor::contiguous(c.given, {c.spec.rotary_dim / 2});
  for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
    store(c.given, call.theta->bytes.data() + p * size_of(c.given), plan.pairs[p].theta.to_double());
  }
}

}  // namespace

Call build_call(const Case& c, Oracles& oracles, TensorMemory* memory) {
  Call call;
  call.q = input_tensor(c, c.heads, c.seed, false, memory);
  if (c.key_heads > 0) call.k = input_tensor(c, c.key_heads, c.seed + 0x9E3779B9u, true, memory);
  if (c.layout == Layout::packed) pack_together(call.q, call.k);
  call.in_place = c.in_place;
  if (!c.in_place) {
    call.q_out = output_tensor(c, c.heads, false);
    if (call.k) call.k_out = output_tensor(c, c.key_heads, true);
    if (output_layout(c) == Layout::packed) pack_together(*call.q_out, call.k_out);
  }
  call.axes = c.spec.axes.count();
  if (gives_positions(c.form)) {
    call.positions = position_tensor(c);
  } else if (gives_starts(c.form)) {
    call.seqlen_offsets = integers(c.position_dtype, sequence_starts(c));
  } else {
    call.position_offset = c.start;
  }
  if (is_packed(c.form)) call.cu_seqlens = integers(DType::i32, packed_borders(c));
  call.sequence_length = sequence_length(c);
  call.rotary_dim = c.spec.rotary_dim;
  call.rotary_offset = c.spec.rotary_offset;
  call.pairing = c.spec.pairing;
  call.direction = c.direction;
  call.source = c.source;
  call.attention_factor = oracles.of(c.spec, sequence_length(c)).plan().lambda;
  if (call.axes > 1) {
    const std::vector<int> axis = axis_of_pairs(c.spec);
    // Left out if its absence means the same.
    if (std::ranges::any_of(axis, [](int a) { return a != 0; })) {
      call.axis = Tensor::contiguous(DType::i32, {static_cast<std::int64_t>(axis.size())});
      std::memcpy(call.axis->bytes.data(), axis.data(), axis.size() * sizeof(int));
    }
  }
  if (c.source == AngleSource::tables) give_tables(c, call, oracles, memory);
  if (c.source == AngleSource::frequencies) give_frequencies(c, call, oracles);
  if (c.source == AngleSource::computed) {
    call.base = c.spec.base;
    call.scaling = c.spec.scaling;
  }
  return call;
}

}  // namespace rope
