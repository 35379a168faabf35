// The strict way from manifest.json to Manifest: every field known, of the right kind, and in agreement with the
// others.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "golden/json_fields.hpp"
#include "golden/manifest.hpp"
#include "reference/input_error.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using json_fields::choose;
using json_fields::fail;
using json_fields::Fields;
using json_fields::Json;

constexpr std::int64_t schema_version = 1;
constexpr std::int64_t largest_seed = (std::int64_t{1} << 48) - 1;

constexpr std::string_view lower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view digits = "0123456789";

// A text that is not empty and holds only characters of `allowed`.
std::string read_word(Fields& fields, const char* key, const std::string& allowed) {
  std::string text = fields.text(key);
  if (text.find_first_not_of(allowed) != std::string::npos) {
    fail(fields.path(key), fmt::format("\"{}\" holds a character other than {}", text, allowed));
  }
  return text;
}

// `length` lower-case hexadecimal digits.
std::string read_hash(Fields& fields, const char* key, std::size_t length) {
  std::string text = fields.text(key);
  if (text.size() != length || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    fail(fields.path(key), fmt::format("\"{}\"; expected {} lower-case hexadecimal digits", text, length));
  }
  return text;
}

DType read_dtype(Fields& fields, const char* key) {
  const std::string text = fields.text(key);
  const std::optional<DType> dtype = dtype_from_name(text);
  if (!dtype) fail(fields.path(key), fmt::format("\"{}\" is not a dtype; use f64, f32, f16, bf16, i32 or i64", text));
  return *dtype;
}

DType read_floating(Fields& fields, const char* key) {
  const DType dtype = read_dtype(fields, key);
  if (!is_floating(dtype)) fail(fields.path(key), "expected f64, f32, f16 or bf16");
  return dtype;
}

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

// A file may lie in the manifest's folder and below, nowhere else: the manifest may come from a stranger.
std::string read_file_name(Fields& fields, const fs::path& folder) {
  std::string text = read_word(fields, "file", fmt::format("{}{}{}_.-/", lower, upper, digits));
  const std::string path = fields.path("file");
  const fs::path file(text);
  const bool climbs =
      std::any_of(file.begin(), file.end(), [](const fs::path& part) { return part == ".." || part == "."; });
  if (file.is_absolute() || climbs) {
    fail(path, fmt::format("\"{}\" leads out of the manifest's folder; name a file in it, without . and ..", text));
  }
  std::error_code error;
  const fs::path real = fs::canonical(folder / file, error);
  if (error || !fs::is_regular_file(real)) {
    fail(path, fmt::format("there is no file {}; restore it, or make the set again with `ropecheck golden regenerate`",
                           (folder / file).string()));
  }
  const fs::path root = fs::canonical(folder);
  if (std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first != root.end()) {
    fail(path, fmt::format("\"{}\" is a link to {}, outside the manifest's folder; put the file itself there", text,
                           real.string()));
  }
  return text;
}

GoldenArray read_array(const Json& json, const std::string& path, const fs::path& folder) {
  Fields fields(json, path);
  GoldenArray array;
  array.name = read_word(fields, "name", fmt::format("{}_", lower));
  array.role = choose<GoldenRole>(fields, "role",
                                  {{"input", GoldenRole::input},
                                   {"position", GoldenRole::position},
                                   {"frequencies", GoldenRole::frequencies},
                                   {"table", GoldenRole::table},
                                   {"output", GoldenRole::output},
                                   {"mask", GoldenRole::mask},
                                   {"score", GoldenRole::score},
                                   {"weight", GoldenRole::weight},
                                   {"attended", GoldenRole::attended}});
  array.axes = fields.text("axes");
  array.dtype = read_dtype(fields, "dtype");
  array.storage = storage_of(array.dtype);
  if (const std::string storage = fields.text("storage"); storage != descr(array.storage)) {
    fail(fields.path("storage"),
         fmt::format("\"{}\"; {} is stored as \"{}\"", storage, rope::name(array.dtype), descr(array.storage)));
  }
  for (const Json& extent : fields.list("shape", 0)) {
    array.shape.push_back(Fields::whole(extent, fields.path("shape"), 0, std::numeric_limits<std::int64_t>::max()));
  }
  array.file = read_file_name(fields, folder);
  array.sha256 = read_hash(fields, "sha256", 64);
  if (fields.find("seed") != nullptr) array.seed = static_cast<std::uint64_t>(fields.whole("seed", 0, largest_seed));
  if (const Json* print = fields.find("printed")) {
    Fields printed(*print, fields.path("printed"));
    array.print = GoldenPrint{static_cast<int>(printed.whole("digits", 0, 17)),
                              choose<bool>(printed, "form", {{"fixed", false}, {"scientific", true}})};
    printed.finish();
  }
  fields.finish();
  return array;
}

