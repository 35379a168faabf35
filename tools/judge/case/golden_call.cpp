#include "tools/judge/case/golden_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reference/input_error.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/case/poison.hpp"

namespace rope {
namespace {

const GoldenArray& array_called(const GoldenCase& golden, std::string_view name) {
  const GoldenArray* array = golden.find(name);
  if (array == nullptr) throw InputError(fmt::format("golden case {}: it has no array {}", golden.id, name));
  return *array;
}

// The bytes as [batch, seq, heads, head_dim], contiguous, from any order of the source.
Tensor in_contract_order(const Manifest& manifest, const GoldenCase& golden, const GoldenArray& array) {
  const NpyArray stored = load(manifest, golden, array);
  std::vector<std::int64_t> strides(4, 1);
  for (std::size_t i = 3; i-- > 0;) strides[i] = strides[i + 1] * array.shape[i + 1];
  std::vector<std::int64_t> shape;
  std::int64_t step[4] = {};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto axis = static_cast<std::size_t>(golden.axis_of[i]);
    shape.push_back(array.shape[axis]);
    step[i] = strides[axis];
  }
  Tensor tensor = Tensor::contiguous(array.dtype, shape);
  const std::size_t size = size_of(array.dtype);
  for_each_row(tensor, [&](const RowIndex& row, std::byte* data) {
    for (std::int64_t j = 0; j < shape[3]; ++j) {
      const std::int64_t from = row.batch * step[0] + row.seq * step[1] + row.head * step[2] + j * step[3];
      std::memcpy(data + static_cast<std::size_t>(j) * size,
                  stored.bytes.data() + static_cast<std::size_t>(from) * size, size);
    }
  });
  return tensor;
}

// Axes whose frequencies restart are ropes of their own, each with its share of the features. The contract's computed
// angles know no restart. So the axes are laid along the batch: sequence a * batch + b has axis a's features and its
// positions. That needs shares of one size, and no other features.
bool is_unfolded(const GoldenCase& golden, AngleSource source) {
  const std::vector<int>& sections = golden.spec.axes.sections;
  return source == AngleSource::computed && golden.spec.axes.restart &&
         golden.spec.rotary_dim == golden.spec.head_dim &&
         std::all_of(sections.begin(), sections.end(), [&](int pairs) { return pairs == sections.front(); });
}

// The features of a head, axis after axis, laid along the batch.
Tensor unfolded(const Tensor& whole, const RopeSpec& spec) {
  const auto axes = static_cast<std::int64_t>(spec.axes.sections.size());
  const std::int64_t share = whole.shape[3] / axes, batch = whole.shape[0];
  Tensor tensor = Tensor::contiguous(whole.dtype, {axes * batch, whole.shape[1], whole.shape[2], share});
  const std::size_t size = size_of(whole.dtype);
  const std::byte* from = whole.bytes.data();
  for_each_row(tensor, [&](const RowIndex& row, std::byte* data) {
    const std::int64_t axis = row.batch / batch, b = row.batch % batch;
    const std::int64_t start = ((b * whole.shape[1] + row.seq) * whole.shape[2] + row.head) * whole.shape[3];
    for (std::int64_t j = 0; j < share; ++j) {
      const bool split = spec.pairing == Pairing::half_split;
      const std::int64_t half = split ? j / (share / 2) : 0, within = split ? j % (share / 2) : j;
      const std::int64_t feature = half * (whole.shape[3] / 2) + axis * (split ? share / 2 : share) + within;
      std::memcpy(data + static_cast<std::size_t>(j) * size, from + static_cast<std::size_t>(start + feature) * size,
                  size);
    }
  });
  return tensor;
}

Tensor as_stored(const Manifest& manifest, const GoldenCase& golden, const GoldenArray& array,
                 const std::vector<std::int64_t>& shape) {
  Tensor tensor = Tensor::contiguous(array.dtype, shape);
  tensor.bytes = load(manifest, golden, array).bytes;
  return tensor;
}

// Takes the column of each pair's first feature from a full-width table.
Tensor one_column_a_pair(const Tensor& full, const RopeSpec& spec) {
  const std::int64_t pairs = spec.rotary_dim / 2;
  Tensor half = Tensor::contiguous(full.dtype, {full.shape[0], pairs});
  const auto size = static_cast<std::int64_t>(size_of(full.dtype));
  for (std::int64_t row = 0; row < full.shape[0]; ++row) {
    for (std::int64_t p = 0; p < pairs; ++p) {
      const std::int64_t first = spec.pairing == Pairing::half_split ? p : 2 * p;
      std::memcpy(half.data() + (row * pairs + p) * size, full.data() + (row * full.shape[1] + first) * size,
                  static_cast<std::size_t>(size));
    }
  }
  return half;
}

// The source gathers one table row per token; the contract has one per position. So tokens are numbered, and the number
// is the position: each token keeps the rows that the source gave it.
void give_token_tables(const Case& c, const Manifest& manifest, const GoldenCase& golden, Call& call) {
  const GoldenArray& cosine = array_called(golden, "cos");
  const std::int64_t rows = cosine.shape[0] * cosine.shape[1];
  call.cos = as_stored(manifest, golden, cosine, {rows, cosine.shape[2]});
  call.sin = as_stored(manifest, golden, array_called(golden, "sin"), {rows, cosine.shape[2]});
  if (!c.full_tables && cosine.shape[2] == c.spec.rotary_dim) {
    call.cos = one_column_a_pair(*call.cos, c.spec);
    call.sin = one_column_a_pair(*call.sin, c.spec);
  }
  call.attention_factor = golden.tables_include_attention_factor ? 1 : golden.attention_factor;
  if (!gives_positions(c.form)) return;  // one row of tables for all batches: offset 0
  call.positions = Tensor::contiguous(DType::i64, {1, cosine.shape[0], c.seq});
  if (cosine.shape[0] == 1) call.positions->strides[1] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::memcpy(call.positions->bytes.data() + static_cast<std::size_t>(i) * sizeof i, &i, sizeof i);
  }
}

