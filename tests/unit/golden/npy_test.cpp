#include "golden/npy.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>

#include "reference/input_error.hpp"
#include "tests/unit/places.hpp"

using rope::NpyArray;
using rope::NpyType;

namespace {

const std::string header_2x3 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

// A file of format `major`. Its length field holds the right length, or `announced`.
std::string file(int major, const std::string& header, std::size_t data_bytes, long announced = -1) {
  std::string content = "\x93NUMPY";
  content += static_cast<char>(major);
  content += '\0';
  const auto length = static_cast<std::size_t>(announced < 0 ? static_cast<long>(header.size()) : announced);
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) content += static_cast<char>(length >> (8 * i) & 0xff);
  content += header;
  for (std::size_t i = 0; i < data_bytes; ++i) content += static_cast<char>(i);
  return content;
}

std::string with_descr(const std::string& descr) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,), }\n";
}
std::string with_shape(const std::string& shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

NpyArray parse(const std::string& content) { return rope::parse_npy(std::as_bytes(std::span(content)), "x.npy"); }

// The message of the refusal; empty if the file is accepted.
std::string refusal(const std::string& content) {
  try {
    parse(content);
  } catch (const rope::InputError& error) {
    return error.what();
  }
  return "";
}

void check_refusal(const std::string& content, const std::string& byte, const std::string& words) {
  CAPTURE(content);
  CHECK_THAT(refusal(content), Catch::StartsWith("x.npy: byte " + byte + ": ") && Catch::Contains(words));
}

}  // namespace

TEST_CASE("npy: format versions 1, 2 and 3", "[golden]") {
  for (int major : {1, 2, 3}) {
    const NpyArray array = parse(file(major, header_2x3, 24));
    CHECK(array.type == NpyType::f4);
    CHECK(array.shape == std::vector<std::int64_t>{2, 3});
    REQUIRE(array.bytes.size() == 24);
    CHECK(array.bytes[23] == std::byte{23});
  }
}

TEST_CASE("npy: headers as people write them", "[golden]") {
  CHECK(refusal(file(1, "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}\n", 24)).empty());
  CHECK(refusal(file(1, "{\"fortran_order\":False,\"descr\":\"<f4\",\"shape\":(2,3)}   \n", 24)).empty());
  CHECK(refusal(file(1, std::string(header_2x3).insert(header_2x3.size() - 1, 300, ' '), 24)).empty());
  CHECK(parse(file(1, with_shape("()"), 4)).shape.empty());
  CHECK(parse(file(1, with_shape("(6,)"), 24)).shape == std::vector<std::int64_t>{6});
  CHECK(parse(file(1, with_shape("(5, 0, 7)"), 0)).bytes.empty());
}

TEST_CASE("npy: every dtype", "[golden]") {
  const std::pair<const char*, std::size_t> types[] = {{"<f2", 2}, {"<f4", 4}, {"<f8", 8},
                                                       {"<i4", 4}, {"<i8", 8}, {"<u2", 2}};
  for (const auto& [descr, size] : types) {
    const NpyArray array = parse(file(1, with_descr(std::string("'").append(descr).append("'")), 2 * size));
    CHECK(rope::descr(array.type) == descr);
    CHECK(rope::size_of(array.type) == size);
  }
}

