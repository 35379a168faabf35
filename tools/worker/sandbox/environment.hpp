// Which variables a subject gets: what libraries need, and nothing that could hold a secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rope::sandbox {

// Whether a variable of this name is passed on. Names of tokens, keys and passwords are not, and neither are names of
// folders for caches: the subject could not write there.
bool passes(std::string_view name);

// "NAME=value": what `all` has of these names and of `added`, with HOME and TMPDIR in the scratch folder.
std::vector<std::string> reduced_environment(const std::vector<std::string>& all, const std::vector<std::string>& added,
                                             const std::string& scratch);

// The names of variables that are not passed on and could say where something lies: names of paths first, then those
// whose value is one. Without secrets, and without what only describes the terminal and the user.
std::vector<std::string> withheld_variables(const std::vector<std::string>& all, const std::vector<std::string>& added);

// Of this process.
std::vector<std::string> own_environment();

}  // namespace rope::sandbox
