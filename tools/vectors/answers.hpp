// A subject that is files: each call is answered by what a program wrote for it.
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

  // The calls from now on are those of this case. Throws InputError where it is not in the export.
  void begin(const Case& c);

  // Throws InputError where this build makes another call than the one that was exported.
  Reply apply(Call& call) override;

 private:
  const Vectors& vectors_;
  std::string name_;
  std::map<std::string, const CaseRecord*> cases_;  // by their text
  const CaseRecord* current_ = nullptr;
  std::size_t next_ = 0;
};

// Looks at every response: which are missing, and which are not the arrays that were asked for.
Responses look_at_responses(const Vectors& vectors);

}  // namespace rope::vectors
