#include "golden/recompute.hpp"

#include <stdexcept>
#include <string>

namespace rope {
namespace {

// Rounds one operation's result by the rule. 16-bit formats: the operation itself is done in f32, as in torch.
float rounded(float value, DType dtype) {
  switch (dtype) {
    case DType::f16: return static_cast<float>(half_to_double(double_to_half(static_cast<double>(value))));
    case DType::bf16: return static_cast<float>(bfloat16_to_double(double_to_bfloat16(static_cast<double>(value))));
    default: return value;
  }
}
double rounded(double value, DType) { return value; }

// T is the type of products and sums: float, or double for f64 tensors.
template <class T>
NpyArray recompute(const Manifest& manifest, const GoldenCase& golden, std::string_view input) {
  const auto value_at = [](const NpyArray& array, DType dtype, std::size_t index) {
    return static_cast<T>(load(dtype, array.bytes.data() + index * size_of(dtype)));
  };
  const auto follows = [&](GoldenRule rule) { return golden.instead && golden.instead->rule == rule; };
  const NpyArray x = load(manifest, golden, input);
  const NpyArray turned = follows(GoldenRule::k_turned_with_q) ? load(manifest, golden, "q") : x;
  const GoldenArray* scale_array = golden.find(std::string(input) + "_scale");
  const NpyArray scale = scale_array == nullptr ? NpyArray{} : load(manifest, golden, *scale_array);
  const NpyArray cos = load(manifest, golden, *golden.find_for(input, "cos"));
  const NpyArray sin = load(manifest, golden, *golden.find_for(input, "sin"));
  const DType table_dtype = golden.find("cos")->dtype;
  const DType kept = golden.rounding == GoldenRounding::per_op ? golden.dtype : DType::f32;
  const DType out_dtype = *golden.output_dtype;

  const GoldenArray& stored = *golden.find(std::string(input) + "_out");
  NpyArray y{stored.storage, x.shape,
             std::vector<std::byte>(x.bytes.size() / size_of(x.type) * size_of(stored.storage))};
  std::array<std::size_t, 4> extent{}, stride{};  // of batch, seq, heads, head_dim
  for (std::size_t a = 0; a < 4; ++a) {
    const auto axis = static_cast<std::size_t>(golden.axis_of[a]);
    extent[a] = static_cast<std::size_t>(x.shape[axis]);
    stride[a] = 1;
    for (std::size_t later = axis + 1; later < 4; ++later) stride[a] *= static_cast<std::size_t>(x.shape[later]);
  }
  const auto width = static_cast<std::size_t>(cos.shape[2]);
  const auto rotary = static_cast<std::size_t>(golden.spec.rotary_dim);
  const bool split = golden.spec.pairing == Pairing::half_split;
  const bool by_head = follows(GoldenRule::position_of_head);
  const bool shifted = follows(GoldenRule::second_block_one_column_left);

  for (std::size_t b = 0; b < extent[0]; ++b) {
    for (std::size_t s = 0; s < extent[1]; ++s) {
      for (std::size_t h = 0; h < extent[2]; ++h) {
        const std::size_t row = b * stride[0] + s * stride[1] + h * stride[2];
        const std::size_t table_row = ((cos.shape[0] == 1 ? 0 : b) * extent[1] + (by_head ? h : s)) * width;
        const auto get = [&](const NpyArray& from, std::size_t feature) {
          return value_at(from, golden.dtype, row + feature * stride[3]);
        };
        const auto put = [&](std::size_t feature, T value) {
          std::byte* address = y.bytes.data() + (row + feature * stride[3]) * size_of(out_dtype);
          store(out_dtype, address, static_cast<double>(value));
        };
        for (std::size_t p = 0; p < rotary / 2; ++p) {
          const std::size_t first = split ? p : 2 * p, second = split ? p + rotary / 2 : 2 * p + 1;
          const std::size_t left = shifted && p == 1 ? 1 : 0;  // features are read one to the left
          const auto turn = [&](std::size_t feature, T own, T partner) {
            const std::size_t column = table_row + (width == rotary ? feature : p);
            T kept_part = rounded(own * value_at(cos, table_dtype, column), kept);
            T turned_part = rounded(partner * value_at(sin, table_dtype, column), kept);
            if (scale_array != nullptr) {
              kept_part = rounded(kept_part * value_at(scale, scale_array->dtype, column), kept);
              turned_part = rounded(turned_part * value_at(scale, scale_array->dtype, column), kept);
            }
            put(feature, rounded(kept_part + turned_part, kept));
          };
          turn(first, get(x, first - left), -get(turned, second - left));
          turn(second, get(x, second - left), get(turned, first - left));
        }
        for (std::size_t feature = rotary; feature < extent[3]; ++feature) put(feature, get(x, feature));
      }
    }
  }
  return y;
}

}  // namespace

NpyArray recompute_output(const Manifest& manifest, const GoldenCase& golden, std::string_view input) {
  if (golden.rounding == GoldenRounding::printed) throw std::invalid_argument("recompute_output: printed figures");
  return golden.dtype == DType::f64 ? recompute<double>(manifest, golden, input)
                                    : recompute<float>(manifest, golden, input);
}

}  // namespace rope
