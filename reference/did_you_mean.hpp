// The answer to a word that is not known: the known word that it resembles, and all that there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rope {

// "did you mean quick?" between two texts; empty if no known word is near. Upper and lower case count as equal.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         std::string_view before = "", std::string_view after = " ");

// "\"quik\" is not known; did you mean quick? use quick, full or exhaustive"
std::string not_known(std::string_view word, const std::vector<std::string_view>& known);

// Whether two words are the same but for upper and lower case.
bool same_word(std::string_view one, std::string_view other);

}  // namespace rope
