// golden/manifest.json: the golden cases, what each computes, and where its arrays are. docs/golden-files.md has the
// meaning of every field, golden/manifest.schema.json the JSON schema.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/npy.hpp"
#include "reference/dtype.hpp"
#include "reference/rope_spec.hpp"

namespace rope {

enum class GoldenRole { input, position, frequencies, table, output, mask, score, weight, attended };
std::string_view name(GoldenRole role);

// Where a source rounds, between its tables and its output.
enum class GoldenRounding {
  f32,         // every product and sum in f32, output f32
  per_op,      // every product and sum rounded to the dtype of x
  final_cast,  // every product and sum in f32, then one rounding to the dtype of x
  printed      // not computed here: as printed, good to half a unit of the last digit
};
std::string_view name(GoldenRounding rounding);

// The number of printed decimals after the point; of the significand's decimals in scientific form.
struct GoldenPrint {
  int digits = 0;
  bool scientific = false;

  // Half a unit of the last printed digit of `value`: how far off the exact value may be.
  double half_unit(double value) const;
};

// What a deviating source does instead of the defined computation.
enum class GoldenRule {
  positions_rounded,             // each position is rounded to `dtype` first
  other_positions,               // positions come from the array positions_used
  position_of_head,              // head h uses the row of token h, for every token
  theta_rounded,                 // each frequency is rounded to `dtype`
  tables_rounded,                // each table entry is rounded to `dtype`
  theta_without_division,        // theta = base^(-2p r)
  other_sequence_length,         // a rule that follows the length gets `sequence_length`
  other_spec,                    // it follows `spec`
  angles_in_f32,                 // theta, angles and tables are made in f32, for f64 tensors too
  k_turned_with_q,               // k_out = k cos + J q sin, where J q is q turned by a quarter
  second_block_one_column_left,  // pair 1 turns features 1 and 2 into features 2 and 3
  cosines_one_feature_early,     // feature j has the cosine of the pair that feature j + 1 belongs to
  k_not_conjugated               // scores are Re sum q k e^(i (m - n) theta), without the conjugate of k
};
std::string_view name(GoldenRule rule);

struct GoldenInstead {
  GoldenRule rule{};
  std::optional<DType> dtype;
  std::optional<std::int64_t> sequence_length;
  std::optional<RopeSpec> spec;
};

// What no rope_call can carry. Such a case is for porters and for the reference, not for kernels.
enum class BeyondContract { fractional_positions, negative_positions, magnitude, key_positions };
std::string_view name(BeyondContract what);

NpyType storage_of(DType dtype);  // u2, its bits, for bf16

struct GoldenArray {
  std::string name;  // q, k, v, positions, theta, cos, sin, q_out, k_out, mask, scores, weights, attended, ..
  GoldenRole role = GoldenRole::input;
  std::string axes;  // words, e.g. "batch, seq, feature"
  DType dtype = DType::f32;
  NpyType storage = NpyType::f4;  // u2 for bf16
  std::vector<std::int64_t> shape;
  std::string file;  // relative to the manifest's folder
  std::string sha256;
  std::optional<std::uint64_t> seed;  // of generate_input(), if the values come from it
  std::optional<GoldenPrint> print;
  std::shared_ptr<const NpyArray> values;  // once load_all() has read them
};

struct GoldenCase {
  std::string id;
  std::string package;
  std::string version;
  std::string function;
  std::string description;
  std::string after;  // the id of the call that the same module answered before; empty for a fresh module
  bool conforms = true;
  std::string reason;                    // why it deviates
  std::optional<GoldenInstead> instead;  // and how, if it does
  std::vector<std::string> requirements;

  RopeSpec spec;
  std::string spec_json;  // the spec's text in the manifest
  std::int64_t sequence_length = 0;
  std::optional<std::int64_t> position_offset;  // if positions are offset + 0 .. seq-1 for every sequence and axis
  double position_divisor = 1;                  // the source's angle is (position / divisor) * theta
  double attention_factor = 1;                  // lambda in the source
  bool tables_include_attention_factor = true;  // then a judge that gives the tables gives lambda 1
  bool theta_is_given = false;                  // base and scaling of the spec do not yield theta; use the array
  double score_scale = 1;                       // the factor of the products of q_out and k_out
  std::optional<double> masked_score;           // added to a masked score; without it -1e9 takes the score's place
  std::vector<BeyondContract> beyond_contract;  // empty: a kernel can run the case

  std::string axes;              // of q, k and their outputs, e.g. "batch, heads, seq, head_dim"
  std::array<int, 4> axis_of{};  // where batch, seq, heads and head_dim stand in those shapes
  DType dtype = DType::f32;      // of q and k
  std::optional<DType> output_dtype;
  GoldenRounding rounding = GoldenRounding::f32;
  std::optional<double> c;  // bound of |theta~/theta - 1| / 2^-24
  std::string host;         // the fingerprint of the host that made it; empty: Manifest::host
  std::vector<GoldenArray> arrays;

  const GoldenArray* find(std::string_view array_name) const;  // null if the case has no array of that name

  // The array for the tokens of q or k. Keys that have positions of their own have tables of their own, too.
  const GoldenArray* find_for(std::string_view input, std::string_view array_name) const;
};

struct GoldenPackage {
  std::string name;
  std::string version;
};

struct GoldenHost {
  std::string machine;
  std::string processor;
  std::string cpu_capability;
  std::string libc;
  std::string python;
  std::string fingerprint;
  std::int64_t threads = 1;
};

struct Manifest {
  std::filesystem::path folder;
  std::string version;  // of the set: major.minor.patch
  std::vector<GoldenPackage> packages;
  GoldenHost host;                // made every case that names no other
  std::vector<GoldenHost> hosts;  // those that cases name
  std::vector<GoldenCase> cases;

  const GoldenCase* find(std::string_view id) const;
};

// Reads folder/manifest.json, not the arrays: load() does. Throws InputError for what the schema forbids, a duplicate
// id, a file that is missing or outside the folder, and shapes that contradict each other.
Manifest read_manifest(const std::filesystem::path& folder);

// The array's values. Throws InputError if the file's hash, dtype or shape is not the manifest's.
NpyArray load(const Manifest& manifest, const GoldenCase& golden, const GoldenArray& array);
NpyArray load(const Manifest& manifest, const GoldenCase& golden, std::string_view array_name);

// Reads all arrays, so that load() need not; a run needs most of them several times. Returns how many there are. Throws
// what load() throws. 30 ms and 4 MB for ours.
std::size_t load_all(Manifest& manifest);

}  // namespace rope
