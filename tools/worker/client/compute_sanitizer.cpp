#include "tools/worker/client/compute_sanitizer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "tools/judge/run/examiner.hpp"
#include "tools/worker/protocol/file_descriptor.hpp"
#include "tools/worker/client/subject_error.hpp"
#include "tools/worker/client/worker_subject.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

constexpr std::string_view program = "compute-sanitizer";
constexpr std::size_t most_lines = 12;  // of a finding; the host's stack says nothing about the kernel
constexpr std::size_t longest_words = 1 << 12;

// The file that compute-sanitizer writes to. It has a name: other programs cannot open this process's files by number.
class Log {
 public:
  explicit Log(const std::filesystem::path& folder) : path_((folder / "ropecheck-sanitizer.XXXXXX").string()) {
    file_ = FileDescriptor(mkostemp(path_.data(), O_CLOEXEC));
    if (!file_) throw SubjectError(fmt::format("{}: the log of {}: {}", path_, program, std::strerror(errno)));
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }
  std::string text() const {
    std::string text;
    char bytes[1 << 14];
    ssize_t count = 0;
    while ((count = pread(file_.get(), bytes, sizeof bytes, static_cast<off_t>(text.size()))) > 0) {
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  std::string path_;
  FileDescriptor file_;
};

Launch under(const std::filesystem::path& sanitizer, SanitizerTool tool, const Log& log, const Launch& launch) {
  Launch watched = launch;
  std::vector<std::string>& words = watched.arguments;
  words = {sanitizer.string(), "--tool", std::string(name(tool)), "--log-file", log.path(), "--print-limit", "10",
           "--show-backtrace", "device", "--print-level", "warn",
           // So that the worker survives and says that it is done.
           "--destroy-on-device-error", "kernel"};
  // The result of a CUDA call is the kernel's business: it may only ask whether something is available.
  if (tool == SanitizerTool::memcheck) words.insert(words.end(), {"--report-api-errors", "no"});
  words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
  watched.environment.emplace_back("ROPECHECK_SANITIZED=1");
  watched.filtered = false;  // it traces its program and talks to it through sockets
  return watched;
}

// The log's lines without the mark before each; "" is the line between two findings.
std::vector<std::string_view> lines_of(std::string_view log) {
  constexpr std::string_view mark = "=========";
  std::vector<std::string_view> lines;
  for (std::size_t from = 0; from < log.size();) {
    const std::size_t to = std::min(log.find('\n', from), log.size());
    std::string_view line = log.substr(from, to - from);
    from = to + 1;
    if (!line.starts_with(mark)) continue;
    line.remove_prefix(mark.size());
    line.remove_prefix(line.starts_with(' ') ? 1 : 0);
    lines.push_back(line);
  }
  return lines;
}

// "ERROR SUMMARY: 2 errors", "RACECHECK SUMMARY: 3 hazards displayed (1 error, 2 warnings)".
std::optional<int> errors_in_summary(std::string_view line) {
  std::size_t at = line.find(" SUMMARY: ");
  if (at == line.npos || line.starts_with("LEAK")) return std::nullopt;
  at = line.starts_with("RACECHECK") ? line.find('(') + 1 : at + std::strlen(" SUMMARY: ");
  int count = 0;
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), count);
  return error == std::errc() ? std::optional(count) : std::nullopt;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// A line about compute-sanitizer itself, or a warning: not a finding.
bool is_about_itself(std::string_view line) {
  constexpr std::string_view beginnings[] = {"COMPUTE-SANITIZER", "Target application", "Internal Sanitizer Error",
                                             "Warning: ", "Program hit"};
  if (line.starts_with("Error: ")) return !contains(line, "Race reported") && !contains(line, "hazard detected");
  return contains(line, " SUMMARY: ") ||
         std::ranges::any_of(beginnings, [&](std::string_view beginning) { return line.starts_with(beginning); });
}

// It saw no kernel, or says that it may be wrong.
bool is_in_doubt(std::string_view line) {
  constexpr std::string_view words[] = {
      "before first instrumented API call", "Internal Sanitizer Error", "Device not supported", "Failed to initialize",
      "Results might be incorrect",         "Maximum number of hazards"};
  return std::ranges::any_of(words, [&](std::string_view part) { return contains(line, part); });
}

bool begins_finding(std::string_view line) { return !line.empty() && line[0] != ' ' && !is_about_itself(line); }

// The first finding, with the lines that belong to it.
std::string first_finding(const std::vector<std::string_view>& lines) {
  const auto first = std::ranges::find_if(lines, begins_finding);
  std::vector<std::string_view> kept;
  for (auto line = first; line != lines.end() && !line->empty() && kept.size() < most_lines; ++line) {
    const std::string_view words = line->substr(std::min(line->find_first_not_of(' '), line->size()));
    if (words.starts_with("Saved host") || words.starts_with("Host Frame")) continue;
    kept.push_back(*line);
  }
  return fmt::format("{}", fmt::join(kept, "\n"));
}

std::string what_it_said(const std::vector<std::string_view>& lines) {
  std::vector<std::string_view> said;
  std::ranges::copy_if(lines, std::back_inserter(said),
                       [](std::string_view line) { return !line.empty() && !line.starts_with("COMPUTE-SANITIZER"); });
  return said.empty() ? "it wrote nothing" : fmt::format("it wrote:\n{}", fmt::join(said, "\n"));
}

}  // namespace

