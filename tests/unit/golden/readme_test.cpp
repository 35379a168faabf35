// golden/README.md: its C++ runs as it stands there. docs/golden-files.md: its tables name all that the manifest has.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/unit/golden/committed.hpp"
#include "tests/unit/places.hpp"

namespace {

namespace fs = std::filesystem;

std::string text_of(const char* path) {
  const std::ifstream file(rope::source_folder() / path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  REQUIRE(from != std::string::npos);
  const std::size_t to = text.find(end, from + begin.size());
  REQUIRE(to != std::string::npos);
  return text.substr(from + begin.size(), to - from - begin.size());
}

std::vector<std::string> lines_of(const std::string& text) {  // without indentation and empty lines
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) lines.push_back(line.substr(begin));
  }
  return lines;
}

class InRepository {
 public:
  InRepository() : before_(fs::current_path()) { fs::current_path(rope::source_folder()); }
  ~InRepository() { fs::current_path(before_); }
  InRepository(const InRepository&) = delete;
  InRepository& operator=(const InRepository&) = delete;

 private:
  fs::path before_;
};

}  // namespace

TEST_CASE("golden README: its C++ reads a case", "[golden]") {
  const InRepository here;
  // golden/README.md begins
  const rope::Manifest manifest = rope::read_manifest("golden");
  const rope::GoldenCase& golden = *manifest.find("huggingface/llama/d64-bf16");
  const rope::NpyArray q = rope::load(manifest, golden, "q");
  const double first = rope::load(golden.dtype, q.bytes.data());
  // golden/README.md ends
  CHECK(golden.dtype == rope::DType::bf16);
  CHECK(first != 0);
  CHECK(std::abs(first) < 16);  // generate_input() makes nothing larger

  const std::string printed = between(text_of("golden/README.md"), "```cpp\n", "```");
  const std::string run =
      between(text_of("tests/unit/golden/readme_test.cpp"), "// golden/README.md begins\n", "// golden/README.md ends");
  CHECK(lines_of(printed) == lines_of(run));
}

TEST_CASE("golden guide: it holds the numbers and every word of the manifest", "[golden]") {
  const std::string guide = text_of("docs/golden-files.md");
  std::size_t arrays = 0;
  std::set<std::string> words;
  for (const rope::GoldenCase& golden : rope::committed().cases) {
    arrays += golden.arrays.size();
    words.insert(std::string(rope::name(golden.rounding)));
    if (golden.instead) words.insert(std::string(rope::name(golden.instead->rule)));
    for (const rope::BeyondContract what : golden.beyond_contract) words.insert(std::string(rope::name(what)));
    for (const rope::GoldenArray& array : golden.arrays) words.insert(array.name);
  }
  const std::string counts = fmt::format("{} cases, {} arrays", rope::committed().cases.size(), arrays);
  INFO(counts);
  CHECK(guide.find(counts) != std::string::npos);
  CHECK(words.size() > 30);
  for (const std::string& word : words) {
    INFO(word);
    CHECK(guide.find("`" + word + "`") != std::string::npos);
  }
}

TEST_CASE("golden schema: it knows the reader's words", "[golden]") {
  const std::string schema = text_of("golden/manifest.schema.json");
  int words = 0;
  const auto expect_each = [&](auto first) {
    using Word = decltype(first);
    for (int i = 0; rope::name(static_cast<Word>(i)) != "?"; ++i, ++words) {
      INFO(rope::name(static_cast<Word>(i)));
      CHECK(schema.find(fmt::format("\"{}\"", rope::name(static_cast<Word>(i)))) != std::string::npos);
    }
  };
  expect_each(rope::GoldenRole{});
  expect_each(rope::GoldenRule{});
  expect_each(rope::BeyondContract{});
  expect_each(rope::GoldenRounding{});
  CHECK(words == 30);
}

TEST_CASE("golden files: ids stay; a new one is appended to ids.txt", "[golden]") {
  std::set<std::string> listed;
  for (const std::string& id : lines_of(text_of("golden/ids.txt"))) {
    CHECK(listed.insert(id).second);
    INFO(id << " was given out once: it stays");
    CHECK(rope::committed().find(id) != nullptr);
  }
  for (const rope::GoldenCase& golden : rope::committed().cases) {
    INFO(golden.id << " is new: append it to golden/ids.txt");
    CHECK(listed.contains(golden.id));
  }
}
