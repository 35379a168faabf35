#include "reference/model_reader.hpp"

#include <algorithm>
#include <set>

#include "reference/did_you_mean.hpp"
#include "reference/model_types.hpp"

namespace rope {
namespace {

// "3, 7, 11, 15 .." of a long list
std::string few(const std::vector<std::size_t>& numbers) {
  constexpr std::size_t most = 8;
  std::vector<std::size_t> shown = numbers;
  shown.resize(std::min(numbers.size(), most));
  return fmt::format("{}{}", fmt::join(shown, ", "), numbers.size() > most ? " .." : "");
}

// The file with each field under the name that the type keeps it by: GPT-J calls hidden_size n_embd, and reads both.
Json with_kept_names(const Json& config, const Json& row, const std::string& where) {
  Json renamed = config;
  for (const auto& [name, kept] : member(row, "attribute_map").items()) {
    const Json given = member(renamed, name.c_str());
    if (given.is_null()) continue;
    const auto& kept_name = kept.get_ref<const std::string&>();
    const Json& other = member(renamed, kept_name.c_str());
    if (!other.is_null() && other != given) {
      throw InputError(fmt::format("{}: {} is {}, {} is {}; they mean the same", where, name, given.dump(), kept_name,
                                   other.dump()));
    }
    renamed[kept_name] = given;
    renamed.erase(name);
  }
  return renamed;
}

}  // namespace

ModelReader::ModelReader(const Json& config, const std::string& where, std::string model_type, Json row, bool is_known,
                         const ModelReading& how)
    : config_(with_kept_names(config, row, where)),
      file_(config_, where),
      model_type_(std::move(model_type)),
      row_(std::move(row)),
      is_known_(is_known),
      how_(how) {
  file_.find("model_type");
}

ModelConfig ModelReader::read() {
  result_.model_type = model_type_;
  follow_switches();
  refuse_other_embeddings();
  for (const char* field : {"n_positions", "max_position_embeddings"}) {
    if (const auto length = length_in(file_, field)) result_.max_position_embeddings = length;
  }
  find_dictionary();
  for (const auto& [layers, row] : row_["ropes"].items()) add(layers, row);
  if (dictionary_ != nullptr && !is_dictionary_read_) {
    doubt(fmt::format("{}: {} of transformers {} passes over it", dictionary_path_, model_type_,
                      transformers_version()));
  }
  if (result_.ropes.empty()) throw InputError(fmt::format("{}: no kind of layers has a rope", dictionary_path_));
  say_layers();
  say_layers_without_rope();
  if (!is_known_) assume(not_known());
  if (row_.contains("first_feature")) place_at_end_of_head();
  if (row_.contains("unseen")) assume(fmt::format("not known: whether all layers of {} have rope", model_type_));
  compare_head_dim();
  note_unread(file_, row_, model_type_, unread_);
  settle_doubts();
  return std::move(result_);
}

void ModelReader::assume(std::string sentence) {
  std::vector<std::string>& all = result_.assumed;
  if (std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(std::move(sentence));
}

void ModelReader::take_default(const std::string& field, const std::string& value) {
  if (is_known_) {
    assume(fmt::format("{} is not there: {}, the default of {} in transformers {}", field, value, model_type_,
                       transformers_version()));
  } else {
    doubt(fmt::format("{} is not there: {}", field, value));
  }
}

std::string ModelReader::not_known() const {
  if (model_type_.empty()) return fmt::format("{}.model_type: missing", file_.path());
  return fmt::format("{}.model_type: \"{}\" is not a type of transformers {}{}", file_.path(), model_type_,
                     transformers_version(), did_you_mean(model_type_, model_types_with_rope(), "; ", ""));
}

void ModelReader::settle_doubts() {
  for (std::string& line : unread_.settled(how_.accepts_guesses, is_known_ ? file_.path() : not_known())) {
    assume(std::move(line));
  }
}

std::optional<double> ModelReader::class_value(const std::string& field) const {
  const Json& values = member(row_, "values");
  const auto found = values.find(field);
  return found == values.end() ? std::nullopt : std::optional(found->get<double>());
}

// Truth values, and nulls, that change the pairing, or which layers have rope.
void ModelReader::follow_switches() {
  const auto change = [this](const Json& changes) {
    for (const auto& [key, other] : changes.items()) {
      if (other.is_null()) {
        row_.erase(key);
      } else {
        row_[key] = other;
      }
    }
  };
  const Json switches = member(row_, "switches"), if_null = member(row_, "if_null");
  for (const auto& [field, changes] : switches.items()) {
    const std::optional<bool> value = file_.optional<bool>(field);
    if (value && *value != row_["no_effect"][field].get<bool>()) change(changes);
  }
  for (const auto& [field, changes] : if_null.items()) {
    if (file_.is_null(field)) change(changes);
  }
  if (const auto neighbours = is_known_ ? std::nullopt : file_.optional<bool>("rope_interleave")) {
    row_["pairing"] = *neighbours ? "interleaved" : "half_split";
  }
}

void ModelReader::refuse_other_embeddings() {
  const auto kind = file_.optional<std::string>("position_embedding_type");
  const std::string place = file_.path() + ".position_embedding_type";
  if (const Json& known = member(row_, "position_embedding_type"); known.is_object()) {
    if (!kind && !lists(known, "rope", known["default"].is_string() ? known["default"].get<std::string>() : "")) {
      throw InputError(fmt::format("{}: missing; the default of {} in transformers {} is {}, which is not rope", place,
                                   model_type_, transformers_version(), known["default"].dump()));
    }
    if (kind && !lists(known, "rope", *kind)) throw InputError(fmt::format("{}: \"{}\" is not rope", place, *kind));
  } else if (kind && is_known_) {
    unread_.lines.push_back(fmt::format("{}: \"{}\" is passed over: {} does not read it", place, *kind, model_type_));
  } else if (kind && kind->find("rope") == std::string::npos && kind->find("rotary") == std::string::npos) {
    throw InputError(fmt::format("{}: \"{}\" is not rope", place, *kind));
  }
  if (member(member(row_, "no_rope"), "all").is_boolean()) {
    throw InputError(fmt::format("{}: no layer of {} has rope with these fields", file_.path(), model_type_));
  }
}

// As transformers: rope_scaling, unless it is empty; else rope_parameters.
void ModelReader::find_dictionary() {
  dictionary_path_ = file_.path();
  const Json* scaling = file_.find("rope_scaling");
  const Json* parameters = file_.find("rope_parameters");
  for (const auto& [name, found] : {std::pair("rope_scaling", scaling), std::pair("rope_parameters", parameters)}) {
    if (found == nullptr) continue;
    if (!found->is_object()) {
      throw InputError(
          fmt::format("{}.{}: expected an object, found {}", file_.path(), name, found->type_name()));
    }
    if (dictionary_ != nullptr || found->empty()) continue;
    dictionary_ = found;
    dictionary_path_ = fmt::format("{}.{}", file_.path(), name);
  }
  if (scaling != nullptr && parameters != nullptr && dictionary_ == scaling && *scaling != *parameters) {
    assume("rope_scaling and rope_parameters differ: rope_scaling counts, as in transformers");
  }
  if (dictionary_ == nullptr) return;
  for (const auto& [layers, row] : row_["ropes"].items()) is_nested_ = is_nested_ || dictionary_->contains(layers);
}

// How the type reads its fields: without a dictionary as its row says, beside one as the row of that dictionary says.
// A flat rope_parameters is mostly read as rope_scaling is.
const Json& ModelReader::mode_of(const Json& row) const {
  if (dictionary_ == nullptr) return row;
  if (is_nested_) return member(row, "nested");
  const bool is_new = dictionary_path_.ends_with("rope_parameters");
  return member(row, is_new && row.contains("flat_parameters") ? "flat_parameters" : "flat");
}

ModelReader::Source ModelReader::source_of(const std::string& layers, const Json& row) const {
  const Json& mode = mode_of(row);
  Source source{layers, row, row, member(row, "rule"), dictionary_path_, "default", "rope_type", false, is_nested_};
  if (mode == "refused") {
    throw InputError(fmt::format("{}: transformers {} does not read such a dictionary for {}; {}", dictionary_path_,
                                 transformers_version(), model_type_,
                                 is_nested_ ? "give the spec by --spec" : "expected one for each kind of layers"));
  }
  if (is_nested_ && !dictionary_->contains(layers)) {
    throw InputError(
        fmt::format("{}: \"{}\" is missing; {} has layers of this kind", dictionary_path_, layers, model_type_));
  }
  if (dictionary_ == nullptr || !mode.is_object()) return source;
  source.mode = mode;
  source.is_of_file = true;
  source.rule = is_nested_ ? (*dictionary_)[layers] : *dictionary_;
  if (is_nested_) source.path = fmt::format("{}.{}", dictionary_path_, layers);
  return source;
}

void ModelReader::add(const std::string& layers, const Json& row) {
  Source source = source_of(layers, row);
  if (source.rule.is_null()) {
    assume(fmt::format("{} layers have no rope: {} is null", layers, source.path));
    return;
  }
  if (!source.rule.is_object()) {
    throw InputError(fmt::format("{}: expected an object, found {}", source.path, source.rule.type_name()));
  }
  is_dictionary_read_ = is_dictionary_read_ || source.is_of_file;
  if (dictionary_ != nullptr && !source.is_of_file) {
    assume(fmt::format("{} does not apply to {} layers of {}", dictionary_path_, layers.empty() ? "the" : layers,
                       model_type_));
  }
  source.kind_key = source.rule.contains("rope_type") && !source.rule["rope_type"].is_null() ? "rope_type" : "type";
  ObjectReader dictionary(source.rule, source.path);
  source.kind = rule_called(dictionary.optional<std::string>(source.kind_key).value_or("default"), source);
  if (!source.is_of_file && source.kind != "default") take_default("rope_parameters", "rule " + source.kind);
  const Json* thetas = nullptr;
  if (member(row_, "no_effect").contains("layer_rope_theta")) thetas = file_.find("layer_rope_theta");
  if (thetas != nullptr) {
    add_by_layer(source, *thetas);
  } else {
    add_rope(source);
  }
}

// The rule that the type's class takes for the file's name of it.
std::string ModelReader::rule_called(const std::string& name, const Source& source) {
  const std::string place = fmt::format("{}.{}", source.path, source.kind_key);
  const bool is_axial = member(source.row, "rule").value("rope_type", "") == axial;
  if (is_axial && name == axial) {
    assume(fmt::format("rule axial of {}: two axes, height and width, whose frequencies start again", model_type_));
    return "default";
  }
  if (is_axial) {
    throw InputError(fmt::format("{}: {} of transformers {} takes only rule \"axial\", not \"{}\"", place, model_type_,
                                 transformers_version(), name));
  }
  if (name == axial) {
    throw InputError(fmt::format("{}: \"axial\" is a rule of vision towers, and each of their classes has its own: "
                                 "mostly two axes that restart; give such a spec by --spec, "
                                 "{{\"axes\":{{\"sections\":[16,16],\"restart\":true}}, ..}}",
                                 place));
  }
  if (lists(row_, "refused_rules", name)) {
    throw InputError(fmt::format("{}: {} of transformers {} refuses rule \"{}\"; give the spec by --spec", place,
                                 model_type_, transformers_version(), name));
  }
  if (source.mode.contains("passes_over_type") && source.kind_key == "type" && name != "default") {
    doubt(fmt::format("{}: {} of transformers {} reads only rope_type", place, model_type_, transformers_version()));
  }
  if (const Json& other = member(member(row_, "renamed_rules"), name.c_str()); other.is_string()) {
    if (other != name && other != "default") assume(fmt::format("{}: \"{}\" means {}", place, name, other.dump()));
    return other.get<std::string>();
  }
  if (is_rule_of_transformers(name)) return name;
  // Qwen2-VL's word for its axes, which other vendors took.
  const bool names_axes = name == "mrope" || (name == openpangu && source.rule.contains("mrope_interleaved"));
  const bool has_axes = !is_known_ && names_axes && source.rule.contains("mrope_section");
  if (!has_axes) {
    doubt(fmt::format("{}: \"{}\" is not a rule of transformers {} for this type", place, name,
                      transformers_version()));
  }
  return has_axes || name == "mrope" ? "default" : name;
}

// A base for each layer; 0 is a layer without rope.
void ModelReader::add_by_layer(const Source& source, const Json& thetas) {
  const std::string path = file_.path() + ".layer_rope_theta";
  std::set<double> bases;
  for (const double theta : ObjectReader::convert<std::vector<double>>(thetas, path)) {
    if (theta != 0) bases.insert(theta);
  }
  constexpr std::size_t most_bases = 64;
  if (bases.size() > most_bases) {
    throw InputError(fmt::format("{}: {} different bases; allowed are {}", path, bases.size(), most_bases));
  }
  for (const double theta : bases) {
    Source of_base = source;
    of_base.rule["rope_theta"] = theta;
    of_base.is_of_file = true;
    if (bases.size() > 1) of_base.layers = fmt::format("rope_theta={}", theta);
    add_rope(of_base);
  }
}

void ModelReader::add_rope(const Source& source) {
  Source own = source;
  const RopeSpec spec = spec_of(own);
  try {
    validate(spec);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", source.path, error.what()));
  }
  result_.ropes.push_back({source.layers, spec});
}

double ModelReader::base(const Source& source) {
  std::optional<double> given;
  if (source.is_of_file) {
    const auto found = source.rule.find("rope_theta");
    if (found != source.rule.end() && !found->is_null()) {
      given = ObjectReader::convert<double>(*found, source.path + ".rope_theta");
    }
  }
  const auto beside = first<double>(source.mode, "theta");
  const auto usual = source.is_of_file ? number_in(source.mode, "base") : number_in(source.row["rule"], "rope_theta");
  if (given && source.mode.contains("passes_over_theta")) {
    const double used = beside.value_or(usual.value_or(*given));
    if (used != *given) {
      doubt(fmt::format("{}.rope_theta is {}, {} takes {}", source.path, *given, model_type_, used));
    }
    return used;
  }
  if (given || beside) return given ? *given : *beside;
  if (!usual) throw InputError(fmt::format("{}.rope_theta: missing; {} needs it there", source.path, model_type_));
  const Json& names = member(source.mode, "theta");
  const std::string field = names.empty() ? "rope_theta" : names[0].get<std::string>();
  const std::string layers = source.layers.empty() ? "" : fmt::format(" ({})", source.layers);
  take_default(field + layers, fmt::format("{}", *usual));
  return *usual;
}

void ModelReader::say_layers() {
  const Json* kinds = file_.find("layer_types");
  if (kinds == nullptr || !kinds->is_array()) return;
  for (const ModelRope& rope : result_.ropes) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < kinds->size(); ++i) {
      if ((*kinds)[i] == rope.layers) numbers.push_back(i);
    }
    if (!numbers.empty()) assume(fmt::format("{}: layers {}", rope.layers, few(numbers)));
  }
}

