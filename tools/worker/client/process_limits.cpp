#include "tools/worker/client/process_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace rope::worker {

void expect_crashes(pid_t pid) {
  const rlimit no_core{0, 0};
  prlimit(pid, RLIMIT_CORE, &no_core, nullptr);
  if (FILE* file = std::fopen(fmt::format("/proc/{}/oom_score_adj", pid).c_str(), "w")) {
    std::fputs("1000", file);
    std::fclose(file);
  }
}

void limit_memory(pid_t pid) {
  const auto page = static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  const rlim_t half = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) * page / 2;
  const rlimit limit{std::max<rlim_t>(rlim_t{4} << 30, half), RLIM_INFINITY};
  unsigned long data = 0;
  if (FILE* file = std::fopen(fmt::format("/proc/{}/statm", pid).c_str(), "r")) {
    if (std::fscanf(file, "%*u %*u %*u %*u %*u %lu", &data) != 1) data = 0;
    std::fclose(file);
  }
  // A sanitizer's shadow memory already takes more than that.
  if (data * page < limit.rlim_cur / 2) prlimit(pid, RLIMIT_DATA, &limit, nullptr);
}

}  // namespace rope::worker
