#include "tools/worker/sandbox/scratch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tests/unit/command/program.hpp"

namespace rope::sandbox {
namespace {

// As an ordinary user: the superuser may open every folder.
void as_user(const std::filesystem::path& folder, const std::function<void()>& act) {
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(1);
    setenv("TMPDIR", folder.c_str(), 1);
    act();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
}

// 600 folders, one in another, and a file in each; no path leads to the last one, and nobody may enter any of them.
void fill(const std::string& scratch) {
  const std::string name(200, 'd');
  int at = open(scratch.c_str(), O_RDONLY | O_DIRECTORY);
  for (int depth = 0; depth < 600; ++depth) {
    close(openat(at, "file", O_CREAT | O_WRONLY, 0));
    symlinkat("/", at, "link");
    if (mkdirat(at, name.c_str(), 0700) != 0) _exit(2);
    const int next = openat(at, name.c_str(), O_RDONLY | O_DIRECTORY);
    if (next < 0 || fchmod(at, 0) != 0) _exit(3);
    close(at);
    at = next;
  }
  close(at);
}

TEST_CASE("a scratch folder is removed, however deep it is and whoever may enter it", "[sandbox]") {
  const TemporaryFolder folder;
  as_user(folder.path(), [] {
    const Scratch scratch;
    fill(scratch.path());
  });
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the next run removes such a scratch folder of a run that was killed", "[sandbox]") {
  const TemporaryFolder folder;
  as_user(folder.path(), [] {
    const Scratch scratch;
    fill(scratch.path());
    _exit(0);
  });
  REQUIRE_FALSE(std::filesystem::is_empty(folder.path()));
  as_user(folder.path(), [] { const Scratch next; });
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace rope::sandbox
