#include <fmt/format.h>

#include <charconv>
#include <functional>

#include "reference/input_error.hpp"
#include "tests/conformance/case.hpp"

namespace rope {
namespace {

template <class Enum>
using Words = std::vector<std::pair<std::string_view, Enum>>;

const Words<PositionForm> forms{
    {"offset", PositionForm::offset}, {"shared", PositionForm::shared}, {"per_batch", PositionForm::per_batch}};
const Words<PositionPattern> patterns{{"consecutive", PositionPattern::consecutive},
                                      {"repeated", PositionPattern::repeated},
                                      {"descending", PositionPattern::descending},
                                      {"exchanged", PositionPattern::exchanged},
                                      {"first_in_order", PositionPattern::first_in_order},
                                      {"last_apart", PositionPattern::last_apart},
                                      {"restarting", PositionPattern::restarting},
                                      {"left_padded", PositionPattern::left_padded},
                                      {"scattered", PositionPattern::scattered}};
const Words<Layout> layouts{{"contiguous", Layout::contiguous},
                            {"shifted", Layout::shifted},
                            {"strided", Layout::strided},
                            {"key_strided", Layout::key_strided},
                            {"angles_strided", Layout::angles_strided},
                            {"seq_last", Layout::seq_last},
                            {"reversed", Layout::reversed},
                            {"expanded", Layout::expanded},
                            {"packed", Layout::packed},
                            {"distant_batches", Layout::distant_batches},
                            {"distant_tokens", Layout::distant_tokens},
                            {"distant_heads", Layout::distant_heads},
                            {"distant_rows", Layout::distant_rows}};
const Words<OutputLayout> outputs{{"as_input", OutputLayout::as_input},
                                  {"contiguous", OutputLayout::contiguous},
                                  {"strided", OutputLayout::strided},
                                  {"key_strided", OutputLayout::key_strided},
                                  {"shifted", OutputLayout::shifted}};
const Words<InputKind> inputs{{"spread", InputKind::spread}, {"unit", InputKind::unit},
                              {"lonely", InputKind::lonely}, {"constant", InputKind::constant},
                              {"huge", InputKind::huge},     {"subnormal", InputKind::subnormal},
                              {"zero", InputKind::zero}};
const Words<AngleSource> sources{
    {"tables", AngleSource::tables}, {"frequencies", AngleSource::frequencies}, {"computed", AngleSource::computed}};
const Words<Direction> directions{{"forward", Direction::forward}, {"backward", Direction::backward}};
const Words<Pairing> pairings{{"half_split", Pairing::half_split}, {"interleaved", Pairing::interleaved}};
const Words<AxisLayout::Order> orders{{"chunked", AxisLayout::Order::chunked},
                                      {"interleaved", AxisLayout::Order::interleaved}};
const Words<Fault> faults = [] {
  Words<Fault> words;
  for (const FaultWord& known : fault_words()) words.emplace_back(known.word, known.fault);
  return words;
}();
const Words<SanitizerTool> tools = [] {
  Words<SanitizerTool> words{{name(SanitizerTool::none), SanitizerTool::none}};
  for (const SanitizerTool tool : sanitizer_tools) words.emplace_back(name(tool), tool);
  return words;
}();
const Words<DType> dtypes{{"f64", DType::f64},   {"f32", DType::f32}, {"f16", DType::f16},
                          {"bf16", DType::bf16}, {"i32", DType::i32}, {"i64", DType::i64}};

template <class Enum>
std::string print(const Words<Enum>& words, Enum value) {
  for (const auto& [word, candidate] : words) {
    if (candidate == value) return std::string(word);
  }
  return "?";
}

template <class Enum>
Enum parse(const Words<Enum>& words, const std::string& text) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  throw InputError(fmt::format("\"{}\" is not one of {}", text, fmt::join(known, ", ")));
}

template <class Number>
Number parse_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format("\"{}\" is not a number", text));
  }
  return value;
}