std::array<int, 4> read_axes(const std::string& words, const std::string& path) {
  constexpr std::array<std::string_view, 4> names{"batch", "seq", "heads", "head_dim"};
  std::array<int, 4> axis_of{-1, -1, -1, -1};
  std::size_t from = 0;
  for (int axis = 0; axis < 4; ++axis) {
    const std::size_t to = axis == 3 ? words.size() : std::min(words.find(", ", from), words.size());
    const std::string_view word = std::string_view(words).substr(from, to - from);
    const auto found = std::find(names.begin(), names.end(), word);
    if (found != names.end()) axis_of[static_cast<std::size_t>(found - names.begin())] = axis;
    from = std::min(to + 2, words.size());
  }
  if (std::find(axis_of.begin(), axis_of.end(), -1) != axis_of.end()) {
    fail(path, fmt::format("\"{}\"; expected batch, seq, heads and head_dim in some order, parted by \", \"", words));
  }
  return axis_of;
}

using Shape = std::vector<std::int64_t>;

// Attention arrays name their axes in words of their own; queries and keys are the same tokens.
void check_attention_shape(const GoldenCase& golden, const GoldenArray& array, const std::string& path) {
  const GoldenArray& q = *golden.find("q");
  const std::vector<std::pair<std::string_view, int>> axes{
      {"batch", 0}, {"query", 1}, {"key", 1}, {"heads", 2}, {"head_dim", 3}};
  Shape expected;
  for (std::size_t from = 0; from < array.axes.size();) {
    const std::size_t to = std::min(array.axes.find(", ", from), array.axes.size());
    const std::string_view word = std::string_view(array.axes).substr(from, to - from);
    const auto found = std::find_if(axes.begin(), axes.end(), [&](const auto& axis) { return axis.first == word; });
    if (found == axes.end()) {
      fail(path, fmt::format("array {}: axis \"{}\"; expected batch, query, key, heads or head_dim", array.name, word));
    }
    expected.push_back(q.shape[static_cast<std::size_t>(golden.axis_of[static_cast<std::size_t>(found->second)])]);
    from = to + 2;
  }
  if (array.shape != expected) {
    fail(path, fmt::format("array {}: shape {}; its axes \"{}\" make it {}", array.name, shape_text(array.shape),
                           array.axes, shape_text(expected)));
  }
}

