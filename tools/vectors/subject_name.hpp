// "vectors:DIR": how reports, and replay, name the responses in a folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rope::vectors {

inline constexpr std::string_view subject_prefix = "vectors:";

inline std::string subject_name(const std::string& folder) { return std::string(subject_prefix) + folder; }

// The folder; none if the name is another subject's.
inline std::optional<std::string> folder_of(std::string_view name) {
  if (!name.starts_with(subject_prefix)) return std::nullopt;
  return std::string(name.substr(subject_prefix.size()));
}

}  // namespace rope::vectors