// A rule as --scaling has it, with '+' for ',' because ',' parts the fields of a case.
std::string scaling_text(const RopeSpec& spec) {
  const std::string flags = to_flags(spec);
  const std::string flag = " --scaling ";
  const std::size_t at = flags.find(flag);
  if (at == std::string::npos) return "none";
  std::string text = flags.substr(at + flag.size());
  text = text.substr(0, text.find(' '));
  std::erase(text, '+');  // of exponents: 1e+16 is 1e16
  for (char& ch : text) ch = ch == ',' ? '+' : ch;
  return text;
}

Scaling parse_scaling(std::string text) {
  for (char& ch : text) ch = ch == '+' ? ',' : ch;
  return scaling_from_flag(text);
}

std::vector<int> parse_sections(const std::string& text) {
  std::vector<int> sections;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(':', from), text.size());
    sections.push_back(parse_number<int>(text.substr(from, to - from)));
    from = to + 1;
  }
  return sections;
}

// One row a field: how it prints and how it is read. The order is that of the text; rotary_dim comes after head_dim.
struct Field {
  std::string_view key;
  std::function<std::string(const Case&)> print;
  std::function<void(Case&, const std::string&)> read;
};

template <class Member>
Field number(std::string_view key, Member member) {
  return {key, [=](const Case& c) { return fmt::format("{}", c.*member); },
          [=](Case& c, const std::string& text) {
            c.*member = parse_number<std::remove_reference_t<decltype(c.*member)>>(text);
          }};
}

template <class Member, class Enum>
Field word(std::string_view key, Member member, const Words<Enum>& words) {
  return {key, [&words, member](const Case& c) { return print(words, c.*member); },
          [&words, member](Case& c, const std::string& text) { c.*member = parse(words, text); }};
}

Field truth(std::string_view key, bool Case::*member) {
  return {key, [=](const Case& c) { return std::string(c.*member ? "1" : "0"); },
          [=](Case& c, const std::string& text) { c.*member = parse_number<int>(text) != 0; }};
}

const std::vector<Field>& fields() {
  static const std::vector<Field> table{
      {"head_dim", [](const Case& c) { return fmt::format("{}", c.spec.head_dim); },
       [](Case& c, const std::string& text) { c.spec.rotary_dim = c.spec.head_dim = parse_number<int>(text); }},
      {"rotary_dim", [](const Case& c) { return fmt::format("{}", c.spec.rotary_dim); },
       [](Case& c, const std::string& text) { c.spec.rotary_dim = parse_number<int>(text); }},
      {"pairing", [](const Case& c) { return print(pairings, c.spec.pairing); },
       [](Case& c, const std::string& text) { c.spec.pairing = parse(pairings, text); }},
      {"base", [](const Case& c) { return fmt::format("{}", c.spec.base); },
       [](Case& c, const std::string& text) { c.spec.base = parse_number<double>(text); }},
      {"scaling", [](const Case& c) { return scaling_text(c.spec); },
       [](Case& c, const std::string& text) { c.spec.scaling = parse_scaling(text); }},
      {"axes", [](const Case& c) { return fmt::format("{}", fmt::join(c.spec.axes.sections, ":")); },
       [](Case& c, const std::string& text) { c.spec.axes.sections = parse_sections(text); }},
      {"axes_order", [](const Case& c) { return print(orders, c.spec.axes.order); },
       [](Case& c, const std::string& text) { c.spec.axes.order = parse(orders, text); }},
      {"axes_restart", [](const Case& c) { return std::string(c.spec.axes.restart ? "1" : "0"); },
       [](Case& c, const std::string& text) { c.spec.axes.restart = parse_number<int>(text) != 0; }},
      {"attention_factor",
       [](const Case& c) { return c.spec.attention_factor ? fmt::format("{}", *c.spec.attention_factor) : ""; },
       [](Case& c, const std::string& text) { c.spec.attention_factor = parse_number<double>(text); }},
      number("batch", &Case::batch),
      number("seq", &Case::seq),
      number("heads", &Case::heads),
      number("key_heads", &Case::key_heads),
      word("dtype", &Case::dtype, dtypes),
      word("out_dtype", &Case::out_dtype, dtypes),
      word("source", &Case::source, sources),
      word("given", &Case::given, dtypes),
      truth("full_tables", &Case::full_tables),
      truth("unequal_halves", &Case::unequal_halves),
      number("spare_rows", &Case::spare_rows),
      word("form", &Case::form, forms),
      word("position_dtype", &Case::position_dtype, dtypes),
      word("pattern", &Case::pattern, patterns),
      number("start", &Case::start),
      number("sequence_length", &Case::sequence_length),
      word("direction", &Case::direction, directions),
      truth("in_place", &Case::in_place),
      word("layout", &Case::layout, layouts),
      word("output", &Case::output, outputs),
      word("input", &Case::input, inputs),
      number("seed", &Case::seed),
      word("fault", &Case::fault, faults),
      word("tool", &Case::tool, tools),
      {"golden", [](const Case& c) { return c.golden; }, [](Case& c, const std::string& text) { c.golden = text; }},
  };
  return table;
}

