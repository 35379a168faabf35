// From what a person writes to a subject: a built-in's name, or library.so, or library.so#kernel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/subject.hpp"

namespace rope {

// Throws InputError for a name that is nothing of these, SubjectError for a library that cannot be used.
std::unique_ptr<Subject> open_subject(const std::string& name);

// A library without "#kernel" stands for every kernel in it; no names at all for every built-in.
std::vector<std::string> expand_subjects(const std::vector<std::string>& names);

}  // namespace rope