// What a judge relies on when it makes a call of the case, so that it need not look again.
void check_shapes(const GoldenCase& golden, const std::string& path) {
  const auto demand = [&](const GoldenArray& array, bool holds, const std::string& expected) {
    if (!holds)
      fail(path, fmt::format("array {}: shape {}; expected {}", array.name, shape_text(array.shape), expected));
  };
  const auto extent = [&](const GoldenArray& array, int axis) {
    return array.shape[static_cast<std::size_t>(golden.axis_of[static_cast<std::size_t>(axis)])];
  };
  const std::int64_t pairs = golden.spec.rotary_dim / 2;
  if (const GoldenArray* theta = golden.find("theta")) {
    demand(*theta, theta->shape == Shape{pairs}, fmt::format("({}), one frequency a pair", pairs));
  }
  const GoldenArray* q = golden.find("q");
  if (q == nullptr) return;
  demand(*q, q->shape.size() == 4 && extent(*q, 3) == golden.spec.head_dim,
         fmt::format("four axes with head_dim {}", golden.spec.head_dim));
  const std::int64_t batch = extent(*q, 0), seq = extent(*q, 1);
  for (const GoldenArray& array : golden.arrays) {
    const std::string input = array.name.substr(0, array.name.find('_'));
    switch (array.role) {
      case GoldenRole::input:
        demand(array,
               array.shape.size() == 4 && extent(array, 0) == batch && extent(array, 1) == seq &&
                   extent(array, 3) == golden.spec.head_dim,
               "that of q in all but the heads");
        break;
      case GoldenRole::position:
        demand(array,
               array.shape.size() == 3 && array.shape[0] == golden.spec.axes.count() &&
                   (array.shape[1] == 1 || array.shape[1] == batch) && array.shape[2] == seq,
               "(axes, batch or 1, seq)");
        break;
      case GoldenRole::table:
        demand(array,
               array.shape.size() == 3 && (array.shape[0] == 1 || array.shape[0] == batch) && array.shape[1] == seq &&
                   (array.shape[2] == pairs || array.shape[2] == 2 * pairs),
               "(batch or 1, seq, rotary_dim or half of it)");
        break;
      case GoldenRole::output:
        demand(array, golden.find(input) != nullptr && array.shape == golden.find(input)->shape, "that of its input");
        break;
      case GoldenRole::mask:
      case GoldenRole::score:
      case GoldenRole::weight:
      case GoldenRole::attended: check_attention_shape(golden, array, path); break;
      case GoldenRole::frequencies: break;
    }
  }
}

// A case that was computed has every layer; the printed ones have what was printed.
void check_layers(const GoldenCase& golden, const std::string& path) {
  if (golden.rounding == GoldenRounding::printed) return;
  for (const char* needed : {"q", "positions", "theta", "cos", "sin", "q_out"}) {
    if (golden.find(needed) == nullptr) fail(path, fmt::format("array {} is missing", needed));
  }
  if (golden.find("k") != nullptr && golden.find("k_out") == nullptr) fail(path, "array k_out is missing, k is there");
  if (!golden.c || !golden.output_dtype) fail(path, "\"c\" and \"output_dtype\" are needed where outputs are computed");
}

GoldenInstead read_instead(const Json& json, const std::string& path) {
  Fields fields(json, path);
  GoldenInstead instead;
  std::vector<std::string_view> known;
  const std::string text = fields.text("rule");
  bool found = false;
  for (int i = 0; name(GoldenRule{i}) != "?"; ++i) {
    known.push_back(name(GoldenRule{i}));
    if (known.back() != text) continue;
    instead.rule = GoldenRule{i};
    found = true;
  }
  if (!found) {
    fail(fields.path("rule"), fmt::format("\"{}\" is not known; use one of {}", text, json_fields::listed(known)));
  }
  switch (instead.rule) {
    case GoldenRule::positions_rounded:
    case GoldenRule::theta_rounded: instead.dtype = read_floating(fields, "dtype"); break;
    case GoldenRule::other_sequence_length: instead.sequence_length = fields.whole("sequence_length", 1); break;
    case GoldenRule::other_spec:
      instead.spec = spec_from_json(fields.require("spec").dump(), fields.path("spec"));
      break;
    default: break;
  }
  fields.finish();
  return instead;
}

