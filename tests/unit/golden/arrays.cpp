#include "tests/unit/golden/arrays.hpp"

#include <algorithm>
#include <string>

#include "reference/dtype.hpp"
#include "reference/xtensor.hpp"

namespace rope {
namespace {

// With the shape of its file.
xt::xarray<double> array_of(const Manifest& manifest, const GoldenCase& golden, const GoldenArray& array) {
  const NpyArray stored = load(manifest, golden, array);
  xt::xarray<double> values = xt::zeros<double>(array.shape);
  const std::byte* element = stored.bytes.data();
  for (double& value : values) {
    value = load(array.dtype, element);
    element += size_of(array.dtype);
  }
  return values;
}

}  // namespace

Vector values_of(const Manifest& manifest, const GoldenCase& golden, std::string_view name) {
  return xt::flatten(array_of(manifest, golden, *golden.find(name)));
}

TokenArray tokens_of(const Manifest& manifest, const GoldenCase& golden, std::string_view name) {
  return xt::transpose(array_of(manifest, golden, *golden.find(name)), golden.axis_of);
}

Matrix head_of(const Manifest& manifest, const GoldenCase& golden, std::string_view name, std::size_t batch,
               std::size_t head) {
  const GoldenArray& array = *golden.find(name);
  xt::xstrided_slice_vector slices;
  for (std::size_t from = 0; from < array.axes.size();) {
    const std::size_t to = std::min(array.axes.find(", ", from), array.axes.size());
    const std::string word = array.axes.substr(from, to - from);
    if (word == "batch") {
      slices.emplace_back(static_cast<std::ptrdiff_t>(batch));
    } else if (word == "heads") {
      slices.emplace_back(static_cast<std::ptrdiff_t>(head));
    } else {
      slices.emplace_back(xt::all());
    }
    from = to + 2;
  }
  const xt::xarray<double> values = array_of(manifest, golden, array);
  return xt::strided_view(values, slices);
}

}  // namespace rope