void give_unfolded_positions(const Manifest& manifest, const GoldenCase& golden, std::int64_t batch, Call& call) {
  const GoldenArray& array = array_called(golden, "positions");  // [axes, batch or 1, seq]
  const NpyArray stored = load(manifest, golden, array);
  const std::int64_t seq = array.shape[2], each = batch / array.shape[0];
  call.positions = Tensor::contiguous(array.dtype, {1, batch, seq});
  const std::size_t row = static_cast<std::size_t>(seq) * size_of(array.dtype);
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t from = i / each * array.shape[1] + (array.shape[1] == 1 ? 0 : i % each);
    std::memcpy(call.positions->bytes.data() + static_cast<std::size_t>(i) * row,
                stored.bytes.data() + static_cast<std::size_t>(from) * row, row);
  }
}

void give_positions(const Case& c, const Manifest& manifest, const GoldenCase& golden, Call& call) {
  if (!gives_positions(c.form)) {
    call.position_offset = *golden.position_offset;
    return;
  }
  const GoldenArray& array = array_called(golden, "positions");
  call.positions = as_stored(manifest, golden, array, array.shape);
  if (array.shape[1] == 1) call.positions->strides[1] = 0;
}

}  // namespace

std::optional<Case> case_of_golden(const GoldenCase& golden, AngleSource source) {
  if (!golden.beyond_contract.empty()) return std::nullopt;
  if (source == AngleSource::computed && golden.theta_is_given) return std::nullopt;
  const GoldenArray* q = golden.find("q");
  const GoldenArray* positions = golden.find("positions");
  if (q == nullptr || golden.find("q_out") == nullptr || positions == nullptr) return std::nullopt;
  Case c;
  c.golden = golden.id;
  c.spec = golden.spec;
  const auto extent = [&](const GoldenArray& array, std::size_t axis) {
    return static_cast<int>(array.shape[static_cast<std::size_t>(golden.axis_of[axis])]);
  };
  c.batch = extent(*q, 0);
  c.seq = extent(*q, 1);
  c.heads = extent(*q, 2);
  if (const GoldenArray* k = golden.find("k"); k != nullptr && golden.find("k_out") != nullptr) {
    c.key_heads = extent(*k, 2);
  }
  c.dtype = golden.dtype;
  c.out_dtype = golden.rounding == GoldenRounding::printed ? golden.dtype : golden.output_dtype.value_or(golden.dtype);
  c.source = source;
  c.sequence_length = golden.sequence_length;
  c.form = c.spec.axes.count() == 1 && golden.position_offset ? PositionForm::offset
           : positions->shape[1] == 1                         ? PositionForm::shared
                                                              : PositionForm::per_batch;
  c.start = golden.position_offset.value_or(std::max<std::int64_t>(golden.sequence_length - c.seq, 0));
  if (is_unfolded(golden, source)) {
    const auto axes = static_cast<int>(c.spec.axes.sections.size());
    c.batch *= axes;
    c.spec.head_dim = c.spec.rotary_dim = golden.spec.rotary_dim / axes;
    c.spec.axes = {};
    c.form = PositionForm::per_batch;
  }
  if (source == AngleSource::tables) {
    const GoldenArray* cosine = golden.find("cos");
    if (cosine == nullptr) return std::nullopt;
    c.given = cosine->dtype;
    c.full_tables = cosine->axes.ends_with("feature");
    c.form = cosine->shape[0] == 1 ? PositionForm::offset : PositionForm::per_batch;
    c.start = 0;
    c.spec.axes = {};  // the tables already include each pair's own axis
    if (golden.tables_include_attention_factor) c.spec.attention_factor = 1;
  } else if (source == AngleSource::frequencies) {
    // If the source divides positions, theta by itself does not determine a pair's angle.
    if (golden.find("theta") == nullptr || golden.position_divisor != 1) return std::nullopt;
    c.given = golden.find("theta")->dtype;
  }
  return c;
}

