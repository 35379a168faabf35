// A word as a shell reads it.
#pragma once

#include <string>
#include <string_view>

namespace rope {

// In single quotes if a shell would read anything else than the word itself.
inline std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:=,@%#";
  if (!word.empty() && word.front() != '#' && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

}  // namespace rope
