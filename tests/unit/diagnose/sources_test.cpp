// No source of the diagnosis decides on words that are shown: new wording of a message must not change a verdict.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/places.hpp"
#include "tools/diagnose/literal.hpp"

using namespace rope;

namespace {

// The only file that may spell the words.
constexpr const char* table_file = "circumstance.cpp";

std::string without_comment(const std::string& line) { return std::regex_replace(line, std::regex("//.*"), ""); }

// The sign that a line decides on words; nullopt: there is no sign. Ids of requirements do not count as words: they are
// listed in requirement_evidence.cpp, and never reworded.
std::optional<std::string> decision_on_words(const std::string& line) {
  const std::string code = without_comment(line);
  const std::string shown =
      R"((words|sentence|condition|message|trigger|evidence|headline|word_of|words_of|status_name))";
  const std::pair<const char*, std::regex> signs[] = {
      {"compares with a literal", std::regex(R"re([=!]= *(std::string\()?"|" *[=!]= )re")},
      {"looks for a literal",
       std::regex(R"re((find|contains|compare|starts_with|ends_with|regex_search|regex_match) *\("(?!ERR"))re")},
      {"compares words", std::regex(R"re(\b)re" + shown + R"re((\([^()]*\))? *[=!]= )re")},
      {"compares words", std::regex(R"re([=!]= *[\w.>\-\[\]]*\b)re" + shown + R"re(\b)re")},
      {"searches words",
       std::regex(R"re(\b)re" + shown +
                  R"re((\([^()]*\))?(\.|->)(find|rfind|contains|compare|starts_with|ends_with)\b)re")},
      {"searches words", std::regex(R"re((find|rfind|contains|compare|starts_with|ends_with) *\([\w.>\-\[\]]*\b)re" +
                                    shown + R"re(\b)re")},
      {"decides on empty words", std::regex(R"re(\bwords(\([^()]*\))?(\.|->)empty)re")},
      {"searches text", std::regex(R"(std::s?regex)")},
      {"takes the order of enumerators for logic",
       std::regex(
           R"re(\b(input|layout|output|source|form|pattern|dtype|kind|what|bug_class|shape)\)? *(>=|<=|>|<) *\w+::)re")},
  };
  for (const auto& [sign, pattern] : signs) {
    if (std::regex_search(code, pattern)) return sign;
  }
  return std::nullopt;
}

std::set<std::string> table_words() {
  std::set<std::string> all;
  for (const BugClassWord& row : bug_class_words()) all.emplace(row.word);
  for (const auto& entry : diagnosis::circumstances()) all.emplace(entry.words);
  return all;
}

// The literal in a line that also stands in a table.
std::optional<std::string> spelled_word(const std::string& line, const std::set<std::string>& words) {
  static const std::regex literal(R"re("([^"\\]*)")re");
  const std::string code = without_comment(line);
  for (std::sregex_iterator at(code.begin(), code.end(), literal), end; at != end; ++at) {
    if (words.contains((*at)[1].str())) return (*at)[1].str();
  }
  return std::nullopt;
}

// Every source of the diagnosis and of the classes that it names.
std::vector<std::filesystem::path> sources() {
  std::vector<std::filesystem::path> all;
  for (const auto& file : std::filesystem::directory_iterator(source_folder() / "tools/diagnose")) {
    const auto extension = file.path().extension();
    if (extension == ".cpp" || extension == ".hpp") all.push_back(file.path());
  }
  all.push_back(source_folder() / "tools/identify/differences.cpp");
  return all;
}

}  // namespace

TEST_CASE("No line of the diagnosis decides on words, and only the tables spell them") {
  const std::set<std::string> words = table_words();
  std::size_t lines = 0;
  for (const std::filesystem::path& path : sources()) {
    if (path.filename() == table_file) continue;
    std::ifstream file(path);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number, ++lines) {
      INFO(path.string() << ":" << number << ": " << line);
      CHECK(decision_on_words(line).value_or("") == "");
      CHECK(spelled_word(line, words).value_or("") == "");
    }
  }
  CHECK(lines > 2000);
}

TEST_CASE("A decision on words is seen in every form that the diagnosis once had") {
  for (const char* line :
       {R"(if (of_angles && l.words == "in place") cost += angles_in_place;)",
        R"(const bool index = l.words.starts_with("token ") || l.words.starts_with("head ");)",
        R"(return l.counted && l.words.ends_with("or more");)", R"(if (l.words == s.words) return s.bug_class;)",
        R"(return l.words == fmt::format("head_dim {}", l.limit);)", R"(if (c.bug_class == "launch-limits") return;)",
        R"(return other.candidate.sentence.find(p.candidate.sentence) != std::string::npos;)",
        R"(const bool speaks = shape && shape->sentence == never_written;)",
        R"(if (result.candidates[0].sentence == pointers[0].candidate.sentence) {)",
        R"(const bool refused = first->message.find(status_name(ROPE_FAILED)) == std::string::npos;)",
        "static const std::regex of_table", R"(if (s.words(trigger.c).empty()) continue;)",
        R"(return kind == "none" ? "" : kind;)", R"(return of(r).input >= InputKind::huge;)",
        R"(return of(r).layout > Layout::shifted;)"}) {
    INFO(line);
    CHECK(decision_on_words(line));
  }
  for (const char* line :
       {R"(if (h.bug_class == BugClass::pipeline) return spoken;)", R"(sentence += "; and " + w.with->sentence;)",
        R"(// if (l.words == "in place") is wrong)", R"(if (l.is(Circumstance::in_place)) cost += angles_in_place;)",
        R"(return layout == Layout::distant_rows;)"}) {
    INFO(line);
    CHECK_FALSE(decision_on_words(line));
  }
  CHECK(spelled_word(R"(return only("in place");)", table_words()) == "in place");
  CHECK_FALSE(spelled_word(R"(// "in place")", table_words()));
}