std::vector<BeyondContract> read_beyond_contract(Fields& fields) {
  std::vector<BeyondContract> result;
  if (fields.find("beyond_contract") == nullptr) return result;
  for (const Json& word : fields.list("beyond_contract", 1)) {
    std::optional<BeyondContract> found;
    for (BeyondContract what :
         {BeyondContract::fractional_positions, BeyondContract::negative_positions, BeyondContract::magnitude}) {
      if (word == name(what)) found = what;
    }
    if (!found || std::find(result.begin(), result.end(), *found) != result.end()) {
      fail(
          fields.path("beyond_contract"),
          fmt::format("{}; use each of fractional-positions, negative-positions, magnitude once at most", word.dump()));
    }
    result.push_back(*found);
  }
  return result;
}

bool is_beyond(const GoldenCase& golden, BeyondContract what) {
  return std::find(golden.beyond_contract.begin(), golden.beyond_contract.end(), what) != golden.beyond_contract.end();
}

// What the fields about a case promise about its arrays.
void check_promises(const GoldenCase& golden, const std::string& path) {
  if (is_beyond(golden, BeyondContract::magnitude) != golden.spec.xpos.has_value()) {
    fail(path, "beyond_contract has \"magnitude\" where the spec has xpos, and only there");
  }
  if (golden.spec.xpos && golden.find("q_scale") == nullptr) fail(path, "array q_scale is missing, the spec has xpos");
  const bool fractional = is_beyond(golden, BeyondContract::fractional_positions);
  for (const GoldenArray& array : golden.arrays) {
    if (array.role == GoldenRole::position && is_floating(array.dtype) != fractional) {
      fail(path, fmt::format("array {}: dtype {}; i64, or a floating type where beyond_contract has "
                             "\"fractional-positions\"",
                             array.name, rope::name(array.dtype)));
    }
  }
  if (golden.instead && golden.instead->rule == GoldenRule::other_positions &&
      golden.find("positions_used") == nullptr) {
    fail(path, "array positions_used is missing, instead.rule is \"other_positions\"");
  }
  if (golden.find("weights") != nullptr) {
    for (const char* needed : {"scores", "v", "attended"}) {
      if (golden.find(needed) == nullptr) fail(path, fmt::format("array {} is missing, weights is there", needed));
    }
  }
}

GoldenCase read_case(const Json& json, const std::string& where, const fs::path& folder) {
  const std::string id = Fields(json, where).text("id");
  Fields fields(json, fmt::format("{} ({})", where, id));
  GoldenCase golden;
  golden.id = read_word(fields, "id", fmt::format("{}{}_-/", lower, digits));
  golden.package = fields.text("package");
  golden.version = fields.text("version");
  golden.function = fields.text("function");
  golden.description = fields.text("description");
  golden.conforms = choose<bool>(fields, "status", {{"conforms", true}, {"deviates", false}});
  if (fields.find("reason") != nullptr) golden.reason = fields.text("reason");
  if (golden.conforms != golden.reason.empty()) {
    fail(fields.path("reason"), "a reason goes with status \"deviates\", and only with it");
  }
  if (const Json* instead = fields.find("instead")) golden.instead = read_instead(*instead, fields.path("instead"));
  if (golden.conforms == golden.instead.has_value()) {
    fail(fields.path("instead"), "it goes with status \"deviates\", and only with it");
  }
  for (const Json& requirement : fields.list("requirements", 1)) {
    if (!requirement.is_string() || requirement.get_ref<const std::string&>().empty()) {
      fail(fields.path("requirements"), "expected texts that are not empty");
    }
    golden.requirements.push_back(requirement.get<std::string>());
  }
  golden.spec_json = fields.require("spec").dump();
  golden.spec = spec_from_json(golden.spec_json, fields.path("spec"));
  golden.sequence_length = fields.whole("sequence_length");
  if (fields.find("position_offset") != nullptr) golden.position_offset = fields.whole("position_offset");
  golden.position_divisor = fields.positive("position_divisor");
  golden.attention_factor = fields.positive("attention_factor");
  golden.tables_include_attention_factor = fields.truth("tables_include_attention_factor");
  if (fields.find("theta_is_given") != nullptr) golden.theta_is_given = fields.truth("theta_is_given");
  if (fields.find("score_scale") != nullptr) golden.score_scale = fields.positive("score_scale");
  golden.beyond_contract = read_beyond_contract(fields);
  if (const std::string layout = fields.text("layout"); layout != name(golden.spec.pairing)) {
    fail(fields.path("layout"), fmt::format("\"{}\", but the spec says {}", layout, name(golden.spec.pairing)));
  }
  golden.axes = fields.text("axes");
  golden.axis_of = read_axes(golden.axes, fields.path("axes"));
  golden.dtype = read_floating(fields, "dtype");
  if (fields.find("output_dtype") != nullptr) golden.output_dtype = read_floating(fields, "output_dtype");
  golden.rounding = choose<GoldenRounding>(fields, "rounding",
                                           {{"f32", GoldenRounding::f32},
                                            {"per-op", GoldenRounding::per_op},
                                            {"final-cast", GoldenRounding::final_cast},
                                            {"printed", GoldenRounding::printed}});
  if (fields.find("c") != nullptr) golden.c = fields.positive("c");
  std::set<std::string> names;
  for (const Json& array : fields.list("arrays", 1)) {
    golden.arrays.push_back(
        read_array(array, fmt::format("{}.arrays[{}]", fields.path(), golden.arrays.size()), folder));
    const std::string& added = golden.arrays.back().name;
    if (!names.insert(added).second) fail(fields.path("arrays"), fmt::format("two arrays are called {}", added));
  }
  fields.finish();
  check_layers(golden, fields.path());
  check_promises(golden, fields.path());
  check_shapes(golden, fields.path());
  return golden;
}

