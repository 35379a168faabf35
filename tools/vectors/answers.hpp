// A subject made of files: a program has written the answer to each call.
#pragma once

#include <map>

#include "tools/judge/run/subject.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/vectors/manifest.hpp"

namespace rope::vectors {

class Answers : public Subject {
 public:
  // `vectors` must outlive this.
  Answers(const Vectors& vectors, std::string name);

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return vectors_.claims; }

  // The next calls belong to this case. Throws InputError if it is not in the export.
  void begin(const Case& c);

  // Throws InputError if this build makes another call than the exported one.
  Reply apply(Call& call) override;

 private:
  const Vectors& vectors_;
  std::string name_;
  std::map<std::string, const CaseRecord*> cases_;  // by their text
  const CaseRecord* current_ = nullptr;
  std::size_t next_ = 0;
};

// Checks every response: which are missing, and which are not the requested arrays.
Responses look_at_responses(const Vectors& vectors);

}  // namespace rope::vectors
