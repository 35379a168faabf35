// What a person selects for verify and for vectors export: specs, types, level, seed, requirements.
#pragma once

#include <string>
#include <vector>

#include "tools/command/cli_fwd.hpp"
#include "tools/command/spec_options.hpp"
#include "tools/judge/case/case_list.hpp"

namespace rope {

class SelectionOptions {
 public:
  explicit SelectionOptions(std::string default_level) : level_(std::move(default_level)) {}

  void add_to(CLI::App& command);

  // One for each requested rope; without any, one that sweeps. Throws InputError.
  std::vector<Selection> selections() const;

  // What --model-config names.
  const std::optional<ModelConfig>& model() const { return spec_.model(); }

 private:
  Selection common() const;

  SpecOptions spec_;
  std::vector<std::string> dtypes_;
  std::string level_;
  std::uint64_t seed_ = 1;
  std::vector<std::string> only_;
};

// The words of the types that x may have.
std::vector<std::string_view> float_words();

// --only, a list of requirements and families.
void add_only(CLI::App& command, std::vector<std::string>& only);

// The id of a requirement or of a family, given in any case. Throws InputError.
std::string known_requirement(const std::string& text);

}  // namespace rope