void check_shape(const Case& c) {
  const auto within = [](std::string_view key, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < low || value > high) {
      throw InputError(fmt::format("{}={} is out of range; it must be {} to {}", key, value, low, high));
    }
  };
  within("batch", c.batch, 0, 1 << 17);
  within("seq", c.seq, 0, 1 << 20);
  within("heads", c.heads, 0, 1 << 17);
  within("key_heads", c.key_heads, 0, 1 << 17);
  within("head_dim", c.spec.head_dim, 1, 1 << 15);
  within("start", c.start, 0, std::int64_t{1} << 62);
  within("spare_rows", c.spare_rows, 0, 1 << 20);
  within("sequence_length", c.sequence_length, 0, std::int64_t{1} << 62);
  // 2^30 tokens of at most 2^32 features: the product fits.
  const std::int64_t tokens = std::int64_t{c.batch} * c.seq;
  const std::int64_t features = std::int64_t{std::max(c.heads, c.key_heads)} * c.spec.head_dim;
  within("tokens", tokens, 0, std::int64_t{1} << 30);
  within("elements", tokens * features, 0, std::int64_t{1} << 31);
  if (!is_floating(c.dtype) || !is_floating(c.out_dtype) || !is_floating(c.given) || is_floating(c.position_dtype)) {
    throw InputError("dtype, out_dtype and given must be floating, position_dtype i32 or i64");
  }
}

}  // namespace

std::string to_text(const Case& c) {
  Case plain;
  std::string text = c.requirement + ":";
  for (const Field& field : fields()) {
    // Reading head_dim sets rotary_dim too, so the default of rotary_dim follows it.
    if (field.key == "rotary_dim") plain.spec.rotary_dim = c.spec.head_dim;
    const std::string value = field.print(c);
    if (value == field.print(plain)) continue;
    if (text.back() != ':') text += ',';
    text += fmt::format("{}={}", field.key, value);
  }
  return text;
}

Case case_from_text(std::string_view text) {
  const std::string id(text);
  const std::size_t colon = id.find(':');
  if (colon == std::string::npos) {
    throw InputError(fmt::format("case \"{}\": expected REQUIREMENT:field=value,.. as `verify` prints it", text));
  }
  Case c;
  c.requirement = id.substr(0, colon);
  for (std::size_t from = colon + 1; from < id.size();) {
    const std::size_t to = std::min(id.find(',', from), id.size());
    const std::string part = id.substr(from, to - from);
    const std::size_t equals = part.find('=');
    const Field* found = nullptr;
    for (const Field& field : fields()) {
      if (equals != std::string::npos && field.key == part.substr(0, equals)) found = &field;
    }
    if (found == nullptr) {
      std::vector<std::string_view> known;
      for (const Field& field : fields()) known.push_back(field.key);
      throw InputError(fmt::format("case \"{}\": \"{}\" is not field=value of a known field; the fields are {}", text,
                                   part, fmt::join(known, ", ")));
    }
    try {
      found->read(c, part.substr(equals + 1));
    } catch (const InputError& error) {
      throw InputError(fmt::format("case \"{}\": {}: {}", text, found->key, error.what()));
    }
    from = to + 1;
  }
  check_shape(c);
  validate(c.spec);
  return c;
}

}  // namespace rope
