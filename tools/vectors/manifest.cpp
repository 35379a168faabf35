#include "tools/vectors/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "golden/json_fields.hpp"
#include "golden/manifest.hpp"
#include "reference/foreign_json.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/worker/protocol/claims_text.hpp"

namespace rope::vectors {
namespace {

using json_fields::fail;
using json_fields::Fields;
using json_fields::Json;

constexpr std::int64_t schema_version = 1;
constexpr std::pair<std::string_view, Level> levels[] = {
    {"quick", Level::quick}, {"full", Level::full}, {"exhaustive", Level::exhaustive}};

// Writing

Json array_json(const Array& array) {
  Json json{{"name", array.name},
            {"dtype", name(array.dtype)},
            {"storage", descr(storage_of(array.dtype))},
            {"shape", array.shape},
            {"file", array.file}};
  if (!array.sha256.empty()) json["sha256"] = array.sha256;
  return json;
}

Json arrays_json(const std::vector<Array>& arrays) {
  Json json = Json::array();
  for (const Array& array : arrays) json.push_back(array_json(array));
  return json;
}

Json call_json(const CallRecord& call) {
  Json json{{"id", call.id},
            {"attrs", parse_json(call.attrs, "attrs")},
            {"inputs", arrays_json(call.inputs)},
            {"outputs", arrays_json(call.outputs)}};
  if (!call.expected.empty()) json["expected"] = arrays_json(call.expected);
  json["digest"] = call.digest;
  return json;
}

Json selection_json(const Selection& selection) {
  const auto level = std::find_if(std::begin(levels), std::end(levels),
                                  [&](const auto& known) { return known.second == selection.level; });
  Json json{{"level", level->first}, {"seed", selection.seed}, {"only", selection.only}};
  if (selection.spec) json["spec"] = Json::parse(to_json(*selection.spec));
  if (selection.any_pairing) json["spec"].erase("pairing");
  if (!selection.layers.empty()) json["layers"] = selection.layers;
  if (selection.most_tokens) json["most_tokens"] = *selection.most_tokens;
  return json;
}

// Reading

bool is_hash(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Array read_array(const Json& json, const std::string& path, bool given) {
  Fields fields(json, path);
  Array array;
  array.name = fields.text("name");
  const std::string dtype = fields.text("dtype");
  const std::optional<DType> known = dtype_from_name(dtype);
  if (!known) fail(fields.path("dtype"), fmt::format("\"{}\" is not one of f64, f32, f16, bf16, i32, i64", dtype));
  array.dtype = *known;
  if (const std::string storage = fields.text("storage"); storage != descr(storage_of(array.dtype))) {
    fail(fields.path("storage"),
         fmt::format("\"{}\"; {} is stored as \"{}\"", storage, dtype, descr(storage_of(array.dtype))));
  }
  for (const Json& extent : fields.list("shape", 1)) {
    array.shape.push_back(Fields::whole(extent, fields.path("shape"), 0, std::numeric_limits<std::int64_t>::max()));
  }
  array.file = fields.text("file");
  if (given) {
    array.sha256 = fields.text("sha256");
    if (!is_hash(array.sha256)) fail(fields.path("sha256"), "expected 64 lower-case hexadecimal digits");
  }
  fields.finish();
  return array;
}

std::vector<Array> read_arrays(Fields& fields, const char* key, bool given) {
  std::vector<Array> arrays;
  for (const Json& json : fields.list(key, 1)) {
    arrays.push_back(read_array(json, fmt::format("{}[{}]", fields.path(key), arrays.size()), given));
  }
  return arrays;
}

// The file names of responses are not trusted but made again: the manifest may come from a stranger.
void check_outputs(const CallRecord& call, const std::string& path) {
  if (call.id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != std::string::npos) {
    fail(path + ".id", fmt::format("\"{}\"; expected only capital letters, digits, - and .", call.id));
  }
  CallRecord named = call;
  name_call(named, call.id);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const Array& output = call.outputs[i];
    if (output.name != "q_out" && output.name != "k_out") {
      fail(path + ".outputs", fmt::format("\"{}\"; expected q_out or k_out", output.name));
    }
    if (output.file != named.outputs[i].file) {
      fail(path + ".outputs", fmt::format("the file \"{}\"; expected {}", output.file, named.outputs[i].file));
    }
  }
}

CallRecord read_call(const Json& json, const std::string& path) {
  Fields fields(json, path);
  CallRecord call;
  call.id = fields.text("id");
  call.attrs = fields.require("attrs").dump();
  call.inputs = read_arrays(fields, "inputs", true);
  call.outputs = read_arrays(fields, "outputs", false);
  if (fields.find("expected") != nullptr) call.expected = read_arrays(fields, "expected", true);
  call.digest = fields.text("digest");
  if (!is_hash(call.digest)) fail(fields.path("digest"), "expected 64 lower-case hexadecimal digits");
  fields.finish();
  check_outputs(call, path);
  return call;
}

CaseRecord read_case(const Json& json, const std::string& path) {
  Fields fields(json, path);
  const std::string text = fields.text("case");
  CaseRecord record;
  try {
    record.c = case_from_text(text);
    requirement_called(record.c.requirement);
  } catch (const InputError& error) {
    fail(path, fmt::format("this build does not know the case: {}; use the ropecheck that made the export, or export "
                           "again",
                           error.what()));
  }
  for (const Json& call : fields.list("calls", 1)) {
    record.calls.push_back(read_call(call, fmt::format("{}.calls[{}]", path, record.calls.size())));
  }
  fields.finish();
  return record;
}

Selection read_selection(const Json& json, const std::string& path) {
  Fields fields(json, path);
  Selection selection;
  selection.level = json_fields::choose<Level>(
      fields, "level", {{"quick", Level::quick}, {"full", Level::full}, {"exhaustive", Level::exhaustive}});
  const Json& seed = fields.require("seed");
  if (!seed.is_number_unsigned()) fail(fields.path("seed"), "expected a whole number from 0 to 2^64 - 1");
  selection.seed = seed.get<std::uint64_t>();
  for (const Json& only : fields.list("only", 0)) {
    if (!only.is_string()) fail(fields.path("only"), "expected requirements or families");
    selection.only.push_back(only.get<std::string>());
  }
  if (const Json* spec = fields.find("spec")) {
    selection.spec = spec_from_json(spec->dump(), fields.path("spec"));
    selection.any_pairing = !spec->contains("pairing");
  }
  if (fields.find("layers") != nullptr) selection.layers = fields.text("layers");
  if (fields.find("most_tokens") != nullptr) selection.most_tokens = fields.whole("most_tokens", 1);
  fields.finish();
  return selection;
}

Claims read_claims(const Json& json, const std::string& path) {
  Claims claims;
  try {
    claims.capabilities = worker::claims_from_json(nlohmann::json(json), claims.head_dims);
  } catch (const std::exception& error) {
    fail(path, fmt::format("{}; tools/worker/protocol/PROTOCOL.md says what claims are", error.what()));
  }
  claims.capabilities.head_dims = nullptr;
  return claims;
}

Json parsed(const std::filesystem::path& path) {
  const std::vector<std::byte> content = read_file(path, longest_json);
  return parse_json({reinterpret_cast<const char*>(content.data()), content.size()}, path.string());
}

}  // namespace

std::int64_t Vectors::calls() const {
  std::int64_t sum = 0;
  for (const CaseRecord& record : cases) sum += static_cast<std::int64_t>(record.calls.size());
  return sum;
}

// A line for each call: there are thousands, and a person may want to look at one.
std::string to_json(const Vectors& vectors) {
  rope_capabilities claims = vectors.claims.capabilities;
  claims.head_dims = vectors.claims.head_dims.data();
  claims.head_dim_count = static_cast<std::int32_t>(vectors.claims.head_dims.size());
  Json left_out = Json::array();
  for (const LeftOut& left : vectors.left_out) {
    left_out.push_back({{"requirement", left.requirement}, {"cases", left.cases}, {"reason", left.reason}});
  }
  std::string text = fmt::format(
      "{{\n\"schema\": {},\n\"tool\": \"ropecheck\",\n\"version\": {},\n\"selection\": {},\n\"claims\": {},\n"
      "\"left_out\": {},\n\"cases\": [",
      schema_version, Json(vectors.version).dump(), selection_json(vectors.selection).dump(),
      worker::claims_to_json(claims).dump(), left_out.dump());
  std::string_view next_case = "\n";
  for (const CaseRecord& record : vectors.cases) {
    text += fmt::format("{}  {{\"case\": {}, \"calls\": [", next_case, Json(to_text(record.c)).dump());
    std::string_view next_call = "\n    ";
    for (const CallRecord& call : record.calls) {
      text.append(next_call).append(call_json(call).dump());
      next_call = ",\n    ";
    }
    text += "\n  ]}";
    next_case = ",\n";
  }
  return text + "\n]}\n";
}

Vectors read_vectors(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "manifest.json";
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) {
    throw InputError(fmt::format("{}: manifest.json is missing; expected a folder that `ropecheck vectors export` made",
                                 folder.string()));
  }
  const Json document = parsed(path);
  Fields fields(document, path.string());
  if (const std::int64_t schema = fields.whole("schema"); schema != schema_version) {
    fail(fields.path("schema"), fmt::format("version {}; this program reads version {}: use the ropecheck that made "
                                            "the export, or export again",
                                            schema, schema_version));
  }
  Vectors vectors;
  vectors.folder = folder;
  json_fields::choose<bool>(fields, "tool", {{"ropecheck", true}});
  vectors.version = fields.text("version");
  vectors.selection = read_selection(fields.require("selection"), fields.path("selection"));
  vectors.claims = read_claims(fields.require("claims"), fields.path("claims"));
  for (const Json& json : fields.list("left_out", 0)) {
    Fields left(json, fields.path("left_out"));
    vectors.left_out.push_back({left.text("requirement"), left.whole("cases"), left.text("reason")});
    left.finish();
  }
  std::set<std::string> ids;
  for (const Json& json : fields.list("cases", 1)) {
    const std::string case_path = fmt::format("{}: cases[{}]", path.string(), vectors.cases.size());
    vectors.cases.push_back(read_case(json, case_path));
    for (const CallRecord& call : vectors.cases.back().calls) {
      if (!ids.insert(call.id).second) fail(case_path, fmt::format("two calls have the id \"{}\"", call.id));
    }
  }
  fields.finish();
  return vectors;
}

}  // namespace rope::vectors