GoldenHost read_host(const Json& json, const std::string& path) {
  Fields fields(json, path);
  GoldenHost host{fields.text("machine"),    fields.text("processor"), fields.text("cpu_capability"),
                  fields.text("libc"),       fields.text("python"),    read_hash(fields, "fingerprint", 16),
                  fields.whole("threads", 1)};
  fields.finish();
  return host;
}

}  // namespace

Manifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  const std::string where = path.string();
  const std::vector<std::byte> content = read_file(path);
  const auto* begin = reinterpret_cast<const char*>(content.data());
  Json document;
  try {
    document = Json::parse(begin, begin + content.size());
  } catch (const Json::parse_error& error) {
    fail(where, fmt::format("byte {}: not JSON: {}", error.byte - 1, error.what()));
  } catch (const Json::exception& error) {  // a number that no double holds
    fail(where, fmt::format("not JSON that can be read: {}", error.what()));
  }
  Fields fields(document, where);
  if (const std::int64_t schema = fields.whole("schema"); schema != schema_version) {
    fail(fields.path("schema"),
         fmt::format("version {}; this program reads version {}: use the one that goes with the files", schema,
                     schema_version));
  }
  Manifest manifest;
  manifest.folder = folder;
  manifest.version = read_word(fields, "version", fmt::format("{}.", digits));
  if (std::count(manifest.version.begin(), manifest.version.end(), '.') != 2) {
    fail(fields.path("version"), fmt::format("\"{}\"; expected major.minor.patch", manifest.version));
  }
  for (const Json& json : fields.list("packages", 0)) {
    Fields package(json, fields.path("packages"));
    manifest.packages.push_back({package.text("name"), package.text("version")});
    package.finish();
  }
  manifest.host = read_host(fields.require("host"), fields.path("host"));
  std::set<std::string> ids;
  for (const Json& json : fields.list("cases", 1)) {
    const std::string case_path = fmt::format("{}: cases[{}]", where, manifest.cases.size());
    manifest.cases.push_back(read_case(json, case_path, folder));
    const std::string& id = manifest.cases.back().id;
    if (!ids.insert(id).second) fail(case_path, fmt::format("the id \"{}\" stands twice; each names one case", id));
  }
  fields.finish();
  return manifest;
}

}  // namespace rope
