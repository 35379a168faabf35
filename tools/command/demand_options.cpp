#include "tools/command/demand_options.hpp"

#include <fmt/format.h>

#include "reference/did_you_mean.hpp"
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
    if (!grade) {
      const std::vector<std::string> names = demand_names();
      throw InputError(fmt::format("--require: \"{}\" is not known; {}use {}", word,
                                   did_you_mean(word, {names.begin(), names.end()}), known_words()));
    }
    if (graded && *graded != word) {
      throw InputError(fmt::format("--require: {} and {} are two grades; give one", *graded, word));
    }
    graded = word;
    selection.grade = *grade;
  }
}

std::vector<std::string> demand_names() {
  std::vector<std::string> names;
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      names.push_back(name(Grade{static_cast<AngleGrade>(a), static_cast<ArithmeticGrade>(w)}));
    }
  }
  for (const DemandWord& known : demand_words()) names.emplace_back(known.word);
  return names;
}

std::string demand_help() { return "demand more than the MUSTs: " + known_words(); }

}  // namespace rope
