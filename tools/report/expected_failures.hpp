// Expected failures: what is known to fail, so that CI shows what is new. Each line has a requirement. A pattern for
// subjects may come before it, and a reason after it:
//
//     ROT-04                        # in place is a claim of the next version
//     build/lib.so#fast_* ANG-03    # f32 angles; see issue 12
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rope {

class ExpectedFailures {
 public:
  ExpectedFailures() = default;

  // Throws InputError with file and line if it cannot be read, or names an unknown requirement.
  explicit ExpectedFailures(const std::filesystem::path& file);

  // Throws InputError if a pattern matches no subject: it would hide nothing, and nobody would know.
  void check_subjects(const std::vector<std::string>& subjects) const;

  // Requirement and reason; the first line that applies gives the reason.
  std::map<std::string, std::string> of(const std::string& subject) const;

 private:
  struct Line {
    std::size_t number = 0;
    std::string subjects = "*";  // a pattern of fnmatch(3); * stands for any characters, / too
    std::string requirement;
    std::string reason;
  };
  std::filesystem::path file_;
  std::vector<Line> lines_;
};

}  // namespace rope
