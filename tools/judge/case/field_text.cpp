#include "tools/judge/case/field_text.hpp"

#include <algorithm>

namespace rope::field_text {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

}  // namespace

std::string print(const Scaling& rule) {
  RopeSpec spec;
  spec.scaling = rule;
  const std::string flags = to_flags(spec);
  const std::string flag = " --scaling ";
  const std::size_t at = flags.find(flag);
  if (at == std::string::npos) return "none";
  std::string text = flags.substr(at + flag.size());
  text = text.substr(0, text.find(' '));
  std::erase(text, '+');  // of exponents: 1e+16 is 1e16
  std::replace(text.begin(), text.end(), ',', '+');
  return text;
}

std::string print(const std::vector<int>& sections) { return fmt::format("{}", fmt::join(sections, ":")); }

std::string print(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

std::string print(const std::vector<EarlierCall>& calls) {
  std::vector<std::string> words;
  for (const auto& [dtype, seq, start] : calls) words.push_back(fmt::format("{}:{}:{}", name(dtype), seq, start));
  return fmt::format("{}", fmt::join(words, "+"));
}

void read(std::string& value, const std::string& text) { value = text; }

void read(Scaling& rule, const std::string& text) {
  std::string flag = text;
  std::replace(flag.begin(), flag.end(), '+', ',');
  rule = scaling_from_flag(flag);
}

void read(std::vector<int>& sections, const std::string& text) {
  sections.clear();
  for (const std::string& part : parts_of(text, ':')) sections.push_back(parse_number<int>(part));
}

void read(std::vector<EarlierCall>& calls, const std::string& text) {
  calls.clear();
  if (text.empty()) return;
  for (const std::string& one : parts_of(text, '+')) {
    const std::vector<std::string> parts = parts_of(one, ':');
    if (parts.size() != 3) {
      throw InputError(fmt::format("\"{}\" is not a call before; expected DTYPE:TOKENS:POSITION, as bf16:300:0", one));
    }
    EarlierCall& call = calls.emplace_back();
    read(call.dtype, parts[0]);
    call.seq = parse_number<int>(parts[1]);
    call.start = parse_number<std::int64_t>(parts[2]);
  }
}

void read(std::optional<double>& number, const std::string& text) { number = parse_number<double>(text); }

}  // namespace rope::field_text
