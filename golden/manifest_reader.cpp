// Reads manifest.json strictly into Manifest: every field known and of the right kind. manifest_check.hpp checks
// whether they agree with each other.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include "golden/json_fields.hpp"
#include "golden/manifest.hpp"
#include "golden/manifest_check.hpp"
#include "reference/foreign_json.hpp"
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

// The manifest's folder. It has a thousand files in a few folders, so each of these is resolved once.
class Folder {
 public:
  explicit Folder(const fs::path& path) : path_(path), root_(fs::canonical(path)) {}

  fs::path path_of(const fs::path& file) const { return path_ / file; }

  struct Resolved {
    fs::path path;  // without links
    bool is_regular_file;
  };

  // An error if it is not there.
  Resolved resolved(const fs::path& file, std::error_code& error) {
    const auto [parent, is_new] = parents_.try_emplace(file.parent_path());
    if (is_new) parent->second = fs::canonical(root_ / parent->first, error);
    const fs::path found = parent->second / file.filename();
    const fs::file_status status = fs::symlink_status(found, error);
    if (!fs::is_symlink(status)) return {found, fs::is_regular_file(status)};
    const fs::path real = fs::canonical(found, error);
    return {real, !error && fs::is_regular_file(real)};
  }

  bool holds(const fs::path& resolved) const {
    return std::mismatch(root_.begin(), root_.end(), resolved.begin(), resolved.end()).first == root_.end();
  }

 private:
  fs::path path_, root_;
  std::map<fs::path, fs::path> parents_;
};

// A file must be in the manifest's folder or below, because the manifest may come from a stranger.
std::string read_file_name(Fields& fields, Folder& folder) {
  std::string text = read_word(fields, "file", fmt::format("{}{}{}_.-/", lower, upper, digits));
  const std::string path = fields.path("file");
  const fs::path file(text);
  const bool climbs =
      std::any_of(file.begin(), file.end(), [](const fs::path& part) { return part == ".." || part == "."; });
  if (file.is_absolute() || climbs) {
    fail(path, fmt::format("\"{}\" leads out of the manifest's folder; name a file in it, without . and ..", text));
  }
  std::error_code error;
  const auto [real, is_regular_file] = folder.resolved(file, error);
  if (error || !is_regular_file) {
    fail(path, fmt::format("file {} is missing; restore it, or make the set again with `ropecheck golden regenerate`",
                           folder.path_of(file).string()));
  }
  if (!folder.holds(real)) {
    fail(path, fmt::format("\"{}\" is a link to {}, outside the manifest's folder; put the file itself there", text,
                           real.string()));
  }
  return text;
}

GoldenArray read_array(const Json& json, const std::string& path, Folder& folder) {
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
    fail(path,
         fmt::format("\"{}\"; expected batch, seq, heads and head_dim in some order, separated by \", \"", words));
  }
  return axis_of;
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
    case GoldenRule::theta_rounded:
    case GoldenRule::tables_rounded: instead.dtype = read_floating(fields, "dtype"); break;
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
    std::vector<std::string_view> known;
    for (int i = 0; name(BeyondContract{i}) != "?"; ++i) {
      known.push_back(name(BeyondContract{i}));
      if (word == known.back()) found = BeyondContract{i};
    }
    if (!found || std::find(result.begin(), result.end(), *found) != result.end()) {
      fail(fields.path("beyond_contract"),
           fmt::format("{}; use each of {} once at most", word.dump(), json_fields::listed(known)));
    }
    result.push_back(*found);
  }
  return result;
}

GoldenCase read_case(const Json& json, const std::string& where, Folder& folder) {
  const std::string id = Fields(json, where).text("id");
  Fields fields(json, fmt::format("{} ({})", where, id));
  GoldenCase golden;
  golden.id = read_word(fields, "id", fmt::format("{}{}_-/", lower, digits));
  golden.package = fields.text("package");
  golden.version = fields.text("version");
  golden.function = fields.text("function");
  golden.description = fields.text("description");
  if (fields.find("after") != nullptr) golden.after = read_word(fields, "after", fmt::format("{}{}_-/", lower, digits));
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
  if (fields.find("masked_score") != nullptr) golden.masked_score = fields.negative("masked_score");
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
  if (fields.find("host") != nullptr) golden.host = read_hash(fields, "host", 16);
  std::set<std::string> names;
  for (const Json& array : fields.list("arrays", 1)) {
    golden.arrays.push_back(
        read_array(array, fmt::format("{}.arrays[{}]", fields.path(), golden.arrays.size()), folder));
    const std::string& added = golden.arrays.back().name;
    if (!names.insert(added).second) fail(fields.path("arrays"), fmt::format("two arrays are called {}", added));
  }
  fields.finish();
  check_agreement(golden, fields.path());
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
  const std::vector<std::byte> content = read_file(path, longest_json);
  const Json document = parse_json({reinterpret_cast<const char*>(content.data()), content.size()}, where);
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
  std::set<std::string> hosts{manifest.host.fingerprint};
  if (fields.find("hosts") != nullptr) {
    for (const Json& json : fields.list("hosts", 1)) {
      manifest.hosts.push_back(read_host(json, fields.path("hosts")));
      const std::string& added = manifest.hosts.back().fingerprint;
      if (!hosts.insert(added).second) fail(fields.path("hosts"), fmt::format("host {} stands twice", added));
    }
  }
  std::set<std::string> ids;
  Folder files(folder);
  for (const Json& json : fields.list("cases", 1)) {
    const std::string case_path = fmt::format("{}: cases[{}]", where, manifest.cases.size());
    manifest.cases.push_back(read_case(json, case_path, files));
    const GoldenCase& added = manifest.cases.back();
    if (!ids.insert(added.id).second) {
      fail(case_path, fmt::format("the id \"{}\" stands twice; each names one case", added.id));
    }
    if (!added.host.empty() && !hosts.contains(added.host)) {
      fail(case_path + ".host", fmt::format("{} is not the fingerprint of a host in \"hosts\"", added.host));
    }
  }
  for (const GoldenCase& golden : manifest.cases) {
    if (!golden.after.empty() && !ids.contains(golden.after)) {
      fail(where, fmt::format("case {}: after names \"{}\", which is not a case", golden.id, golden.after));
    }
  }
  fields.finish();
  return manifest;
}

}  // namespace rope
