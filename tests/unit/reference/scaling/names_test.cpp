// A rule is named in its file, in rules.hpp and in the contract. Whoever adds a rule has to find all other code that
// names one. So the exceptions stand here, each with its reason.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "reference/scaling/rules.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string> exceptions = {
    {"impls/include/rope_kernel.h", "the contract: the enumerators"},
    {"tools/python/ropecheck/scalings.py", "written from rules.hpp; the test scaling_pages holds it"},
    {"reference/model_rule.cpp", "which of Hugging Face's own rules take their lengths from where in its files"},
    {"reference/model_gguf.cpp", "which rules llama.cpp names in a file's metadata, and how it computes them"},
    {"reference/model_params.cpp", "which rules the files of Meta and Mistral have"},
    {"reference/model_fields.cpp", "words that tell of rope in the names of fields"},
    {"reference/model_size.cpp", "what partial_rotary_factor means for one of Hugging Face's rules"},
    {"tools/diagnose/factor_hypotheses.cpp", "bugs that kernels have in one rule"},
    {"tools/diagnose/scaling_hypotheses.cpp", "bugs that kernels have in one rule"},
    {"tools/diagnose/ramp_hypotheses.cpp", "bugs that kernels have in one rule"},
    {"tools/diagnose/theta_hypotheses.cpp", "bugs that kernels have in one rule"},
    {"tools/identify/length_rules.cpp", "how the parameters of two rules are found from measured frequencies"},
    {"tools/identify/plain_rules.cpp", "how the parameters of a rule are found from measured frequencies"},
    {"tools/identify/ramp_rules.cpp", "how the parameters of two rules are found from measured frequencies"},
    {"tools/python/ropecheck/conventions/lucidrains.py", "which rules that package has"},
    {"tools/adapters/diffusers_function.py", "which rules that package has"},
    {"tools/adapters/keras_hub_layer.py", "which rules that package has"},
    {"tools/adapters/mlx_function.py", "which rules that package has"},
    {"tools/adapters/transformers_llama.py", "which rules that package has"},
    {"tools/adapters/x_transformers_module.py", "which rules that package has"},
};

std::string content_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Without comments and docstrings. A comment mark within a string costs only the rest of that line.
std::string code_of(const fs::path& path) {
  static const std::vector<std::pair<std::string, std::string>> of_c = {{"//", "\n"}, {"/*", "*/"}};
  static const std::vector<std::pair<std::string, std::string>> of_python = {{"#", "\n"}, {"\"\"\"", "\"\"\""}};
  const auto& comments = path.extension() == ".py" ? of_python : of_c;
  const std::string text = content_of(path);
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const auto comment = std::ranges::find_if(
        comments, [&](const auto& marks) { return text.compare(at, marks.first.size(), marks.first) == 0; });
    if (comment == comments.end()) {
      code += text[at++];
      continue;
    }
    const std::size_t end = text.find(comment->second, at + comment->first.size());
    at = end == text.npos ? text.size() : end + comment->second.size();
    code += '\n';
  }
  return code;
}

// A rule's class, its enumerator, or its name as a whole string. The rule `none` means no rule: any file may name it.
std::regex any_rule() {
  std::string names;
  for_each_rule([&](const auto& rule) {
    // An input may also be called constant.
    if (rule.kind == scaling::None::kind || rule.kind == scaling::Constant::kind) return;
    names += fmt::format("{}{}|{}", names.empty() ? "" : "|", rule.kind, fmt::join(rule.aliases, "|"));
  });
  return std::regex(fmt::format(R"re(\bscaling::(?!None\b|Setting\b|Presence\b|Range\b|Example\b)[A-Z]\w*|)re"
                                R"re(\bROPE_SCALING_(?!NONE\b)[A-Z]\w*|["'](?:{})["'])re",
                                names));
}

// Every place of the product that names a rule: file -> the names in it.
std::map<std::string, std::vector<std::string>> places() {
  static const std::set<std::string> of_code = {".c", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".py"};
  const std::regex rule = any_rule();
  std::map<std::string, std::vector<std::string>> found;
  for (const char* const folder : {"reference", "impls", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_folder() / folder)) {
      const std::string path = fs::relative(entry.path(), source_folder()).generic_string();
      if (!of_code.contains(entry.path().extension()) || path.starts_with("reference/scaling/")) continue;
      const std::string code = code_of(entry.path());
      for (std::sregex_iterator at(code.begin(), code.end(), rule), end; at != end; ++at) {
        found[path].push_back(at->str());
      }
    }
  }
  return found;
}

TEST_CASE("only the exceptions name a scaling rule", "[scaling_rules][takes_long]") {
  for (const auto& [path, words] : places()) {
    INFO(path << " names " << words.front() << ": ask the rule instead (reference/scaling/rules.hpp), or give a reason "
              << "in " << __FILE__);
    CHECK(exceptions.contains(path));
  }
}

TEST_CASE("every exception is needed", "[scaling_rules][takes_long]") {
  const auto found = places();
  for (const auto& [path, reason] : exceptions) {
    INFO(path);
    CHECK(found.contains(path));
  }
}

}  // namespace
}  // namespace rope
