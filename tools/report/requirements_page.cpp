#include "tools/report/requirements_page.hpp"

#include <fmt/format.h>

#include <vector>

#include "tests/conformance/requirements.hpp"
#include "tools/report/words.hpp"

namespace rope {
namespace {

constexpr std::string_view introduction = R"(# Requirements

This page lists everything that a kernel behind [rope_kernel.h](../../impls/include/rope_kernel.h) is tested for.
[The guide](../../docs/requirements.md) explains how to use it. The page is written by

    tools/run list requirements --markdown tests/conformance/REQUIREMENTS.md

from the tables in this folder, where each sentence stands beside its check. The test `requirements_page` fails if this
page is out of date.

MUST and SHOULD are used as in RFC 2119. A MUST decides the verdict. A SHOULD that does not hold is a note. It becomes
a MUST if `--require` demands it, or if the kernel claims `ROPE_FEATURE_ROBUST`, which demands `robust`. Each
requirement names the classes of bugs that it answers, by the ids of [the mutants](../kernels/mutants/README.md). It
also says what its check cannot see.

)";

std::string demanded(const DemandWord& word, std::span<const Requirement> requirements) {
  std::vector<std::string_view> ids;
  for (const Requirement& r : requirements) {
    if ((r.demanded_by & mask(word.demand)) != 0) ids.push_back(r.id);
  }
  return ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ", "));
}

std::string demand_table(std::span<const Requirement> requirements) {
  std::string text =
      "| `--require` | what is demanded | turned from SHOULD to MUST |\n| --- | --- | --- |\n"
      "| `A1` to `C3` | the bounds of a tighter grade than C3 | none: the grade applies to every MUST |\n";
  for (const DemandWord& word : demand_words()) {
    text += fmt::format("| `{}` | {} | {} |\n", word.word, word.meaning, demanded(word, requirements));
  }
  return text;
}

std::string force(const Requirement& r) {
  if (r.is_must()) return "MUST";
  std::vector<std::string> words;
  for (const DemandWord& word : demand_words()) {
    if ((r.demanded_by & mask(word.demand)) != 0) words.push_back(fmt::format("`{}`", word.word));
  }
  return fmt::format("SHOULD; MUST under {}", fmt::join(words, " or "));
}

}  // namespace

std::string requirements_page(std::span<const Requirement> requirements) {
  std::string text(introduction);
  text += demand_table(requirements);
  for (const Family& family : families()) {
    bool titled = false;
    for (const Requirement& r : requirements) {
      if (family_id(r.id) != family.id) continue;
      if (!titled) text += fmt::format("\n## {}: {}\n\n{}\n", family.id, family.title, family.about);
      titled = true;
      text += fmt::format("\n### {}\n\n{}\n\n- force: {}\n- answers: {}\n- does not see: {}\n", r.id,
                          html_text(std::string(r.sentence)), force(r), r.answers, html_text(std::string(r.limits)));
    }
  }
  return text;
}

}  // namespace rope
