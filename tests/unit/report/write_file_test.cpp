#include "tools/report/leftovers.hpp"
#include "tools/report/write_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "reference/input_error.hpp"
#include "tests/unit/command/program.hpp"

namespace rope {
namespace {

using Catch::Contains;

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()));
}

// Like a disk that is full after that many bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : ignored_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, ignored_);
  }

 private:
  void (*ignored_)(int);
  rlimit before_{};
};

TEST_CASE("write_file: the text replaces the old content, and no other file is left") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "report.json";
  write_file(path, "first");
  CHECK(read(path) == "first");
  const std::string zero("a\0b\n", 4);
  write_file(path, zero);
  CHECK(read(path) == zero);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: a reader never sees half of a file, because a new file takes its name") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "report.json";
  write_file(path, "first");
  std::ifstream reader(path, std::ios::binary);
  write_file(path, "second");
  CHECK(std::string{std::istreambuf_iterator<char>(reader), std::istreambuf_iterator<char>()} == "first");
  CHECK(read(path) == "second");
}

TEST_CASE("write_file: if the disk is full the earlier file stays as it was") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "report.json";
  write_file(path, "first");
  {
    const FileSizeLimit limit(1000);
    CHECK_THROWS_WITH(write_file(path, std::string(100'000, 'x')),
                      Contains("report.json: cannot be written: File too large"));
  }
  CHECK(read(path) == "first");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: a path that cannot be written is refused with the reason, and no file is left") {
  const TemporaryFolder folder;
  for (const auto& attempt : {+[](const std::filesystem::path& p) { write_file(p, "text"); }, +check_can_write}) {
    CHECK_THROWS_AS(attempt("/nowhere/report.json"), InputError);
    CHECK_THROWS_WITH(attempt("/nowhere/report.json"),
                      Contains("/nowhere/report.json: cannot be written: No such file or directory"));
    CHECK_THROWS_WITH(attempt(folder.path()), Contains("cannot be written: Is a directory"));
    CHECK(files_in(folder) == 0);
    CHECK_FALSE(std::filesystem::exists(temporary_for(folder.path())));
  }
}

TEST_CASE("write_file: a link stays a link, and the file that it leads to is written") {
  const TemporaryFolder folder;
  write_file(folder / "file", "first");
  std::filesystem::create_symlink("file", folder / "link");
  write_file(folder / "link", "second");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read(folder / "file") == "second");
  CHECK(files_in(folder) == 2);
}

TEST_CASE("write_file: a pipe is written to and stays a pipe, as /dev/stdout must") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = open(path.c_str(), O_RDWR | O_NONBLOCK);
  check_can_write(path);
  write_file(path, "text");
  char bytes[16];
  CHECK(::read(reader, bytes, sizeof bytes) == 4);
  CHECK(std::string(bytes, 4) == "text");
  CHECK(std::filesystem::is_fifo(path));
  close(reader);
}

TEST_CASE("write_file: what a killed process left goes, what a living one uses stays") {
  const TemporaryFolder folder;
  const auto make = [&](const std::string& name) { return std::ofstream(folder / name).put('x').good(); };
  for (const char* left : {"report.json.ropecheck-123.tmp", "other.ropecheck-124.tmp"}) make(left);
  std::filesystem::create_directories(folder / "calls.ropecheck-125.tmp/arrays");
  const std::string shared = temporary_for("plan", Writers::other_machines), elsewhere = "plan.ropecheck-123-else.tmp";
  make(shared);
  const std::vector<std::string> of_others{"report.json.126.tmp", "report.json.ropecheck-.tmp", "x.ropecheck-1x.tmp",
                                           elsewhere, "notes.ropecheck-126.tmp.txt"};
  for (const std::string& name : of_others) make(name);
  {
    const std::string used = "report.json.ropecheck-127.tmp";
    int times = 0;
    const InUse mine((folder / used).string(), [&] {
      const bool made = make(used);
      // Before it has a mark, it looks like a leftover.
      if (++times == 1) remove_leftovers(folder.path());
      return made;
    });
    CHECK(times == 2);
    check_can_write(folder / "report.json");
    CHECK(std::filesystem::exists(folder / used));
    CHECK(files_in(folder) == of_others.size() + 1);
  }
  check_can_write(folder / "report.json");
  CHECK(files_in(folder) == of_others.size());
  for (const std::string& name : of_others) CHECK(std::filesystem::exists(folder / name));
}

TEST_CASE("write_file: checking whether a path can be written changes nothing") {
  const TemporaryFolder folder;
  check_can_write(folder / "report.json");
  CHECK(files_in(folder) == 0);
  write_file(folder / "report.json", "first");
  check_can_write(folder / "report.json");
  CHECK(read(folder / "report.json") == "first");
}

}  // namespace
}  // namespace rope
