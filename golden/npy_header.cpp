#include "golden/npy_header.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <string>

#include "reference/input_error.hpp"

namespace rope {
namespace {

struct TypeName {
  std::string_view descr;
  NpyType type;
};
constexpr std::array<TypeName, 6> type_names{{{"<f2", NpyType::f2},
                                              {"<f4", NpyType::f4},
                                              {"<f8", NpyType::f8},
                                              {"<i4", NpyType::i4},
                                              {"<i8", NpyType::i8},
                                              {"<u2", NpyType::u2}}};

// A cursor over the header. It understands only the literals that NumPy writes, and accepts each at most once.
class Parser {
 public:
  Parser(std::string_view text, std::size_t offset, std::string_view where)
      : text_(text), offset_(offset), where_(where) {}

  NpyHeader header() {
    expect('{', "the dict of the header");
    while (!accept('}')) {
      const std::size_t key_at = at_;
      const std::string_view key = quoted("a key");
      expect(':', "a colon after the key");
      if (key == "descr") {
        once(type_.has_value(), key, key_at);
        type_ = type();
      } else if (key == "fortran_order") {
        once(order_seen_, key, key_at);
        order_seen_ = true;
        c_order();
      } else if (key == "shape") {
        once(shape_.has_value(), key, key_at);
        shape_ = shape();
      } else {
        fail(key_at, fmt::format("unknown key '{}'; expected descr, fortran_order and shape", key));
      }
      if (!accept(',')) {
        expect('}', "a comma or the end of the dict");
        break;
      }
    }
    padding();
    if (!type_) fail(at_, "the header lacks the key 'descr'; save the file again with numpy.save");
    if (!order_seen_) fail(at_, "the header lacks the key 'fortran_order'; save the file again with numpy.save");
    if (!shape_) fail(at_, "the header lacks the key 'shape'; save the file again with numpy.save");
    return {*type_, std::move(*shape_)};
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    throw InputError(fmt::format("{}: byte {}: {}", where_, offset_ + at, message));
  }

  void once(bool seen, std::string_view key, std::size_t at) const {
    if (seen) fail(at, fmt::format("key '{}' stands twice in the header; expected once", key));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool accept(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted, std::string_view what) {
    if (accept(wanted)) return;
    if (at_ == text_.size()) {
      fail(at_,
           fmt::format("the header ends where {} ('{}') was expected; its length field is too small or the file is "
                       "damaged",
                       what, wanted));
    }
    fail(at_, fmt::format("expected {} ('{}'), found byte 0x{:02x}; save the file again with numpy.save", what, wanted,
                          static_cast<unsigned char>(text_[at_])));
  }

  std::string_view quoted(std::string_view what) {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail(at_, fmt::format("expected {} in quotes", what));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail(at_, fmt::format("{} has no closing quote", what));
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    for (char c : content) {
      if (c < 0x20 || c > 0x7e || c == '\\') fail(at_, fmt::format("{} holds a byte that is not plain ASCII", what));
    }
    at_ = end + 1;
    return content;
  }

  NpyType type() {
    skip_blanks();
    const std::size_t at = at_;
    if (at_ < text_.size() && text_[at_] == '[') {
      fail(at, "a structured dtype; expected one of <f2 <f4 <f8 <i4 <i8 <u2: save each field by itself");
    }
    const std::string_view found = quoted("the dtype");
    for (const TypeName& candidate : type_names) {
      if (candidate.descr == found) return candidate.type;
    }
    const std::string_view cure =
        !found.empty() && found.front() == '>' ? "it is big-endian: save array.astype(array.dtype.newbyteorder('<'))"
        : found == "<V2" || found == "|V2"     ? "it looks like bf16: save its bits with array.view(numpy.uint16)"
                                               : "convert with array.astype(...) before saving";
    fail(at, fmt::format("dtype '{}'; expected one of <f2 <f4 <f8 <i4 <i8 <u2; {}", found, cure));
  }

  void c_order() {
    skip_blanks();
    if (text_.substr(at_, 5) == "False") {
      at_ += 5;
    } else if (text_.substr(at_, 4) == "True") {
      fail(at_, "Fortran order; expected C order: save numpy.ascontiguousarray(array)");
    } else {
      fail(at_, "fortran_order is neither True nor False; save the file again with numpy.save");
    }
  }

  std::int64_t whole_number() {
    skip_blanks();
    const std::size_t start = at_;
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const std::int64_t digit = text_[at_] - '0';
      if (value > (largest - digit) / 10) fail(start, "a length of the shape is larger than 2^63 - 1");
      value = value * 10 + digit;
    }
    if (at_ == start) fail(at_, "expected a whole number, 0 or more, in the shape");
    return value;
  }

  std::vector<std::int64_t> shape() {
    expect('(', "the tuple of the shape");
    std::vector<std::int64_t> lengths;
    while (!accept(')')) {
      lengths.push_back(whole_number());
      if (accept(',')) continue;
      expect(')', "a comma or the end of the shape");
      if (lengths.size() == 1) fail(at_ - 1, "a shape of one length needs a comma, as in (3,)");
      break;
    }
    return lengths;
  }

  void padding() {
    skip_blanks();
    if (at_ + 1 != text_.size() || text_[at_] != '\n') {
      fail(at_,
           "expected spaces and one newline up to the end of the header; its length field is wrong or the file is "
           "damaged");
    }
  }

  std::string_view text_;
  std::size_t offset_;
  std::string_view where_;
  std::size_t at_ = 0;
  std::optional<NpyType> type_;
  bool order_seen_ = false;
  std::optional<std::vector<std::int64_t>> shape_;
};

}  // namespace

std::string_view descr(NpyType type) { return type_names.at(static_cast<std::size_t>(type)).descr; }

NpyHeader parse_npy_header(std::string_view text, std::size_t offset, std::string_view where) {
  return Parser(text, offset, where).header();
}

}  // namespace rope
