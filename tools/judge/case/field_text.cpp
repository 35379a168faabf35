#include "tools/judge/case/field_text.hpp"

#include <algorithm>

namespace rope::field_text {

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

void read(std::string& value, const std::string& text) { value = text; }

void read(Scaling& rule, const std::string& text) {
  std::string flag = text;
  std::replace(flag.begin(), flag.end(), '+', ',');
  rule = scaling_from_flag(flag);
}

void read(std::vector<int>& sections, const std::string& text) {
  sections.clear();
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(':', from), text.size());
    sections.push_back(parse_number<int>(text.substr(from, to - from)));
    from = to + 1;
  }
}

void read(std::optional<double>& number, const std::string& text) { number = parse_number<double>(text); }

}  // namespace rope::field_text
