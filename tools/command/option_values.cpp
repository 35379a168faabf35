#include "tools/command/option_values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "impls/builtin.hpp"
#include "reference/did_you_mean.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/command/cuda_kernel.hpp"
#include "tools/command/demand_options.hpp"
#include "tools/vectors/export.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope {
namespace {

std::vector<std::string> requirement_words() {
  std::vector<std::string> words;
  for (const Family& family : families()) words.emplace_back(family.id);
  for (const Requirement& requirement : all_requirements()) words.emplace_back(requirement.id);
  return words;
}

std::vector<std::string> feature_words() {
  std::vector<std::string> words{"none"};
  const std::uint32_t shown = vectors::claims_of_files().capabilities.features;
  for (std::size_t i = 0; i < wire::features.size(); ++i) {
    if ((shown >> i & 1u) != 0) words.emplace_back(wire::features[i]);
  }
  return words;
}

std::vector<std::string> built_in_words() {
  std::vector<std::string> words;
  for (const rope_kernel* kernel : builtin_kernels()) words.emplace_back(kernel->name);
  words.emplace_back(cuda_kernel_name);
  return words;
}

const struct {
  std::string_view kind;
  std::vector<std::string> (*words)();
} kind_words[] = {{kinds::requirement, requirement_words},
                  {kinds::demand, demand_names},
                  {kinds::feature, feature_words},
                  {kinds::subject, built_in_words}};

std::vector<std::string> parts_of(const std::string& text, char delimiter) {
  return CLI::detail::split(text, delimiter);
}

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

bool is_list(const CLI::Option& option) { return option.get_delimiter() != '\0'; }

}  // namespace

CLI::Option* takes_one_of(CLI::Option* option, const std::vector<std::string_view>& words) {
  option->type_name(fmt::format("{}", fmt::join(words, "|")));
  return option->check(
      [words](const std::string& text) {
        return std::ranges::find(words, text) == words.end() ? not_known(text, words) : std::string();
      },
      "");
}

CLI::Option* takes_some_of(CLI::Option* option, const std::vector<std::string_view>& words) {
  return takes_one_of(option, words)->delimiter(',')->allow_extra_args(false);
}

CLI::Option* takes_list_of(CLI::Option* option, const char* kind, char delimiter) {
  return option->type_name(kind)->delimiter(delimiter)->allow_extra_args(false);
}

CLI::Option* takes_seconds(CLI::Option* option, const std::string& what) {
  // CLI11's own range lets nan pass.
  const auto error_of = [what](const std::string& text) -> std::string {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (is_number && seconds >= 0.001 && seconds <= 86400) return "";
    return fmt::format("\"{}\" is not {}; expected a number of seconds from 0.001 to 86400", text, what);
  };
  return option->check(error_of, "");
}

std::vector<std::string> words_of(const std::string& type) {
  for (const auto& [kind, words] : kind_words) {
    if (type == kind) return words();
  }
  return type.find('|') == type.npos ? std::vector<std::string>() : parts_of(type, '|');
}

bool is_value(const CLI::Option& list, const std::string& word) {
  const std::vector<std::string> words = words_of(list.get_type_name());
  const std::vector<std::string> parts = parts_of(word, list.get_delimiter());
  return !parts.empty() && std::ranges::all_of(parts, [&](const std::string& part) {
    if (list.get_type_name() == kinds::pairs) return is_number(part);
    return std::ranges::any_of(words, [&](const std::string& known) { return same_word(known, part); });
  });
}

std::vector<std::string> with_joined_lists(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  const CLI::App* command = &app;
  for (std::size_t i = 0; i < words.size(); ++i) {
    joined.push_back(words[i]);
    if (words[i] == "--") {
      joined.insert(joined.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    const std::size_t equals = words[i].find('=');
    const CLI::Option* option =
        words[i].starts_with("-") ? command->get_option_no_throw(words[i].substr(0, equals)) : nullptr;
    if (option == nullptr) {
      const auto next = command->get_subcommands([&](const CLI::App* one) { return one->get_name() == words[i]; });
      if (!next.empty()) command = next.front();
      continue;
    }
    // Its value is never a command, whatever it is called.
    const bool takes_next = equals == std::string::npos && option->get_items_expected_min() > 0;
    if (takes_next && i + 1 < words.size()) joined.push_back(words[++i]);
    while (is_list(*option) && i + 1 < words.size() && is_value(*option, words[i + 1])) {
      joined.back() += option->get_delimiter() + words[++i];
    }
  }
  return joined;
}

}  // namespace rope
