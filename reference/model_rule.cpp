// The scaling rule of a model's rope, and its axes.
#include <algorithm>
#include <cmath>

#include "reference/model_reader.hpp"
#include "reference/model_types.hpp"

namespace rope {
namespace {

constexpr const char* original = "original_max_position_embeddings";

bool has(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

// NTK-RoPE of kexue.fm/archives/9706, fixed (mixed_b 1) or mixed, as vLLM computes it: pair p is slower by
// factor^((2(p + 1)/r)^mixed_b). transformers has no such rule; our rule ntk is another one, which stretches the base.
scaling::LongRope ntk_of_vllm(ObjectReader& dictionary, int rotary_dim) {
  const auto factor = dictionary.optional<double>("factor");
  const double mixed = dictionary.optional<double>("mixed_b").value_or(1);
  if (!factor || *factor <= 0 || mixed < 0) {
    throw InputError(fmt::format("{}: factor must be above 0, and mixed_b, if it is there, at least 0; vLLM's rule ntk "
                                 "needs factor",
                                 dictionary.path()));
  }
  scaling::LongRope rule;
  rule.original_max_position_embeddings = 2;  // of no effect: both lists are the same
  constexpr int most_pairs = 32768;           // wider heads are refused later
  const int pairs = std::min(rotary_dim / 2, most_pairs);
  for (int p = 1; p <= pairs; ++p) {
    rule.short_factor.push_back(std::pow(*factor, std::pow(static_cast<double>(p) / pairs, mixed)));
  }
  rule.long_factor = rule.short_factor;
  return rule;
}

// The keys that a rule reads count as read.
void mark_read(ObjectReader& dictionary, const Scaling& rule) {
  std::visit(
      [&](const auto& r) {
        r.fields(r, [&](const std::string& key, auto&&...) { dictionary.find(key); });
      },
      rule);
}

}  // namespace

RopeSpec ModelReader::spec_of(Source& source) {
  RopeSpec spec;
  const Size found = size(source);
  spec.head_dim = found.head_dim;
  spec.rotary_dim = found.rotary_dim;
  spec.pairing = pairing();
  spec.base = base(source);
  read_rule(source, spec);
  return spec;
}

void ModelReader::read_rule(Source& source, RopeSpec& spec) {
  const Json written = source.rule;
  ObjectReader dictionary(written, source.path);
  for (const char* key : {"rope_type", "type", "rope_theta", "partial_rotary_factor"}) dictionary.find(key);
  source.rule["kind"] = source.kind;
  if (source.kind == "proportional") {
    const std::optional<double> given = given_part(source);
    source.rule["proportion"] = given ? *given : part(source);
  }
  fill_lengths(source);
  if (source.kind == "ntk") {
    spec.scaling = ntk_of_vllm(dictionary, spec.rotary_dim);
    assume(fmt::format("{}.{}: \"ntk\" is read as vLLM's rule: longrope with a factor for each pair", source.path,
                       source.kind_key));
    read_axes(source, dictionary, spec);
    note_unread_keys(dictionary, row_, source.kind, unread_);
    return;
  }
  spec.scaling = read_scaling(source.rule, source.path, Unknown::passed_over, source.kind_key);
  mark_read(dictionary, spec.scaling);
  // transformers reads it for these rules only.
  const bool has_factor = std::holds_alternative<scaling::Yarn>(spec.scaling) ||
                          std::holds_alternative<scaling::LongRope>(spec.scaling);
  if (has_factor) spec.attention_factor = dictionary.optional<double>("attention_factor");
  const Json& own_factor = source.mode.contains("yarn_factor") ? source.mode["yarn_factor"] : Json();
  if (source.kind == "yarn" && !spec.attention_factor && own_factor.is_number()) {
    spec.attention_factor = own_factor.get<double>();
    take_default("attention_factor", fmt::format("{}", *spec.attention_factor));
  }
  if (source.kind == "yarn" && source.is_nested && dictionary.optional<bool>("truncate") == false) {
    doubt(fmt::format("{}.truncate: transformers {} passes over it in a dictionary for some layers", source.path,
                      transformers_version()));
  }
  const Json& keys = row_.contains("keys") ? row_["keys"] : Json::object();
  // HunYuan's fixed stretch of the base, which its files call dynamic.
  if (keys.contains("alpha") && source.kind == "dynamic") {
    if (const double alpha = dictionary.optional<double>("alpha").value_or(0); alpha != 0) {
      spec.scaling = scaling::Ntk{{}, alpha};
      dictionary.find("factor");
    }
  }
  // PhiMoE's two attention factors, for short and long sequences.
  if (keys.contains("short_mscale") && source.kind != "default") {
    const auto near = dictionary.optional<double>("short_mscale");
    const auto far = dictionary.optional<double>("long_mscale");
    if (!near || near != far) {
      throw InputError(fmt::format("{}: short_mscale and long_mscale must be there and equal: a spec has one attention "
                                   "factor for all lengths",
                                   source.path));
    }
    spec.attention_factor = near;
  }
  read_axes(source, dictionary, spec);
  if (source.is_of_file) note_unread_keys(dictionary, row_, source.kind, unread_);
}

// As in transformers: in a dictionary for all layers the whole configuration's original length takes precedence. A
// missing factor is the ratio of the two lengths.
void ModelReader::fill_lengths(Source& source) {
  const std::string& kind = source.kind;
  Json& rule = source.rule;
  if (kind == "dynamic") {
    if (const auto length = longest("rule dynamic starts from it")) rule[original] = *length;
    return;
  }
  if (kind != "llama3" && kind != "yarn" && kind != "longrope" && kind != "su") return;
  const auto of_all = file_.optional<double>(original);
  const auto of_class = class_value(original);
  const bool is_for_all = source.layers.empty();
  if (of_all && is_for_all) {
    rule[original] = *of_all;
  } else if (of_class && is_for_all && source.is_of_file && rule.value(original, Json()) != *of_class) {
    rule[original] = *of_class;
    take_default(original, fmt::format("{}", *of_class));
  } else if (!has(rule, original)) {
    if (const auto length = longest("it is the original length, too")) {
      rule[original] = *length;
      assume(fmt::format("{} is not there: max_position_embeddings, {}", original, *length));
    }
  }
  if (has(rule, "factor") || kind == "llama3" || !has(rule, original)) return;
  const auto length = longest("the factor is its ratio to the original length");
  if (length && rule[original].is_number() && rule[original].get<double>() > 0) {
    rule["factor"] = *length / rule[original].get<double>();
  }
}

std::optional<double> ModelReader::longest(const char* reason) {
  if (result_.max_position_embeddings) return static_cast<double>(*result_.max_position_embeddings);
  const std::optional<double> of_class = class_value("max_position_embeddings");
  if (of_class) take_default("max_position_embeddings", fmt::format("{} ({})", *of_class, reason));
  return of_class;
}

void ModelReader::read_axes(const Source& source, ObjectReader& dictionary, RopeSpec& spec) {
  if (row_.contains("axes")) {
    throw InputError(fmt::format("{}.model_type: the pairs of {} follow axes {}.., an order that no spec has; write "
                                 "the nearest spec and give it by --spec",
                                 file_.path(), model_type_, row_["axes"].get<std::string>().substr(0, 12)));
  }
  if (member(source.row, "rule").value("rope_type", "") == axial) {
    const int pairs = spec.rotary_dim / 2;
    if (pairs % 2 != 0) {
      throw InputError(fmt::format("{}: {} pairs cannot be shared by two axes", source.path, pairs));
    }
    spec.axes = {{pairs / 2, pairs / 2}, AxisLayout::Order::chunked, true};
    return;
  }
  const Json& usual = row_.contains("sections") ? row_["sections"] : Json();
  if (is_known_ && !usual.is_array()) return;  // sections that the type does not read are noted as unread
  const bool in_turn = row_.value("order", "chunked") == std::string("interleaved");
  const auto given = dictionary.optional<std::vector<int>>("mrope_section");
  const auto order = dictionary.optional<bool>("mrope_interleaved");
  if (given) {
    spec.axes.sections = *given;
  } else if (usual.is_array()) {
    spec.axes.sections = usual.get<std::vector<int>>();
    take_default("mrope_section", fmt::format("{}", fmt::join(spec.axes.sections, ", ")));
  }
  if (is_known_ && order && *order != in_turn) {
    doubt(fmt::format("{}.mrope_interleaved is {}; {} has the axes {}", source.path, *order, model_type_,
                      in_turn ? "interleaved" : "in chunks"));
  }
  if (!is_known_ && given && !order) doubt("mrope_interleaved is not there: false");
  const bool is_openpangu = source.rule.value(source.kind_key, "") == openpangu;
  if (!is_known_ && given && order == true && !is_openpangu) {
    doubt("mrope_interleaved: the order of Qwen3-VL, axes 0 1 2 0 1 2 ..; --axes-order spread is openPangu's and "
          "Bailing's, 0 1 2 1 2 ..");
  }
  if (!order.value_or(in_turn)) return;
  spec.axes.order = is_openpangu ? AxisLayout::Order::spread : AxisLayout::Order::interleaved;
}

}  // namespace rope
