#include "tools/command/signature.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "reference/input_error.hpp"

namespace rope {
namespace {

constexpr const char* name_space = "ropecheck";  // a signature for another purpose says nothing about certificates

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content = {}) : file_(memfd_create("ropecheck-signature", MFD_CLOEXEC)) {
    if (file_ < 0) throw InputError(fmt::format("the signature cannot be checked: {}", std::strerror(errno)));
    while (!content.empty()) {
      const ssize_t written = write(file_, content.data(), content.size());
      if (written < 0) throw InputError(fmt::format("the signature cannot be checked: {}", std::strerror(errno)));
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    lseek(file_, 0, SEEK_SET);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(file_); }

  int descriptor() const { return file_; }

  std::string content() const {
    lseek(file_, 0, SEEK_SET);
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t count = 0; (count = read(file_, part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int file_;
};

struct Answer {
  bool is_yes = false;
  std::string out;
};

Answer ask_ssh_keygen(std::vector<std::string> words, std::string_view input) {
  words.insert(words.begin(), {"ssh-keygen", "-Y"});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const MemoryFile in(input), out;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, pointers[0], &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    throw InputError(fmt::format("ssh-keygen cannot be started: {}; signatures need it (Debian package openssh-client)",
                                 std::strerror(error)));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0, out.content()};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void need_readable(const std::filesystem::path& path) {
  if (access(path.c_str(), R_OK) != 0) {
    throw InputError(fmt::format("{} cannot be read: {}", path.string(), std::strerror(errno)));
  }
}

// `Good "ropecheck" signature for mary@example.com with ED25519 key SHA256:..`
std::string key_words(const std::string& good) {
  const std::string before = " with ";
  const std::size_t at = good.rfind(before);
  return at == std::string::npos ? "" : ", " + first_line(good.substr(at + before.size()));
}

}  // namespace

std::string signer_of(const std::filesystem::path& file, std::string_view content, const std::string& allowed_signers,
                      const std::string& identity) {
  const std::string signature = file.string() + ".sig";
  need_readable(allowed_signers);
  if (!std::filesystem::exists(signature)) {
    throw InputError(fmt::format("{} is not signed: there is no {}; sign it with `ssh-keygen -Y sign -n {} -f KEY {}`",
                                 file.string(), signature, name_space, file.string()));
  }
  need_readable(signature);
  const Answer known = ask_ssh_keygen({"find-principals", "-s", signature, "-f", allowed_signers}, "");
  if (!known.is_yes) {
    throw InputError(fmt::format("{}: its key is not in {}, or the file is damaged", signature, allowed_signers));
  }
  const std::string who = identity.empty() ? first_line(known.out) : identity;
  const auto is_good = [&](const std::string& one) {
    return ask_ssh_keygen({"verify", "-f", allowed_signers, "-I", one, "-n", name_space, "-s", signature}, content);
  };
  if (const Answer good = is_good(who); good.is_yes) return who + key_words(good.out);
  // Who has the key, if it is not the one who must?
  if (const std::string other = first_line(known.out); other != who && is_good(other).is_yes) {
    throw InputError(fmt::format("{}: its key is {}'s in {}; expected {}'s", signature, other, allowed_signers, who));
  }
  throw InputError(fmt::format("{} is not what was signed: it was changed after {} was made, or that was not made with -n {}",
                               file.string(), signature, name_space));
}

}  // namespace rope
