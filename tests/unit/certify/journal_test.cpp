// Journals and shard files: torn lines, other runs, changed files.
#include "tools/certify/journal.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <limits>

#include "tests/unit/command/program.hpp"
#include "tools/certify/results.hpp"

namespace rope::certify {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

Identity some_identity() { return {"plan", "1", "mine.so#kernel", {{"mine.so", "12"}}, "x86_64"}; }

BlockResult some_result(std::int64_t block) {
  BlockResult result;
  result.block = block;
  result.checked = 7;
  result.compared = 14;
  result.use_by_grade[0][0] = std::numeric_limits<double>::infinity();
  result.use_by_grade[2][1] = 0.1;
  result.histogram.add(0.3);
  result.worst = {0.1, "ROT-01:seq=3", "q[..]"};
  return result;
}

Results read_back(const fs::path& path, const Identity& identity = some_identity()) {
  Results results;
  read_journal(path, identity, results);
  return results;
}

TEST_CASE("certify: a journal gives back what was added, also after two writers") {
  const TemporaryFolder folder;
  const fs::path path = folder / "1-of-1.journal";
  {
    Journal one(path, some_identity()), two(path, some_identity());
    one.add(some_result(0));
    two.add(some_result(3));
    one.add(some_result(3));
  }
  const Results results = read_back(path);
  REQUIRE(results.size() == 2);
  CHECK(to_json(results.at(3)) == to_json(some_result(3)));
}

TEST_CASE("certify: wherever a journal is cut, the whole lines before the cut remain") {
  const TemporaryFolder folder;
  const fs::path path = folder / "1-of-1.journal";
  std::vector<std::uintmax_t> sizes;
  {
    Journal journal(path, some_identity());
    for (int block = 0; block < 3; ++block) {
      journal.add(some_result(block));
      sizes.push_back(fs::file_size(path));
    }
  }
  for (std::uintmax_t size = sizes.back(); size > sizes.front(); size -= 1) {
    fs::resize_file(path, size);
    // A line that lacks only its end is whole.
    const bool has_second = size + 1 >= sizes[1], has_third = size + 1 >= sizes[2];
    CHECK(read_back(path).size() == std::size_t{1} + (has_second ? 1 : 0) + (has_third ? 1 : 0));
  }
  Journal(path, some_identity()).add(some_result(9));
  CHECK(read_back(path).contains(9));
}

TEST_CASE("certify: a flipped bit in a journal loses its line and no other") {
  const TemporaryFolder folder;
  const fs::path path = folder / "1-of-1.journal";
  std::uintmax_t begin = 0;
  {
    Journal journal(path, some_identity());
    journal.add(some_result(0));
    begin = fs::file_size(path);
    journal.add(some_result(1));
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(begin) + 40);
  file.put('#');
  file.close();
  CHECK(read_back(path).size() == 1);
}

TEST_CASE("certify: a journal of another kernel, plan or version is refused with what differs") {
  const TemporaryFolder folder;
  const fs::path path = folder / "1-of-1.journal";
  Journal(path, some_identity()).add(some_result(0));
  Identity other = some_identity();
  other.files[0].sha256 = "34";
  CHECK_THROWS_WITH(read_back(path, other), Contains("mine.so has the sha256 12; expected 34"));
  other = some_identity();
  other.version = "2";
  CHECK_THROWS_WITH(read_back(path, other), Contains("version of ropecheck is \"1\"; expected \"2\""));
  other = some_identity();
  other.plan = "none";
  CHECK_THROWS_WITH(read_back(path, other), Contains("its plan is \"plan\""));
}

TEST_CASE("certify: two unlike results of one block are refused") {
  Results results;
  add_result(results, some_result(4));
  add_result(results, some_result(4));
  BlockResult other = some_result(4);
  other.wrong = 1;
  CHECK_THROWS_WITH(add_result(results, other), Contains("block 4 has two unlike results"));
}

TEST_CASE("certify: every changed byte of a file with a digest is noticed") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.json";
  const std::string text = with_digest(Json{{"a", 0.1}, {"b", {1, 2}}});
  write_synced(path, text);
  CHECK(checked_digest(path) == Json{{"a", 0.1}, {"b", {1, 2}}});
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    write_synced(path, changed);
    CHECK_THROWS_AS(checked_digest(path), InputError);
  }
}

}  // namespace
}  // namespace rope::certify
