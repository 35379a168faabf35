// How many features of a model's head rotate.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/model_reader.hpp"
#include "reference/model_types.hpp"

namespace rope {

ModelReader::Size ModelReader::size(const Source& source) {
  const std::optional<double> share = given_part(source);
  if (const auto given = first<int>(source.row, "whole")) return rotated_part(source, *given, share);
  if (source.row.contains("rotary_dim")) {
    std::optional<int> given = first<int>(source.row, "rotary_dim");
    const std::optional<double> of_class = class_value("rotary_dim");
    if (!given && of_class && file_.is_null("rotary_dim")) {
      throw InputError(fmt::format("{}.rotary_dim: null; {} of transformers {} needs a number there, or no such field",
                                   file_.path(), model_type_, transformers_version()));
    }
    if (!given && !share && of_class) {
      given = static_cast<int>(*of_class);
      take_default("rotary_dim", fmt::format("{}", *given));
    }
    const int head = head_dim(source);
    if (given && share && std::floor(head * *share) != *given) {
      doubt(fmt::format("rotary_dim is {}, and partial_rotary_factor is {} of {} features", *given, *share, head));
    }
    if (given) return {head, *given};
  }
  const bool has_whole = source.row.contains("whole");
  if (has_whole && !first<int>(source.row, "head_dim")) {
    const auto field = source.row["whole"][0].get<std::string>();
    const int features = static_cast<int>(class_value(field).value_or(0));
    take_default(field, fmt::format("{}", features));
    return rotated_part(source, features, share);
  }
  if (source.row.contains("features")) {
    const int features = source.row["features"].get<int>();
    if (share) {
      doubt(fmt::format("{}: partial_rotary_factor is {}; {} has {} features", source.path, *share, model_type_,
                        features));
    }
    return {row_.value("of_head", features), features};
  }
  const int head = head_dim(source);
  // For rule proportional it is a parameter of the rule.
  const int rotary = source.kind == "proportional" ? head : static_cast<int>(head * part(source));
  return has_whole ? Size{rotary, rotary} : Size{head, rotary};
}

// DeepSeek's heads have a part that rotates and a part that does not. Files of this kind tell the part's size more than
// once.
ModelReader::Size ModelReader::rotated_part(const Source& source, int features, std::optional<double> share) {
  const auto field = source.row["whole"][0].get<std::string>();
  const bool is_usual = class_value(field) == features;
  if (!is_usual && lists(source.row, "other", field)) {
    doubt(fmt::format("{} is {}; {} has {}", field, features, model_type_, class_value(field).value_or(0)));
  }
  std::optional<int> head = first<int>(source.row, "head_dim");
  if (share && !head) head = file_.optional<int>("head_dim");
  const std::optional<int> rest = file_.optional<int>("qk_nope_head_dim");
  const std::optional<double> of_class = class_value("head_dim");
  const bool is_applied = is_part_applied(source);
  if (share && *share != 1 && !is_applied) {
    doubt(fmt::format("{}: partial_rotary_factor is {}; {} does not apply it", source.path, *share, model_type_));
  }
  const double usual = usual_part(source).value_or(1.0);
  const double used = is_applied ? share.value_or(usual) : usual;
  double whole = of_class && of_class != class_value(field) ? *of_class : features;
  if (head) {
    whole = *head;
  } else if (share && rest) {
    whole = static_cast<double>(*rest) + features;
  }
  if ((head || share || of_class) && std::floor(whole * used) != features) {
    doubt(fmt::format("{} is {}, and partial_rotary_factor is {} of {} features", field, features, used, whole));
  }
  return {features, features};
}

int ModelReader::head_dim(const Source& source) {
  if (const auto given = head_dim_by_layer(source.layers)) return *given;
  if (const auto given = first<int>(source.row, "head_dim")) return *given;
  if (const Json& divided = member(source.row, "divided"); divided.is_array()) {
    std::int64_t size[2] = {};
    bool is_complete = true;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto field = divided[i].get<std::string>();
      const std::optional<std::int64_t> given = file_.optional<std::int64_t>(field);
      const std::optional<double> known = class_value(field);
      is_complete = is_complete && (given || known);
      if (!given && known) take_default(field, fmt::format("{}", *known));
      size[i] = given.value_or(static_cast<std::int64_t>(known.value_or(0)));
    }
    if (!is_complete || size[1] <= 0 || size[0] < 0 || size[0] > std::numeric_limits<int>::max()) {
      throw InputError(fmt::format("{}: neither head_dim nor {} and {} above 0 are there: a model without attention "
                                   "heads, or a configuration inside another field; give the spec by --spec",
                                   file_.path(), divided[0].get<std::string>(), divided[1].get<std::string>()));
    }
    const std::int64_t head = divided[2].get<std::int64_t>() * size[0] / size[1];
    if (!is_known_) doubt(fmt::format("head_dim is not there: {}, by division", head));
    return static_cast<int>(std::min<std::int64_t>(head, std::numeric_limits<int>::max()));
  }
  const Json& names = member(source.row, "head_dim");
  const auto field = names[0].get<std::string>();
  const int features = static_cast<int>(class_value(field).value_or(0));
  take_default(field, fmt::format("{}", features));
  return features;
}

