// Expected failures: what is known to fail, so that CI shows what is new. Each line has a requirement. A pattern for
// subjects may come before it. Behind it may stand the levels at which it was seen to fail, and a reason:
//
//     ROT-04                                       # in place is a claim of the next version
//     build/lib.so#fast_* ANG-03 at full           # f32 angles; see issue 12
//
// At these levels a pass is unexpected; without levels it is at every one. At other levels the requirement may fail or
// pass: they ask other cases.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/report/words.hpp"

namespace rope {

class ExpectedFailures {
 public:
  // A list as a run shows it.
  struct Update {
    std::string text;  // of the file
    int added = 0;     // lines for failures that no line expected
    int removed = 0;   // lines whose requirement passed
  };

  ExpectedFailures() = default;

  // Throws InputError with file and line if it cannot be read, or names an unknown requirement or level.
  explicit ExpectedFailures(const std::filesystem::path& file);

  // Throws InputError if a pattern matches nothing that is judged: it would hide nothing, and nobody would know.
  void check_subjects(const std::vector<std::string>& subjects, const std::vector<Selection>& selections) const;

  // By requirement; the first line that applies gives the reason.
  std::map<std::string, ExpectedFailure> of(const std::string& subject, const Selection& selection) const;

  // This list, with a line for each new failure and without what passed. With it, the same run is as expected.
  Update updated(const RunReport& run) const;

 private:
  struct Line {
    std::string text;            // as it stands in the file
    std::string subjects = "*";  // a pattern of fnmatch(3); * stands for any characters, / too
    std::string requirement;     // empty: a comment
    std::vector<Level> levels;   // empty: all
    std::string reason;

    bool applies_to(const std::string& subject, const Selection& selection) const;
    bool names(Level level) const;
  };
  static void read_words(const std::string& words, Line& line);
  static std::string written(const Line& line);
  static std::vector<Line> updated(const Line& line, const RunReport& run);

  std::filesystem::path file_;
  std::vector<Line> lines_;  // of the file
};

}  // namespace rope