std::filesystem::path find_compute_sanitizer() {
  std::vector<std::filesystem::path> folders;
  const char* path = std::getenv("PATH");
  const std::string_view all = path == nullptr ? "" : path;
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t to = std::min(all.find(':', from), all.size());
    if (to > from) folders.emplace_back(all.substr(from, to - from));
    from = to + 1;
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* folder = std::getenv(variable)) folders.push_back(std::filesystem::path(folder) / "bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const std::filesystem::path& folder : folders) {
    std::filesystem::path file = folder / program;
    if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return file;
  }
  return {};
}

SanitizerReport read_sanitizer_log(SanitizerTool tool, std::string_view log) {
  const std::vector<std::string_view> lines = lines_of(log);
  std::optional<int> errors;
  bool in_doubt = false;
  for (const std::string_view line : lines) {
    if (const auto count = errors_in_summary(line)) errors = std::max(errors.value_or(0), *count);
    in_doubt = in_doubt || is_in_doubt(line);
  }
  const std::string finding = first_finding(lines);
  if (!in_doubt && errors == 0) return {};
  if (!in_doubt && errors && !finding.empty()) {
    return {true, wire::printable(fmt::format("compute-sanitizer's {} reports: {}{}", name(tool), finding,
                                              *errors == 1 ? "" : fmt::format("\n({} errors in all)", *errors)),
                                  longest_words)};
  }
  return {false, wire::printable(fmt::format("compute-sanitizer's {} says nothing of this kernel; {}", name(tool),
                                             what_it_said(lines)),
                                 longest_words)};
}

SanitizerReport run_sanitized(const Launch& launch, const std::string& name, const WorkerOptions& options,
                              SanitizerTool tool, std::span<Call> calls) {
  if (options.compute_sanitizer.empty()) {
    return {
        false,
        "compute-sanitizer, which would watch this kernel, is not in PATH and not where CUDA is (CUDA_HOME, CUDA_PATH, "
        "/usr/local/cuda), or was not to be used (--compute-sanitizer)"};
  }
  const Log log(options.sandbox ? options.sandbox->scratch() : std::filesystem::temp_directory_path());
  WorkerOptions patient = options;
  patient.deadline =
      std::max(options.deadline, options.first_call_deadline);  // a tool makes a kernel many times as slow
  std::string trouble;
  try {
    const auto worker = open_worker(under(options.compute_sanitizer, tool, log, launch), name, patient);
    for (Call& call : calls) {
      const Reply reply = worker->apply(call);
      if (reply.kind == ReplyKind::done && reply.status == ROPE_OK) continue;
      trouble = reply.kind == ReplyKind::done
                    ? fmt::format("under it the kernel answered {}: {}", status_name(reply.status), reply.detail)
                    : reply.detail;
      break;
    }
    if (!worker->end() && trouble.empty()) trouble = "the worker did not end under it, and was killed";
  } catch (const SubjectError& error) {
    trouble = error.what();
  }
  SanitizerReport report = read_sanitizer_log(tool, log.text());
  // Other requirements report a kernel that ends its process; what it did after that is unknown.
  if (report.is_clean() && !trouble.empty()) report = {false, ""};
  if (!report.decided && !trouble.empty()) report.words += (report.words.empty() ? "" : "\n") + trouble;
  return report;
}

}  // namespace rope::worker