// Gemma 4 as transformers 5 saves it: {"05": {"head_dim": 512}, ..} for layer 5.
std::optional<int> ModelReader::head_dim_by_layer(const std::string& layers) {
  const Json* by_layer = file_.find("per_layer_config");
  const Json* kinds = file_.find("layer_types");
  if (by_layer == nullptr || !by_layer->is_object()) return std::nullopt;
  std::optional<int> found;
  for (const auto& [number, own] : by_layer->items()) {
    if (!own.is_object() || !own.contains("head_dim")) continue;
    const std::string path = fmt::format("{}.per_layer_config.{}", file_.path(), number);
    const int features = ObjectReader::convert<int>(own["head_dim"], path + ".head_dim");
    const bool is_number = !number.empty() && number.size() < 6 &&
                           std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    const std::size_t layer = is_number ? std::stoul(number) : 0;
    if (!is_number || kinds == nullptr || !kinds->is_array() || layer >= kinds->size()) {
      throw InputError(fmt::format("{}: layer_types does not say which kind of layer it is", path));
    }
    if ((*kinds)[layer] != layers) continue;
    if (found && *found != features) {
      throw InputError(
          fmt::format("{}.head_dim: {} layers have both {} and {} features", path, layers, *found, features));
    }
    found = features;
  }
  return found;
}

std::optional<double> ModelReader::given_part(const Source& source) {
  std::optional<double> share;
  if (source.is_of_file) {
    const auto found = source.rule.find("partial_rotary_factor");
    if (found != source.rule.end() && !found->is_null()) {
      share = ObjectReader::convert<double>(*found, source.path + ".partial_rotary_factor");
    }
  }
  if (const auto beside = first<double>(source.mode, "part"); beside && !share) {
    if (source.is_nested && source.kind == "default" && *beside != 1) {
      doubt(fmt::format("{}: partial_rotary_factor is missing; beside rope_parameters not every class reads it",
                        source.path));
    }
    share = beside;
  }
  if (share && (*share <= 0 || *share > 1)) {
    throw InputError(
        fmt::format("{}: partial_rotary_factor is {}; it must be above 0 and at most 1", source.path, *share));
  }
  return share;
}

// What the class takes if the file does not say.
std::optional<double> ModelReader::usual_part(const Source& source) const {
  if (!source.is_of_file) return number_in(member(source.row, "rule"), "partial_rotary_factor");
  const auto of_plain = number_in(source.mode, "part_of_default");
  return of_plain && source.kind == "default" ? of_plain : number_in(source.mode, "part_default");
}

bool ModelReader::is_part_applied(const Source& source) const {
  if (source.is_of_file) return lists(source.mode, "parts", source.kind == "default" ? "default" : "scaled");
  return usual_part(source).has_value() || source.row.contains("part");
}

double ModelReader::part(const Source& source) {
  const double usual = usual_part(source).value_or(1.0);
  const std::optional<double> given = given_part(source);
  if (given && is_part_applied(source)) return *given;
  if (given && *given != usual) {
    doubt(fmt::format("{}: partial_rotary_factor is {}; {} of transformers {} rotates {} of the head", source.path,
                      *given, model_type_, transformers_version(), usual));
  }
  if (!given && usual != 1) take_default("partial_rotary_factor", fmt::format("{}", usual));
  return usual;
}

// A width that the type does not read, but that its kernel may have. Only a head that was divided is a whole one.
void ModelReader::compare_head_dim() {
  const Json& ropes = row_["ropes"];
  const bool is_divided =
      std::any_of(ropes.begin(), ropes.end(), [](const Json& rope) { return rope.contains("divided"); });
  if (!file_.is_unread("head_dim") || !is_divided) return;
  const auto given = file_.optional<std::int64_t>("head_dim");
  for (const ModelRope& rope : result_.ropes) {
    if (given && *given != rope.spec.head_dim) {
      doubt(fmt::format("{}.head_dim is {}; {} does not read it and has {}", file_.path(), *given, model_type_,
                        rope.spec.head_dim));
    }
  }
}

// The last features of a head that the file or the class tells.
void ModelReader::place_at_end_of_head() {
  const int of_class = row_["of_head"].get<int>();
  const std::optional<int> given = file_.optional<int>("head_dim");
  if (!given) take_default("head_dim", fmt::format("{}", of_class));
  for (ModelRope& rope : result_.ropes) {
    RopeSpec& spec = rope.spec;
    spec.head_dim = given.value_or(of_class);
    spec.rotary_offset = spec.head_dim - spec.rotary_dim;
    try {
      validate(spec);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", file_.path(), error.what()));
    }
    assume(fmt::format("features from {} rotate; for a kernel that gets only these, write the spec with head_dim {}",
                       spec.rotary_offset, spec.rotary_dim));
  }
}

}  // namespace rope
