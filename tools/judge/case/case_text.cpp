#include <fmt/format.h>

#include <algorithm>

#include "reference/input_error.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/case/fields.hpp"

namespace rope {
namespace {

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
  within("address", c.address, -1, address_unit - 1);
  within("output_address", c.output_address, -1, address_unit - 1);
  within("spare_rows", c.spare_rows, 0, 1 << 20);
  within("sequence_length", c.sequence_length, 0, std::int64_t{1} << 62);
  within("calls before", static_cast<std::int64_t>(c.before.size()), 0, 64);
  for (const Case& earlier : earlier_cases(c)) check_shape(earlier);
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
  plain.spec.rotary_dim = c.spec.head_dim;  // reading head_dim sets both
  std::string text = c.requirement + ":";
  for (const Field& field : fields()) {
    const std::string value = field.text.print(c);
    if (value == field.text.print(plain)) continue;
    if (text.back() != ':') text += ',';
    text += fmt::format("{}={}", field.text.name, value);
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
    const auto found = std::ranges::find_if(fields(), [&](const Field& field) {
      return equals != std::string::npos && field.text.name == part.substr(0, equals);
    });
    if (found == fields().end()) {
      std::vector<std::string_view> known;
      for (const Field& field : fields()) known.push_back(field.text.name);
      throw InputError(fmt::format("case \"{}\": \"{}\" is not field=value of a known field; the fields are {}", text,
                                   part, fmt::join(known, ", ")));
    }
    try {
      found->text.read(c, part.substr(equals + 1));
    } catch (const InputError& error) {
      throw InputError(fmt::format("case \"{}\": {}: {}", text, found->text.name, error.what()));
    }
    from = to + 1;
  }
  check_shape(c);
  validate(c.spec);
  return c;
}

}  // namespace rope
