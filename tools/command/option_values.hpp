// The words that options take. They stand in the option's type name, which --help shows: "quick|full|exhaustive", or a
// kind such as REQUIREMENT. Completion and the reading of lists use the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/command/cli_fwd.hpp"

namespace rope {

// Kinds of values that --help cannot list.
namespace kinds {
inline constexpr const char* requirement = "REQUIREMENT";  // an id or a family
inline constexpr const char* demand = "DEMAND";            // what --require takes
inline constexpr const char* feature = "FEATURE";
inline constexpr const char* subject = "SUBJECT";
inline constexpr const char* command = "COMMAND";
inline constexpr const char* convention = "CONVENTION";
inline constexpr const char* file = "FILE";
inline constexpr const char* folder = "FOLDER";
inline constexpr const char* pairs = "PAIRS";  // numbers
}  // namespace kinds

// One of these words; any other is refused.
CLI::Option* takes_one_of(CLI::Option* option, const std::vector<std::string_view>& words);

// Several of these words.
CLI::Option* takes_some_of(CLI::Option* option, const std::vector<std::string_view>& words);

// Several values of a kind: "A,B", or "A B" as long as the words are values of that kind.
CLI::Option* takes_list_of(CLI::Option* option, const char* kind, char delimiter = ',');

// A number of seconds from 0.001 to a day. `what` names the value in the message: "a deadline".
CLI::Option* takes_seconds(CLI::Option* option, const std::string& what);

// All words that an option of this type takes; none if they cannot be listed.
std::vector<std::string> words_of(const std::string& type);

// Whether a word can be one of the values of a list: all its parts must be.
bool is_value(const CLI::Option& list, const std::string& word);

// What a command was given, with each list in one word: "--only ROT-01 MEM half_split" as "--only ROT-01,MEM
// half_split". CLI11 by itself takes every word up to the next option into the list.
std::vector<std::string> with_joined_lists(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace rope
