#include "tools/command/claims_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "golden/npy.hpp"
#include "reference/did_you_mean.hpp"
#include "reference/error_model.hpp"
#include "reference/foreign_json.hpp"
#include "reference/input_error.hpp"
#include "tools/command/option_values.hpp"
#include "tools/vectors/export.hpp"
#include "tools/worker/protocol/claims_text.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope {
namespace {

// The bits that the words name.
std::uint32_t bits_of(const std::vector<std::string>& words, wire::Names names, const char* option) {
  std::uint32_t bits = 0;
  for (const std::string& word : words) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      throw InputError(fmt::format("{}: \"{}\" is not known; {}use {}", option, word, did_you_mean(word, known),
                                   wire::listed(names)));
    }
    bits |= 1u << (found - names.begin());
  }
  return bits;
}

Claims claims_in(const std::string& file) {
  const std::vector<std::byte> text = read_file(file, longest_json);
  const auto* begin = reinterpret_cast<const char*>(text.data());
  Claims claims;
  try {
    claims.capabilities = worker::claims_from_json(parse_json_line({begin, text.size()}), claims.head_dims);
  } catch (const std::exception& error) {
    throw InputError(
        fmt::format("--claims: {}: {}; expected a JSON object as the claims of tools/worker/protocol/PROTOCOL.md", file,
                    error.what()));
  }
  claims.capabilities.head_dims = nullptr;
  return vectors::without_memory(claims);
}

// All that files can carry. With types selected, tables and frequencies come only in these and in the types that
// kernels work in for them.
Claims files_with_types(const std::vector<DType>& selected) {
  Claims claims = vectors::claims_of_files();
  if (selected.empty()) return claims;
  std::uint32_t given = 0;
  for (const DType dtype : selected) {
    given |= ROPE_BIT(static_cast<int>(dtype)) | ROPE_BIT(static_cast<int>(working_type(dtype)));
  }
  claims.capabilities.table_dtypes &= given;
  claims.capabilities.theta_dtypes &= given;
  return claims;
}

}  // namespace

void ClaimsOptions::add_to(CLI::App& command) {
  const char* group = "What the program can do (default: all that files can carry)";
  takes_some_of(command.add_option("--source", sources_, "where it takes angles from"),
                {wire::sources.begin(), wire::sources.end()})
      ->group(group);
  takes_some_of(command.add_option("--tables", tables_, "the width of tables that it takes"), {"half", "full"})
      ->group(group);
  takes_list_of(command.add_option("--features", features_,
                                   fmt::format("{}", fmt::join(words_of(kinds::feature), ", "))),
                kinds::feature)
      ->group(group);
  command.add_option("--max-position", max_position_, "the largest position")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  command.add_option("--claims", file_, "all of it: a JSON file with the claims of tools/worker/protocol/PROTOCOL.md")
      ->type_name(kinds::file)
      ->group(group);
}

Claims ClaimsOptions::claims(const Selection& selection) const {
  Claims claims = file_.empty() ? files_with_types(selection.dtypes) : claims_in(file_);
  rope_capabilities& can = claims.capabilities;
  if (!sources_.empty()) can.angle_sources &= bits_of(sources_, wire::sources, "--source");
  if (!tables_.empty()) {
    constexpr std::string_view widths[] = {"half", "full"};
    const std::uint32_t bits = bits_of(tables_, widths, "--tables");
    can.half_tables &= bits & 1u;
    can.full_tables &= bits >> 1;
  }
  if (features_ == std::vector<std::string>{"none"}) {
    can.features = 0;
  } else if (!features_.empty()) {
    const std::uint32_t asked = bits_of(features_, wire::features, "--features");
    const std::uint32_t missing = asked & ~can.features;
    if (missing != 0) {
      const std::string first = wire::names_of(missing, wire::features).at(0);
      throw InputError(fmt::format("--features: {} {}", first,
                                   file_.empty() ? "does not show in a file" : "is not among the claims of " + file_));
    }
    can.features = asked;
  }
  if (max_position_) can.max_position = std::min(can.max_position, *max_position_);
  return vectors::narrowed(std::move(claims), selection);
}

}  // namespace rope
