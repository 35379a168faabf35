// The command-line flags that make a RopeSpec; RopeSpec's to_flags() prints the same ones.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/rope_spec.hpp"

namespace rope {

class SpecOptions {
 public:
  void add_to(CLI::App& command);

  // None where no flag was given: sweep all that is claimed. Throws InputError.
  std::optional<RopeSpec> spec() const;

  // --pairing alone: it selects among what is claimed and makes no spec.
  std::optional<Pairing> pairing() const;

 private:
  std::string file_;
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