TEST_CASE("npy: what is refused, at which byte, and what to do", "[golden]") {
  const std::string good = file(1, header_2x3, 24);
  check_refusal("", "0", "numpy.save");
  check_refusal("PK\x03\x04 an npz archive", "0", "expected the six bytes");
  check_refusal(good.substr(0, 7), "7", "truncated");
  check_refusal(good.substr(0, 9), "9", "truncated");
  check_refusal(file(4, header_2x3, 24), "6", "format version 4.0; expected 1.0, 2.0 or 3.0");
  check_refusal(good.substr(0, good.size() - 1), std::to_string(good.size() - 1), "after 23 of 24 bytes");
  check_refusal(good + 'x', std::to_string(good.size()), "1 bytes follow the 24 bytes");

  check_refusal(file(1, with_descr("'>f4'"), 8), "20", "big-endian");
  check_refusal(file(1, with_descr("'<V2'"), 4), "20", "view(numpy.uint16)");
  check_refusal(file(1, with_descr("'|O'"), 16), "20", "expected one of <f2 <f4 <f8 <i4 <i8 <u2");
  check_refusal(file(1, with_descr("'<c8'"), 16), "20", "'<c8'");
  check_refusal(file(1, with_descr("[('a', '<f4')]"), 8), "20", "structured dtype");
  check_refusal(file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n", 8), "44", "ascontiguousarray");
  check_refusal(file(1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }\n", 8), "44", "neither True nor False");

  check_refusal(file(1, "{'descr': '<f4', 'shape': (2,), }\n", 8), "43", "lacks the key 'fortran_order'");
  check_refusal(file(1, "{'fortran_order': False, 'shape': (2,), }\n", 8), "51", "lacks the key 'descr'");
  check_refusal(file(1, "{'descr': '<f4', 'fortran_order': False, }\n", 8), "52", "lacks the key 'shape'");
  check_refusal(file(1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8), "27",
                "twice");
  check_refusal(file(1, "{'align': True, 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8), "11",
                "unknown key 'align'");
  check_refusal(file(1, "['descr']\n", 8), "10", "expected the dict");
  check_refusal(file(1, "{'descr: 1}\n", 8), "11", "no closing quote");
}

TEST_CASE("npy: invalid shapes", "[golden]") {
  check_refusal(file(1, with_shape("(-2,)"), 8), "61", "whole number");
  check_refusal(file(1, with_shape("(2.0,)"), 8), "62", "a comma or the end of the shape");
  check_refusal(file(1, with_shape("(2)"), 8), "62", "needs a comma");
  check_refusal(file(1, with_shape("[2]"), 8), "60", "tuple of the shape");
  check_refusal(file(1, with_shape("(2L,)"), 8), "62", "a comma");
  check_refusal(file(1, with_shape("(None,)"), 8), "61", "whole number");
}

TEST_CASE("npy: shapes of impossible size are refused before anything is allocated", "[golden]") {
  check_refusal(file(1, with_shape("(9223372036854775808,)"), 8), "61", "2^63 - 1");
  check_refusal(file(1, with_shape("(4611686018427387904, 4)"), 8), "10", "larger than any file");
  check_refusal(file(1, with_shape("(4294967296, 4294967296)"), 8), "10", "larger than any file");
  check_refusal(file(1, with_shape("(1000000000000000,)"), 8), "91", "8 of 4000000000000000 bytes");
}

TEST_CASE("npy: a wrong header length", "[golden]") {
  const auto length = static_cast<long>(header_2x3.size());
  check_refusal(file(1, header_2x3, 24, length + 1000), "8", "truncated or damaged");
  check_refusal(file(2, header_2x3, 24, 0xffffffffL), "8", "4294967295 bytes is announced");
  check_refusal(file(1, header_2x3, 24, length - 10), "60", "its length field is too small");
  check_refusal(file(1, header_2x3, 24, length - 1), "69", "length field is wrong");
  check_refusal(file(1, header_2x3, 24, length + 4), "69", "length field is wrong");
  check_refusal(file(1, header_2x3, 24, 0), "10", "header ends");
}

TEST_CASE("npy: any prefix and any changed byte of a header leads to a refusal or an array", "[golden]") {
  const std::string good = file(1, header_2x3, 24);
  for (std::size_t length = 0; length < good.size(); ++length) CHECK_FALSE(refusal(good.substr(0, length)).empty());
  for (std::size_t at = 0; at < good.size() - 24; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = good;
      damaged[at] = static_cast<char>(value);
      try {
        const NpyArray array = parse(damaged);
        REQUIRE(array.bytes.size() <= 24);
      } catch (const rope::InputError&) {
      }
    }
  }
}

TEST_CASE("npy: written files are read back, and their data begins at a multiple of 64", "[golden]") {
  const std::filesystem::path folder = rope::build_folder() / "npy_test";
  std::filesystem::create_directories(folder);
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {3}, {0}, {2, 3, 5}, {1, 1, 1, 1, 1}}) {
    std::size_t bytes = 8;
    for (auto extent : shape) bytes *= static_cast<std::size_t>(extent);
    const NpyArray array{NpyType::f8, shape, std::vector<std::byte>(bytes, std::byte{42})};
    CHECK((rope::format_npy(array).size() - bytes) % 64 == 0);
    rope::write_npy(folder / "a.npy", array);
    const NpyArray again = rope::read_npy(folder / "a.npy");
    CHECK(again.type == array.type);
    CHECK(again.shape == array.shape);
    CHECK(again.bytes == array.bytes);
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);  // no temporary file is left
  std::filesystem::remove_all(folder);
}

TEST_CASE("npy: bytes that do not fill the shape are not written", "[golden]") {
  const std::filesystem::path path = rope::build_folder() / "never.npy";
  CHECK_THROWS_AS(rope::write_npy(path, {NpyType::f4, {2}, std::vector<std::byte>(7)}), rope::InputError);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("npy: files that are not npy files", "[golden]") {
  CHECK_THROWS_WITH(rope::read_npy("/nowhere/a.npy"), "/nowhere/a.npy: no such file; expected a regular file there");
  CHECK_THROWS_WITH(rope::read_npy("/dev/zero"), Catch::Contains("not a regular file"));
  CHECK_THROWS_WITH(rope::read_npy("/tmp"), Catch::Contains("not a regular file"));
}
