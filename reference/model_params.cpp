// params.json, which Meta and Mistral put beside the weights of their own code.
#include <limits>

#include "reference/model_engines.hpp"
#include "reference/model_fields.hpp"
#include "reference/spec_json.hpp"

namespace rope {
namespace {

class Params {
 public:
  Params(const Json& document, const std::string& where, const ModelReading& how) : file_(document, where), how_(how) {}

  ModelConfig read() {
    result_.model_type = "params.json";
    for (const char* field : {"max_seq_len", "max_position_embeddings"}) {
      if (const auto length = length_in(file_, field)) result_.max_position_embeddings = length;
    }
    RopeSpec spec;
    spec.head_dim = spec.rotary_dim = head_dim();
    spec.pairing = Pairing::interleaved;
    const auto base = file_.optional<double>("rope_theta");
    if (!base) doubt("rope_theta is not there: 10000; the code of Llama 3 takes 500000, Mistral's takes 1000000");
    spec.base = base.value_or(10000);
    read_scaling(spec);
    try {
      validate(spec);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", file_.path(), error.what()));
    }
    result_.ropes.push_back({"", spec});
    if (const auto every = file_.optional<int>("nope_layer_interval")) {
      say(fmt::format("every {}. layer has no rope", *every));
    }
    if (!how_.knows_pairing) {
      say("the pairing is interleaved, as in the code of Meta and Mistral; engines that reorder the weights of q and k "
          "have half_split (--pairing half_split)");
    }
    note_unread(file_, Json::object(), "params.json", found_);
    result_.assumed = found_.settled(how_.accepts_guesses, file_.path());
    return std::move(result_);
  }

 private:
  void doubt(std::string sentence) { found_.doubts.push_back(std::move(sentence)); }
  void say(std::string sentence) { found_.lines.push_back(std::move(sentence)); }

  int head_dim() {
    const auto given = file_.optional<int>("head_dim");
    const auto width = file_.optional<std::int64_t>("dim");
    const auto heads = file_.optional<std::int64_t>("n_heads");
    if (const auto part = file_.optional<int>("qk_rope_head_dim")) return *part;
    if (!width || !heads || *heads <= 0 || *width <= 0 || *width / *heads > std::numeric_limits<int>::max()) {
      throw InputError(fmt::format("{}: dim and n_heads must be above 0", file_.path()));
    }
    const int divided = static_cast<int>(*width / *heads);
    if (given && *given != divided && is_llama_4()) {
      doubt(fmt::format("head_dim is {}; the code of Llama 4 has frequencies for dim / n_heads, {}", *given, divided));
    }
    return given.value_or(divided);
  }

  bool is_llama_4() { return file_.find("moe_args") != nullptr; }

  void read_scaling(RopeSpec& spec) {
    if (const Json* yarn = file_.find("yarn")) read_yarn(*yarn, spec);
    const auto factor = file_.optional<double>("rope_scaling_factor");
    const auto high = file_.optional<double>("rope_high_freq_factor");
    if (!file_.optional<bool>("use_scaled_rope").value_or(false)) return;
    if (!std::holds_alternative<scaling::None>(spec.scaling)) {
      throw InputError(fmt::format("{}: yarn and use_scaled_rope are both there; expected one", file_.path()));
    }
    // The numbers are in Meta's code, not in its files.
    scaling::Llama3 rule;
    rule.factor = factor.value_or(is_llama_4() ? 16 : 8);
    rule.low_freq_factor = 1;
    rule.high_freq_factor = high.value_or(is_llama_4() ? 1 : 4);
    rule.original_max_position_embeddings = 8192;
    spec.scaling = rule;
    const std::string numbers =
        fmt::format("use_scaled_rope: factor {}, high_freq_factor {}, as in the code of Llama {}", rule.factor,
                    rule.high_freq_factor, is_llama_4() ? 4 : 3);
    constexpr std::int64_t narrowest_of_llama_3_1 = 4096;
    const auto width = file_.optional<std::int64_t>("dim");
    if (!factor && !is_llama_4() && width && *width < narrowest_of_llama_3_1) {
      doubt(numbers + "; the config.json of Llama 3.2 has factor 32");
    } else {
      say(numbers);
    }
  }

  void read_yarn(const Json& found, RopeSpec& spec) {
    ObjectReader yarn(found, file_.path() + ".yarn");
    scaling::Yarn rule;
    for (const auto& [name, value] : {std::pair("factor", &rule.factor),
                                      std::pair("original_max_position_embeddings",
                                                &rule.original_max_position_embeddings)}) {
      const auto given = yarn.optional<double>(name);
      if (!given) throw InputError(fmt::format("{}.{}: missing", yarn.path(), name));
      *value = *given;
    }
    yarn.read("beta", rule.beta_fast);
    yarn.read("alpha", rule.beta_slow);
    if (!yarn.optional<bool>("apply_scale").value_or(true)) spec.attention_factor = 1;
    yarn.finish();
    spec.scaling = rule;
  }

  ObjectReader file_;
  ModelReading how_;
  UnreadFields found_;
  ModelConfig result_;
};

}  // namespace

bool is_params(const Json& document) {
  const auto type = document.find("model_type");  // Mistral's word; DistilBERT, too, has dim and n_heads
  return document.contains("dim") && document.contains("n_heads") && (type == document.end() || *type == "transformer");
}

ModelConfig model_from_params(const Json& document, const std::string& where, const ModelReading& how) {
  return Params(document, where, how).read();
}

}  // namespace rope
