#include "reference/gguf.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/reference/gguf_writer.hpp"

namespace rope {
namespace {

using Catch::Contains;

nlohmann::ordered_json values_of(const std::string& content) {
  std::vector<std::string> tensors;
  return read_gguf(content, "a.gguf", tensors);
}

void bad_gguf(const std::string& content, const std::string& words) {
  CHECK_THROWS_WITH(values_of(content), Contains("a.gguf: " + words));
}

TEST_CASE("gguf: values of each type, lists and tensors' names are read in versions 2 and 3") {
  GgufWriter writer("llama");
  writer.entry("a", 0, "\xff").entry("b", 1, "\xff").entry("c", 2, "\x01\x02").entry("d", 3, "\xff\xff");
  writer.u32("e", 7).entry("f", 5, GgufWriter::bytes(std::int32_t{-7})).f32("g", 0.5F).truth("h", 1);
  writer.i32_list("i", {1, -2}).entry("j", 10, GgufWriter::bytes(std::uint64_t{1} << 40));
  writer.entry("k", 11, GgufWriter::bytes(std::int64_t{-1})).entry("l", 12, GgufWriter::bytes(0.25));
  writer.text_list("tokens", {"a", "\xff", "c"}).i32_list("long", std::vector<std::int32_t>(2000));
  writer.tensor("token_embd.weight", 2).tensor("rope_freqs.weight");
  for (const std::uint32_t version : {2U, 3U}) {
    std::vector<std::string> tensors;
    CHECK(read_gguf(writer.file(version), "a.gguf", tensors).dump() ==
          R"({"general.architecture":"llama","a":255,"b":-1,"c":513,"d":-1,"e":7,"f":-7,"g":0.5,"h":true,"i":[1,-2],)"
          R"("j":1099511627776,"k":-1,"l":0.25,"tokens":null,"long":null})");
    CHECK(tensors == std::vector<std::string>{"rope_freqs.weight"});
  }
  CHECK(is_gguf(writer.file()));
  CHECK_FALSE(is_gguf("GGU"));
}

TEST_CASE("gguf: what follows the tensors' names is not read") {
  const std::string content = GgufWriter("llama").tensor("a").file();
  CHECK(values_of(content + "anything").size() == 1);
}

TEST_CASE("gguf: a file that is cut off anywhere is a sentence with the byte") {
  GgufWriter writer("llama");
  writer.u32("llama.context_length", 8).i32_list("i", {1, 2}).text_list("t", {"a", "b"}).tensor("rope_freqs.weight");
  const std::string content = writer.file();
  for (std::size_t size = 4; size < content.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_WITH(values_of(content.substr(0, size)),
                      Contains("a.gguf: byte " + std::to_string(size) + ": the file ends within "));
  }
  bad_gguf("GGX", "byte 3: the file ends within the magic");
  bad_gguf("ggufxxxxxxxx", "byte 0: not a GGUF file");
}

TEST_CASE("gguf: hostile headers, counts and types are refused at once") {
  bad_gguf(GgufWriter().file(1), "byte 4: version 1; allowed are 2 and 3");
  bad_gguf(GgufWriter().file(4), "byte 4: version 4; allowed are 2 and 3");
  bad_gguf(GgufWriter().file(0x03000000), "byte 4: version 50331648 if it were little-endian");
  const auto header = [](std::uint64_t tensors, std::uint64_t keys) {
    return "GGUF" + GgufWriter::bytes(std::uint32_t{3}) + GgufWriter::bytes(tensors) + GgufWriter::bytes(keys);
  };
  bad_gguf(header(0, 4097), "byte 16: the number of keys is 4097; allowed are 4096");
  bad_gguf(header(~std::uint64_t{0}, 0), "byte 8: the number of tensors is 18446744073709551615; allowed are 1000000");
  const std::string endless = GgufWriter::bytes(~std::uint64_t{0});
  bad_gguf(header(0, 1) + endless, "byte 24: the length of key 0 is 18446744073709551615; allowed are 65535");
  bad_gguf(GgufWriter().entry("a", 8, endless).file(), "byte 37: the length of the value of a is 18446744073709551615");
  bad_gguf(GgufWriter().entry("a", 13, "").file(), "byte 33: the value of a has type 13; there are 0 to 12");
  bad_gguf(GgufWriter().truth("a", 2).file(), "byte 37: the value of a is 2; a truth value is 0 or 1");
  const std::string of_lists = GgufWriter::bytes(std::uint32_t{9}) + GgufWriter::bytes(std::uint64_t{1});
  bad_gguf(GgufWriter().entry("a", 9, of_lists).file(), "byte 37: the value of a is a list of lists");
  const std::string many = GgufWriter::bytes(std::uint32_t{4}) + GgufWriter::bytes(std::uint64_t{1} << 60);
  bad_gguf(GgufWriter().entry("a", 9, many).file(), "byte 41: the length of the value of a is 1152921504606846976");
  const std::string texts = GgufWriter::bytes(std::uint32_t{8}) + GgufWriter::bytes(std::uint64_t{1} << 25);
  bad_gguf(GgufWriter().entry("a", 9, texts).file(), "byte 49: the file ends within the length of the value of a");
  bad_gguf(GgufWriter().tensor("a", 9).file(), "byte 33: tensor 0 has 9 dimensions; allowed are 8");
}

TEST_CASE("gguf: keys are once there, and keys and texts are UTF-8") {
  bad_gguf(GgufWriter("llama").u32("a", 1).u32("a", 1).file(), "byte 86: the key a is there twice; allowed is once");
  bad_gguf(GgufWriter().u32("\xff", 1).file(), "byte 24: key 0 is not UTF-8");
  bad_gguf(GgufWriter().text("a", "\xc3\x28").file(), "byte 37: the value of a is not UTF-8");
  bad_gguf(GgufWriter().tensor("\xed\xa0\x80").file(), "byte 24: the name of tensor 0 is not UTF-8");
}

TEST_CASE("gguf: metadata longer than 64 MiB is refused; the message has the limit") {
  const std::string length = GgufWriter::bytes(std::uint64_t{67108864});
  const std::string content = GgufWriter().entry("a", 8, length).file() + std::string(67108864, 'a');
  bad_gguf(content.substr(0, 67108865), "byte 67108864: the value of a goes on; allowed are 67108864 bytes before");
  bad_gguf(content.substr(0, 67108000), "byte 67108000: the file ends within the value of a");
}

}  // namespace
}  // namespace rope