GoldenCall build_golden_call(const Case& c, const Manifest& manifest) {
  const GoldenCase* golden = manifest.find(c.golden);
  if (golden == nullptr) throw InputError(fmt::format("golden case \"{}\" is not in the manifest", c.golden));
  GoldenCall result;
  Call& call = result.call;
  const bool unfolds = is_unfolded(*golden, c.source);
  const auto in_order = [&](const GoldenArray& array) {
    Tensor tensor = in_contract_order(manifest, *golden, array);
    return unfolds ? unfolded(tensor, golden->spec) : tensor;
  };
  const auto take = [&](const char* name, const char* out_name, std::optional<Tensor>& out, GoldenOutput& expected) {
    Tensor input = in_order(array_called(*golden, name));
    const GoldenArray& output = array_called(*golden, out_name);
    expected = {in_order(output), output.print};
    if (c.in_place) return input;
    out = Tensor::contiguous(c.out_dtype, input.shape);
    fill_with_poison(*out, c.seed);
    return input;
  };
  call.in_place = c.in_place;
  call.q = take("q", "q_out", call.q_out, result.q);
  if (c.key_heads > 0) {
    result.k.emplace();
    call.k = take("k", "k_out", call.k_out, *result.k);
  }
  call.sequence_length = golden->sequence_length;
  call.rotary_dim = c.spec.rotary_dim;
  call.rotary_offset = c.spec.rotary_offset;
  call.pairing = c.spec.pairing;
  call.source = c.source;
  call.axes = c.spec.axes.count();
  call.attention_factor = golden->attention_factor;
  if (call.axes > 1) {
    const std::vector<int> axis = axis_of_pairs(c.spec);
    call.axis = Tensor::contiguous(DType::i32, {static_cast<std::int64_t>(axis.size())});
    std::memcpy(call.axis->bytes.data(), axis.data(), axis.size() * sizeof(int));
  }
  if (c.source == AngleSource::tables) {
    give_token_tables(c, manifest, *golden, call);
    return result;
  }
  if (unfolds) {
    give_unfolded_positions(manifest, *golden, c.batch, call);
  } else {
    give_positions(c, manifest, *golden, call);
  }
  if (c.source == AngleSource::frequencies) {
    const GoldenArray& theta = array_called(*golden, "theta");
    call.theta = as_stored(manifest, *golden, theta, theta.shape);
  } else {
    call.base = c.spec.base;
    call.scaling = c.spec.scaling;
  }
  return result;
}

}  // namespace rope
