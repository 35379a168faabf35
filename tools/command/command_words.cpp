#include "tools/command/command_words.hpp"

#include <fmt/format.h>

#include "reference/input_error.hpp"

namespace rope {
namespace {

// Within double quotes a backslash is special only before these. POSIX.1-2017, Shell Command Language 2.2.3.
constexpr std::string_view special_in_double_quotes = "\"\\$`\n";

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<std::string> words() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n') {
        end_word();
      } else if (c == '\'') {
        single_quoted();
      } else if (c == '"') {
        double_quoted();
      } else if (c == '\\') {
        escaped();
      } else {
        put(c);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  void put(char c) {
    word_ += c;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  void escaped() {
    if (++at_ == text_.size()) {
      throw InputError(fmt::format("\"{}\" ends in a backslash; write \\\\ for the character itself", text_));
    }
    if (text_[at_] != '\n') put(text_[at_]);  // an escaped newline continues the line
  }

  void single_quoted() {
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find('\'', begin);
    if (end == text_.npos) not_closed(begin - 1);
    word_ += text_.substr(begin, end - begin);
    in_word_ = true;
    at_ = end;
  }

  void double_quoted() {
    const std::size_t begin = at_;
    in_word_ = true;  // "" is a word, an empty one
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      const bool escapes =
          text_[at_] == '\\' && at_ + 1 < text_.size() && special_in_double_quotes.find(text_[at_ + 1]) != text_.npos;
      if (escapes) {
        escaped();
      } else {
        put(text_[at_]);
      }
    }
    if (at_ == text_.size()) not_closed(begin);
  }

  [[noreturn]] void not_closed(std::size_t quote) const {
    throw InputError(fmt::format("\"{}\": the quote {} at character {} is not closed", text_, text_[quote], quote + 1));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> command_words(std::string_view text) { return Splitter(text).words(); }

}  // namespace rope
