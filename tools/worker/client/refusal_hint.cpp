#include "tools/worker/client/refusal_hint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace rope::worker {
namespace {

constexpr std::array words_of_refusals{"Permission denied", "Operation not permitted", "EACCES", "EPERM"};
constexpr std::size_t most_variables = 10;

// The last absolute path in quotes or brackets, as exceptions print it.
std::string_view path_in(std::string_view text) {
  for (std::size_t slash = text.rfind('/'); slash != text.npos && slash > 0; slash = text.rfind('/', slash - 1)) {
    const char open = text[slash - 1], close = open == '[' ? ']' : open;
    if (open != '\'' && open != '"' && open != '[') continue;
    const std::size_t end = text.find(close, slash);
    if (end != text.npos) return text.substr(slash, end - slash);
  }
  return {};
}

}  // namespace

std::string refusal_hint(const WorkerProcess& process, std::string_view said) {
  if (!process.in_sandbox()) return "";
  if (const std::string call = process.refused_call(); !call.empty()) {
    return fmt::format("; the sandbox refused {}() just before: if the kernel needs it, try --sandbox off", call);
  }
  for (const std::string_view words : words_of_refusals) {
    const std::size_t at = said.find(words);
    if (at == said.npos) continue;
    const std::string_view line = said.substr(at, said.find('\n', at) - at);
    const std::string_view path = path_in(line);
    if (path.empty()) return "; the sandbox may have refused this: try --sandbox off";
    return fmt::format("; the sandbox may have refused {0}: try --allow {0}, or --sandbox off", path);
  }
  return "";
}

std::string withheld_hint(const WorkerProcess& process) {
  const std::vector<std::string>& names = process.withheld();
  if (names.empty()) return "";
  const std::span shown = std::span(names).first(std::min(names.size(), most_variables));
  const std::string more = shown.size() < names.size() ? fmt::format(" and {} more", names.size() - shown.size()) : "";
  return fmt::format("; the sandbox withheld {}{}: --env NAME passes one on", fmt::join(shown, ", "), more);
}

}  // namespace rope::worker
