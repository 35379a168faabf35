#include "tools/report/begun_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "reference/input_error.hpp"

namespace rope {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "";
}

// "Linux 6.1.0 x86_64, AMD EPYC 7R13, 2 CPUs"
std::string machine_words() {
  utsname system{};
  uname(&system);
  const std::string named = processor();
  return fmt::format("{} {} {}{}{}, {}", system.sysname, system.release, system.machine, named.empty() ? "" : ", ",
                     named, counted(std::thread::hardware_concurrency(), "CPU"));
}

// SOURCE_DATE_EPOCH replaces the clock, for output that is to be the same again.
std::time_t now() {
  constexpr std::int64_t end_of_9999 = 253402300799;
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  if (given == nullptr) return std::time(nullptr);
  const std::string_view text = given;
  std::int64_t seconds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > end_of_9999) {
    throw InputError(fmt::format(
        "SOURCE_DATE_EPOCH is \"{}\"; expected seconds since 1970, as in 1764003600; correct it or unset it", text));
  }
  return static_cast<std::time_t>(seconds);
}

// "2026-11-24T16:49:13Z"
std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now())); }

}  // namespace

RunReport begun_run(std::string_view version) {
  RunReport run;
  run.version = version;
  run.machine = machine_words();
  run.started = utc_now();
  return run;
}

}  // namespace rope
