// Two reports side by side, of two versions of a kernel: what is new, what is mended, and by how much the
// errors moved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rope {

struct Change {
  enum class Kind { worse, better, other };
  Kind kind = Kind::other;
  std::string what;  // "ROT-01", "grade in f32"
  std::string before, after;
  std::string sentence;  // of the requirement; empty: none
};

// The worst error of a requirement, as a share of its bound.
struct MovedError {
  std::string what;
  double before = 0, after = 0;
};

struct SubjectComparison {
  std::string name;
  std::vector<Change> changes;  // the worse ones first
  std::vector<MovedError> moved;  // by more than a tenth, the largest move first
  std::string caution;            // why a difference may come from the runs; empty: nothing
};

struct Comparison {
  std::string before, after;  // "A.json: ropecheck 0.1.0, 2026-11-24T16:49:13Z"
  std::vector<SubjectComparison> subjects;

  bool is_worse() const;
  std::size_t count(Change::Kind kind) const;
};

// Of two texts that `verify --json` or `vectors verify --json` wrote, with names for messages. If both have one subject,
// the two are compared whatever they are called. Throws InputError for other texts.
Comparison compared(std::string_view before, const std::string& before_name, std::string_view after,
                    const std::string& after_name);

std::string verdict_words(const Comparison& comparison);  // "2 got worse, 1 got better"
std::string change_words(const SubjectComparison& subject);
std::string comparison_text(const Comparison& comparison);  // for a terminal

}  // namespace rope
