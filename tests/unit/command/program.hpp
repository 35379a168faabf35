// A program as a person runs it: what it wrote to stdout and stderr, and how it ended.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/places.hpp"

namespace rope {

struct Result {
  int exit_code = -1;  // 128 + N if signal N ended it, as a shell reports it
  std::string out;
  std::string err;
};

class Program {
 public:
  using Words = std::vector<std::string>;

  // `variables`, as NAME=value, are added to the environment.
  explicit Program(Words words, Words variables = {}) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string name(*entry, std::strcspn(*entry, "="));
      const auto replaces = [&](const std::string& added) { return added.starts_with(name + "="); };
      if (std::none_of(variables.begin(), variables.end(), replaces)) variables.emplace_back(*entry);
    }
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out_, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err_, STDERR_FILENO);
    const int error =
        posix_spawnp(&pid_, words.at(0).c_str(), &files, nullptr, pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::runtime_error(words[0] + " cannot be started: " + std::strerror(error));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(err_);
  }

  pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }

  // Throws after ten minutes: no program in a test takes that long, not even sanitized on a busy machine.
  Result wait() {
    int status = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error("the program did not end; it wrote " + text(out_));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    pid_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text(out_), text(err_)};
  }

 private:
  static std::vector<char*> pointers(Words& words) {
    std::vector<char*> result;
    for (std::string& word : words) result.push_back(word.data());
    result.push_back(nullptr);
    return result;
  }

  static std::string text(int file) {
    std::string result(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
    const ssize_t count = pread(file, result.data(), result.size(), 0);
    result.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return result;
  }

  pid_t pid_ = -1;
  int out_ = memfd_create("stdout", MFD_CLOEXEC);  // files, which no amount of text can fill up and block
  int err_ = memfd_create("stderr", MFD_CLOEXEC);
};

inline Result run_program(Program::Words words, Program::Words variables = {}) {
  return Program(std::move(words), std::move(variables)).wait();
}

inline Result ropecheck(Program::Words words, Program::Words variables = {}) {
  words.insert(words.begin(), (build_folder() / "ropecheck").string());
  return run_program(std::move(words), std::move(variables));
}

// A folder for one test, empty at first and deleted afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "ropecheck_test.XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error(path_ + " cannot be made");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::filesystem::path operator/(const std::string& name) const { return std::filesystem::path(path_) / name; }
  std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rope
