#include "golden/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <span>

#include "golden/sha256.hpp"
#include "reference/input_error.hpp"

namespace rope {

NpyType storage_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return NpyType::f8;
    case DType::f32: return NpyType::f4;
    case DType::f16: return NpyType::f2;
    case DType::bf16: return NpyType::u2;
    case DType::i32: return NpyType::i4;
    case DType::i64: return NpyType::i8;
  }
  return NpyType::f4;
}

std::string_view name(GoldenRole role) {
  switch (role) {
    case GoldenRole::input: return "input";
    case GoldenRole::position: return "position";
    case GoldenRole::frequencies: return "frequencies";
    case GoldenRole::table: return "table";
    case GoldenRole::output: return "output";
    case GoldenRole::mask: return "mask";
    case GoldenRole::score: return "score";
    case GoldenRole::weight: return "weight";
    case GoldenRole::attended: return "attended";
  }
  return "?";
}

std::string_view name(GoldenRule rule) {
  switch (rule) {
    case GoldenRule::positions_rounded: return "positions_rounded";
    case GoldenRule::other_positions: return "other_positions";
    case GoldenRule::position_of_head: return "position_of_head";
    case GoldenRule::theta_rounded: return "theta_rounded";
    case GoldenRule::tables_rounded: return "tables_rounded";
    case GoldenRule::theta_without_division: return "theta_without_division";
    case GoldenRule::other_sequence_length: return "other_sequence_length";
    case GoldenRule::other_spec: return "other_spec";
    case GoldenRule::angles_in_f32: return "angles_in_f32";
    case GoldenRule::k_turned_with_q: return "k_turned_with_q";
    case GoldenRule::second_block_one_column_left: return "second_block_one_column_left";
    case GoldenRule::cosines_one_feature_early: return "cosines_one_feature_early";
    case GoldenRule::k_not_conjugated: return "k_not_conjugated";
  }
  return "?";
}

std::string_view name(BeyondContract what) {
  switch (what) {
    case BeyondContract::fractional_positions: return "fractional-positions";
    case BeyondContract::negative_positions: return "negative-positions";
    case BeyondContract::magnitude: return "magnitude";
    case BeyondContract::key_positions: return "key-positions";
  }
  return "?";
}

std::string_view name(GoldenRounding rounding) {
  switch (rounding) {
    case GoldenRounding::f32: return "f32";
    case GoldenRounding::per_op: return "per-op";
    case GoldenRounding::final_cast: return "final-cast";
    case GoldenRounding::printed: return "printed";
  }
  return "?";
}

double GoldenPrint::half_unit(double value) const {
  const double leading = scientific && value != 0 ? std::floor(std::log10(std::fabs(value))) : 0;
  return 0.5 * std::pow(10.0, leading - digits);
}

const GoldenArray* GoldenCase::find(std::string_view array_name) const {
  const auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const GoldenArray& array) { return array.name == array_name; });
  return found == arrays.end() ? nullptr : &*found;
}

const GoldenArray* GoldenCase::find_for(std::string_view input, std::string_view array_name) const {
  const GoldenArray* own = input == "k" ? find(std::string("k_").append(array_name)) : nullptr;
  return own != nullptr ? own : find(array_name);
}

const GoldenCase* Manifest::find(std::string_view id) const {
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const GoldenCase& golden) { return golden.id == id; });
  return found == cases.end() ? nullptr : &*found;
}

NpyArray load(const Manifest& manifest, const GoldenCase& golden, const GoldenArray& array) {
  if (array.values) return *array.values;
  const std::filesystem::path path = manifest.folder / array.file;
  const std::vector<std::byte> content = read_file(path);
  const auto fail = [&](const std::string& message) {
    return InputError(
        fmt::format("{}: array {} of case {}: {}; restore the file, or make the set again with "
                    "`ropecheck golden regenerate`",
                    path.string(), array.name, golden.id, message));
  };
  if (const std::string found = sha256(content); found != array.sha256) {
    throw fail(fmt::format("sha256 is {}, the manifest says {}", found, array.sha256));
  }
  NpyArray values = parse_npy(content, path.string());
  if (values.type != array.storage) {
    throw fail(fmt::format("stored as {}, the manifest says {}", descr(values.type), descr(array.storage)));
  }
  if (values.shape != array.shape) {
    throw fail(fmt::format("shape is {}, the manifest says {}", shape_text(values.shape), shape_text(array.shape)));
  }
  return values;
}

NpyArray load(const Manifest& manifest, const GoldenCase& golden, std::string_view array_name) {
  const GoldenArray* array = golden.find(array_name);
  if (array == nullptr) {
    throw InputError(fmt::format("{}: case {} has no array {}", (manifest.folder / "manifest.json").string(), golden.id,
                                 array_name));
  }
  return load(manifest, golden, *array);
}

// Half of them on another thread, if the system allows one: half of a short run's start is this.
std::size_t load_all(Manifest& manifest) {
  const auto load_some = [&manifest](std::span<GoldenCase> cases) {
    std::size_t arrays = 0;
    for (GoldenCase& golden : cases) {
      for (GoldenArray& array : golden.arrays) {
        array.values = std::make_shared<const NpyArray>(load(manifest, golden, array));
        ++arrays;
      }
    }
    return arrays;
  };
  const std::span<GoldenCase> cases = manifest.cases;
  auto later = std::async([&] { return load_some(cases.subspan(cases.size() / 2)); });
  const std::size_t arrays = load_some(cases.first(cases.size() / 2));
  return arrays + later.get();
}

}  // namespace rope