void ModelReader::say_layers_without_rope() {
  const Json& bare = member(row_, "no_rope");
  std::vector<std::size_t> numbers;
  if (const Json& kind = member(bare, "layer_type"); kind.is_string()) {
    assume(fmt::format("{} layers of {} have no rope", kind.get<std::string>(), model_type_));
  } else if (const Json& fixed = member(bare, "layers"); fixed.is_array()) {
    numbers = fixed.get<std::vector<std::size_t>>();
  } else if (bare.is_object()) {
    const auto listed = file_.optional<std::vector<int>>("no_rope_layers");
    const auto every = file_.optional<int>("no_rope_layer_interval").value_or(bare.value("every", 0));
    const int count = file_.optional<int>("num_hidden_layers").value_or(0);
    if (listed && !listed->empty()) {
      for (std::size_t i = 0; i < listed->size(); ++i) {
        if ((*listed)[i] == 0) numbers.push_back(i);
      }
    } else if (every > 0 && count > 0 && count < 100000) {
      for (int i = every - 1; i < count; i += every) numbers.push_back(static_cast<std::size_t>(i));
    } else if (every > 0) {
      assume(fmt::format("every {}. layer of {} has no rope", every, model_type_));
    }
  }
  if (const Json* thetas = file_.find("layer_rope_theta"); thetas != nullptr && thetas->is_array()) {
    for (std::size_t i = 0; i < thetas->size(); ++i) {
      if ((*thetas)[i] == 0) numbers.push_back(i);
    }
  } else if (const Json& usual = member(member(row_, "no_effect"), "layer_rope_theta"); usual.is_array()) {
    for (std::size_t i = 0; i < usual.size(); ++i) {
      if (usual[i] == 0) numbers.push_back(i);
    }
  }
  if (!numbers.empty()) assume(fmt::format("layers without rope: {}", few(numbers)));
}

Pairing ModelReader::pairing() {
  const Json& known = member(row_, "pairing");
  if (known.is_string()) return known == "interleaved" ? Pairing::interleaved : Pairing::half_split;
  if (!how_.knows_pairing) doubt("the pairing half_split, which most models have (or give --pairing)");
  return Pairing::half_split;
}

}  // namespace rope
