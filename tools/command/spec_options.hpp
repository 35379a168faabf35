// The command-line flags that make a RopeSpec; RopeSpec's to_flags() prints the same flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/model_config.hpp"
#include "tools/command/cli_fwd.hpp"

namespace rope {

class SpecOptions {
 public:
  void add_to(CLI::App& command);

  // Empty without flags: sweep everything that is claimed. A model may have several, which differ in their
  // layers. Throws InputError.
  std::vector<ModelRope> specs() const;
  std::optional<RopeSpec> spec() const;  // for commands that take only one

  // What --model-config names; also the longest sequence and the dtype of that model.
  const std::optional<ModelConfig>& model() const;

  // --pairing without other flags: it selects among the claims and makes no spec.
  std::optional<Pairing> pairing() const;

  // Whether flags make the spec, and no --pairing is among them: each claimed pairing is meant.
  bool any_pairing() const;

  // --base without other flags but --pairing: it replaces the base of whatever is claimed, and makes no spec.
  std::optional<double> base() const;

 private:
  bool has_axes() const;
  bool has_flags_beside_base() const;
  bool is_by_flags() const;
  std::vector<ModelRope> ropes_of_model() const;

  std::string file_;
  std::string model_file_;
  std::string layers_;
  bool guess_ = false;
  mutable std::optional<ModelConfig> model_;  // read when first asked for
  std::optional<int> head_dim_;
  std::optional<int> rotary_dim_, rotary_offset_;
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
