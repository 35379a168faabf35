// The command-line flags that make a RopeSpec; RopeSpec's to_flags() prints the same ones.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/model_config.hpp"

namespace rope {

class SpecOptions {
 public:
  void add_to(CLI::App& command);

  // None where no flag was given: sweep all that is claimed. A model may have several, which are told apart by their
  // layers. Throws InputError.
  std::vector<ModelRope> specs() const;
  std::optional<RopeSpec> spec() const;  // where only one will do

  // What --model-config names; also the longest sequence and the dtype of that model.
  const std::optional<ModelConfig>& model() const;

  // --pairing alone: it selects among what is claimed and makes no spec.
  std::optional<Pairing> pairing() const;

 private:
  std::vector<ModelRope> ropes_of_model() const;

  std::string file_;
  std::string model_file_;
  std::string layers_;
  mutable std::optional<ModelConfig> model_;  // read when first asked for
  std::optional<int> head_dim_;
  std::optional<int> rotary_dim_;
  std::optional<std::string> pairing_;
  std::optional<double> base_;
  std::optional<std::string> scaling_;
  std::vector<int> axes_;
  std::optional<std::string> axes_order_;
  bool axes_restart_ = false;
  std::optional<double> attention_factor_;
};

Pairing pairing_called(const std::string& text);  // throws InputError

}  // namespace rope
