// A spec as JSON and as flags, both ways, and the schema of the JSON.
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "reference/input_error.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Json = nlohmann::json;
using Names = std::set<std::string>;

std::string refusal(const std::string& json) {
  try {
    spec_from_json(json, "my.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "(accepted)";
}

std::string flag_refusal(const std::string& flag) {
  try {
    scaling_from_flag(flag);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(accepted)";
}

// Splits flags as the command does.
std::map<std::string, std::string> split_flags(const std::string& text) {
  std::map<std::string, std::string> flags;
  std::istringstream words(text);
  std::string word, last;
  while (words >> word) {
    if (word.rfind("--", 0) == 0)
      flags[last = word] = "";
    else
      flags[last] = word;
  }
  return flags;
}

// The spec of the flags: numbers by the standard library, the rule by scaling_from_flag.
RopeSpec spec_from_flags(const std::string& text) {
  const auto flags = split_flags(text);
  RopeSpec spec;
  spec.head_dim = std::stoi(flags.at("--head-dim"));
  spec.rotary_dim = std::stoi(flags.at("--rotary-dim"));
  spec.pairing = flags.at("--pairing") == "interleaved" ? Pairing::interleaved : Pairing::half_split;
  spec.base = std::stod(flags.at("--base"));
  if (flags.contains("--scaling")) spec.scaling = scaling_from_flag(flags.at("--scaling"));
  if (flags.contains("--axes")) {
    std::istringstream sections(flags.at("--axes"));
    for (std::string one; std::getline(sections, one, ':');) spec.axes.sections.push_back(std::stoi(one));
    spec.axes.order = std::ranges::find(axis_orders(), flags.at("--axes-order"), &AxisOrder::word)->order;
    spec.axes.restart = flags.contains("--axes-restart");
  }
  if (flags.contains("--attention-factor")) spec.attention_factor = std::stod(flags.at("--attention-factor"));
  return spec;
}

TEST_CASE("the text of a spec reads as the same spec", "[spec_text]") {
  for (std::size_t kind = 0; kind < std::variant_size_v<Scaling>; ++kind) {
    rc::prop("rule " + std::to_string(kind), [kind] {
      RopeSpec spec = test::any_spec_of(kind);
      if (!spec.axes.sections.empty() && spec.axes.order == AxisLayout::Order::chunked) {
        spec.axes.restart = test::coin();
      }
      RC_ASSERT(test::same(spec_from_flags(to_flags(spec)), spec));
      if (test::coin()) spec.xpos = XPos{test::between(0.1, 2), test::between(16, 4096), -test::between(1, 100)};
      RC_ASSERT(test::same(spec_from_json(to_json(spec), "spec"), spec));
    });
  }
}

TEST_CASE("a list of one factor is a list", "[spec_text]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 2;
  spec.scaling = scaling::LongRope{32, 4096, {1.5}, {2}};
  CHECK(test::same(spec_from_flags(to_flags(spec)), spec));
  CHECK(scaling_from_flag("su,factor=32,original_max_position_embeddings=4096,short_factor=1.5,long_factor=2") ==
        spec.scaling);
}

TEST_CASE("a missing field has its default", "[spec_text]") {
  CHECK(test::same(spec_from_json("{}", "spec"), RopeSpec{}));
  CHECK(spec_from_json(R"({"head_dim": 64})", "spec").rotary_dim == 64);
  CHECK(spec_from_json(R"({"head_dim": 64, "rotary_dim": 32})", "spec").rotary_dim == 32);
  CHECK(spec_from_json(R"({"scaling": {"kind": "yarn", "factor": 4, "original_max_position_embeddings": 4096}})", "s")
            .scaling.index() == 4);
  const auto yarn = std::get<scaling::Yarn>(scaling_from_flag("yarn,factor=4,original_max_position_embeddings=4096"));
  CHECK(std::tuple(yarn.factor, yarn.original_max_position_embeddings) == std::tuple(4.0, 4096.0));
  CHECK(std::tuple(yarn.beta_fast, yarn.beta_slow, yarn.mscale, yarn.mscale_all_dim) ==
        std::tuple(32.0, 1.0, 0.0, 0.0));
  CHECK((yarn.truncate && yarn.clamp == scaling::Yarn::Clamp::rotary_dim));
}

TEST_CASE("bad JSON is refused with source, field and what was expected", "[spec_text]") {
  CHECK_THAT(refusal("{"), Contains("my.json") && Contains("byte 1: not JSON"));
  CHECK_THAT(refusal(R"({"base": NaN})"), Contains("my.json") && Contains("byte 9: not JSON"));
  CHECK_THAT(refusal(R"({"base": 1e999})"), Contains("my.json") && Contains("not JSON"));
  CHECK_THAT(refusal("[]"), Contains("my.json: expected an object, found array"));
  CHECK_THAT(refusal(R"({"head_dmi": 64})"),
             Contains("my.json: unknown field \"head_dmi\"; known are") &&
                 Contains("head_dim, rotary_dim, rotary_offset, pairing, base, scaling, axes"));
  CHECK_THAT(refusal(R"({"head_dim": "64"})"), Contains("my.json.head_dim: expected a whole number, found \"64\""));
  CHECK_THAT(refusal(R"({"head_dim": 64.5})"), Contains("my.json.head_dim: expected a whole number, found 64.5"));
  CHECK_THAT(refusal(R"({"head_dim": 4294967360})"), Contains("my.json.head_dim: expected a whole number"));
  CHECK_THAT(refusal(R"({"head_dim": 63})"), Contains("my.json: spec: rotary_dim is 63; it must be even"));
  CHECK_THAT(refusal(R"({"head_dim": 64, "rotary_dim": 66})"), Contains("rotary_dim is 66; it must be 2 to head_dim"));
  CHECK_THAT(refusal(R"({"base": -1})"), Contains("my.json: spec: base is -1; it must be above 0"));
  CHECK_THAT(refusal(R"({"base": "big"})"), Contains("my.json.base: expected a number, found \"big\""));
  CHECK_THAT(refusal(R"({"pairing": "halves"})"), Contains("my.json.pairing: \"halves\" is not known; use half_split"));
  CHECK_THAT(refusal(R"({"pairing": 1})"), Contains("my.json.pairing: expected a string, found 1"));
  CHECK_THAT(refusal(R"({"scaling": 4})"), Contains("my.json.scaling: expected an object, found number"));
  CHECK_THAT(refusal(R"({"scaling": {"kind": "yam"}})"),
             Contains("my.json.scaling.kind: scaling kind \"yam\" is not known; use one of none, linear, ntk"));
  CHECK_THAT(refusal(R"({"scaling": {"kind": "linear"}})"), Contains("my.json.scaling.factor: missing; scaling kind"));
  CHECK_THAT(refusal(R"({"scaling": {"kind": "linear", "factor": true}})"),
             Contains("my.json.scaling.factor: expected a number, found true"));
  CHECK_THAT(refusal(R"({"scaling": {"kind": "linear", "factor": 2, "beta_fast": 1}})"),
             Contains("my.json.scaling: unknown field \"beta_fast\"; known are kind, factor"));
  CHECK_THAT(refusal(R"({"axes": {"sections": [16, "24", 24]}})"),
             Contains("my.json.axes.sections[1]: expected a whole number, found \"24\""));
  CHECK_THAT(refusal(R"({"axes": {"sections": 64}})"), Contains("my.json.axes.sections: expected an array, found 64"));
  CHECK_THAT(refusal(R"({"axes": {"restart": 1}})"), Contains("my.json.axes.restart: expected true or false, found 1"));
  CHECK_THAT(refusal(R"({"attention_factor": []})"), Contains("my.json.attention_factor: expected a number"));
  CHECK_THAT(refusal(R"({"xpos": {"gama": 1}})"), Contains("my.json.xpos: unknown field \"gama\"; known are gamma"));
}

TEST_CASE("bad flags are refused with field and what was expected", "[spec_text]") {
  CHECK_THAT(flag_refusal("yarn,4"), Contains("--scaling: \"4\" is not of the form name=value"));
  CHECK_THAT(flag_refusal("yarn,factor=four"), Contains("--scaling.factor: expected a number, found \"four\""));
  CHECK_THAT(flag_refusal("linear,factor=nan"), Contains("--scaling.factor: expected a number, found \"nan\""));
  CHECK_THAT(flag_refusal("linear,factor=1e999"), Contains("--scaling.factor: expected a number"));
  CHECK_THAT(flag_refusal("linear,factor=\xff"), Contains("--scaling.factor: expected a number"));
  CHECK_THAT(flag_refusal("linear,factor=1:2"), Contains("--scaling.factor: expected a number, found [1,2]"));
  CHECK_THAT(flag_refusal("kind=5"), Contains("--scaling.kind: expected a string, found 5"));
  CHECK_THAT(flag_refusal("linear"), Contains("--scaling.factor: missing"));
  CHECK_THAT(flag_refusal("square"), Contains("--scaling.kind: scaling kind \"square\" is not known"));
  CHECK_THAT(flag_refusal("linear,factor=2,speed=3"), Contains("--scaling: unknown field \"speed\""));
  CHECK_THAT(flag_refusal("longrope,factor=2,original_max_position_embeddings=9,short_factor=1:x,long_factor=1:2"),
             Contains("--scaling.short_factor[1]: expected a number, found \"x\""));
}

// The schema against the parser.

Json schema() {
  std::ifstream stream(source_folder() / "reference/rope_spec.schema.json");
  return Json::parse(stream);
}

Names keys(const Json& object) {
  Names names;
  for (const auto& [key, value] : object.items()) names.insert(key);
  return names;
}

// The fields that the parser lists when it meets an unknown one.
Names known_to_parser(const std::string& json) {
  const std::string text = refusal(json);
  const std::string mark = "known are ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {"(no list in: " + text + ")"};
  std::istringstream list(text.substr(at + mark.size()));
  Names names;
  for (std::string one; std::getline(list >> std::ws, one, ',');) names.insert(one);
  return names;
}

// A value that the rule accepts, for each of its fields in the schema.
Json example(const std::string& key, const Json& field) {
  if (key == "kind") return field.contains("const") ? field["const"] : field["enum"][0];
  if (field.contains("enum")) return field["enum"][0];
  if (field.value("type", "") == "boolean") return true;
  if (field.value("$ref", "") == "#/$defs/factors") return Json::array({1.5, 2.5});
  if (key == "low_freq_factor") return 0.5;
  if (key == "proportion") return 0.5;
  return 4;
}

Json example_of(const Json& rule) {
  Json object;
  for (const auto& [key, field] : rule["properties"].items()) object[key] = example(key, field);
  return {{"head_dim", 4}, {"scaling", object}};
}

TEST_CASE("the schema has exactly the parser's fields", "[spec_text]") {
  const Json root = schema();
  CHECK(keys(root["properties"]) == known_to_parser(R"({"?": 1})"));
  CHECK(keys(root["properties"]["axes"]["properties"]) == known_to_parser(R"({"axes": {"?": 1}})"));
  CHECK(keys(root["properties"]["xpos"]["properties"]) == known_to_parser(R"({"xpos": {"?": 1}})"));
  for (const Json* object : {&root, &root["properties"]["axes"], &root["properties"]["xpos"]}) {
    CHECK((*object)["additionalProperties"] == false);
  }
}

TEST_CASE("the schema has the parser's rules, with their names, fields and limits", "[spec_text]") {
  const Json root = schema();
  Names rules;
  for (const Json& entry : root["properties"]["scaling"]["oneOf"]) {
    rules.insert(entry["$ref"].get<std::string>().substr(8));  // "#/$defs/"
  }
  std::size_t count = 0;
  for_each_rule([&](auto rule) {
    const std::string kind(rule.kind);
    INFO(kind);
    ++count;
    REQUIRE(rules.contains(kind));
    const Json& entry = root["$defs"][kind];
    CHECK(entry["additionalProperties"] == false);

    Names names{std::begin(rule.aliases), std::end(rule.aliases)};
    names.insert(kind);
    const Json& word = entry["properties"]["kind"];
    CHECK((word.contains("const") ? Names{word["const"]} : word["enum"].get<Names>()) == names);

    Names known{"kind"}, required;
    rule.fields(rule, [&](const std::string& key, const auto&, scaling::Presence presence, scaling::Range) {
      known.insert(key);
      if (presence == scaling::Presence::required) required.insert(key);
    });
    if (kind != "none") required.insert("kind");  // an object without a kind is the rule `none`
    CHECK(keys(entry["properties"]) == known);
    CHECK(entry.value("required", Names{}) == required);

    // The parser takes what the schema describes, each of its words, and refuses values outside its limits.
    const Json good = example_of(entry);
    CHECK(refusal(good.dump()) == "(accepted)");
    for (const auto& [key, described] : entry["properties"].items()) {
      INFO(key);
      const Json& field =
          described.contains("$ref") && described["$ref"] == "#/$defs/positive" ? root["$defs"]["positive"] : described;
      const auto with = [&](const Json& value) {
        Json changed = good;
        changed["scaling"][key] = value;
        return refusal(changed.dump());
      };
      for (const Json& choice : field.value("enum", Json::array())) CHECK(with(choice) == "(accepted)");
      if (field.contains("exclusiveMinimum")) CHECK_THAT(with(field["exclusiveMinimum"]), Contains(key));
      if (field.contains("minimum")) {
        CHECK(with(field["minimum"]) == "(accepted)");
        CHECK_THAT(with(field["minimum"].get<double>() - 0.001), Contains("scaling." + key));
      }
      if (field.contains("maximum")) {
        CHECK(with(field["maximum"]) == "(accepted)");
        CHECK_THAT(with(field["maximum"].get<double>() + 0.001), Contains("scaling." + key));
      }
      if (key == "mscale" || key == "mscale_all_dim") CHECK(with(-1) == "(accepted)");
    }
  });
  CHECK(rules.size() == count);
}

TEST_CASE("the schema's limits of the spec itself are the parser's", "[spec_text]") {
  const Json properties = schema()["properties"];
  CHECK(properties["rotary_dim"]["minimum"] == 2);
  CHECK(properties["rotary_dim"]["multipleOf"] == 2);
  CHECK(refusal(R"({"rotary_dim": 2})") == "(accepted)");
  CHECK(properties["base"]["exclusiveMinimum"] == 0);
  CHECK(properties["axes"]["properties"]["sections"]["maxItems"] == 3);
  for (const Json& pairing : properties["pairing"]["enum"]) {
    CHECK(refusal(Json{{"pairing", pairing}}.dump()) == "(accepted)");
  }
  for (const Json& order : properties["axes"]["properties"]["order"]["enum"]) {
    CHECK(refusal(Json{{"axes", {{"order", order}}}}.dump()) == "(accepted)");
  }
  const RopeSpec defaults;
  CHECK(properties["head_dim"]["default"] == defaults.head_dim);
  CHECK(properties["base"]["default"] == defaults.base);
  CHECK(properties["pairing"]["default"] == name(defaults.pairing));
}

}  // namespace
}  // namespace rope
