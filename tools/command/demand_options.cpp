#include "tools/command/demand_options.hpp"

#include <fmt/format.h>

#include "reference/input_error.hpp"

namespace rope {
namespace {

std::string known_words() {
  std::string text;
  for (const DemandWord& known : demand_words()) text += fmt::format(", {}", known.word);
  return "a grade from A1 to C3" + text;
}

}  // namespace

void demand(const std::vector<std::string>& words, Selection& selection) {
  std::optional<std::string> graded;
  for (const std::string& word : words) {
    if (const std::optional<Demand> known = demand_from_word(word)) {
      selection.demands |= mask(*known);
      continue;
    }
    const std::optional<Grade> grade = grade_from_name(word);
    if (!grade) throw InputError(fmt::format("--require: \"{}\" is not known; use {}", word, known_words()));
    if (graded && *graded != word) {
      throw InputError(fmt::format("--require: {} and {} are two grades; give one", *graded, word));
    }
    graded = word;
    selection.grade = *grade;
  }
}

std::string demand_help() { return "demand more than the MUSTs: " + known_words(); }

}  // namespace rope
