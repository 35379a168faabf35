// The report as JUnit XML, as Jenkins, GitLab and GitHub's actions read it: a suite for each subject, a test case for
// each requirement.
#pragma once

#include <string>

#include "tools/report/words.hpp"

namespace rope {

std::string junit_report(const RunReport& run);

}  // namespace rope
