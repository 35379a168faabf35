#include "tools/worker/protocol/wire.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "reference/axis_orders.hpp"
#include "reference/escaped_text.hpp"
#include "reference/scaling/rules.hpp"

namespace rope::wire {
namespace {

constexpr std::array<std::string_view, 6> dtype_names{"f64", "f32", "f16", "bf16", "i32", "i64"};
constexpr std::array<std::string_view, 2> pairing_names{"half_split", "interleaved"};
constexpr std::array<std::string_view, 2> direction_names{"forward", "backward"};
constexpr std::array<std::string_view, 3> source_names{"tables", "frequencies", "computed"};
constexpr std::array<std::string_view, 17> feature_names{
    "partial",  "positions", "batch_positions",  "in_place",       "strided", "key",    "grouped_heads",
    "backward", "axes",      "attention_factor", "unequal_halves", "offset",  "robust", "any_strides",
    "seqlen_offsets", "cu_seqlens", "rotary_offset"};
constexpr std::array<std::string_view, 3> layout_names{"contiguous", "heads_first", "packed"};
constexpr std::array<std::string_view, 2> device_names{"cpu", "cuda"};

}  // namespace

const Names dtypes = dtype_names;
const Names pairings = pairing_names;
const Names directions = direction_names;
const Names sources = source_names;
const Names scalings = scaling_kinds;
const Names features = feature_names;
const Names layouts = layout_names;
const Names axis_orders = axis_order_words;
const Names devices = device_names;

void append_enumerator(fmt::memory_buffer& out, Names names, std::int32_t value) {
  if (value >= 0 && static_cast<std::size_t>(value) < names.size()) {
    fmt::format_to(std::back_inserter(out), "\"{}\"", names[static_cast<std::size_t>(value)]);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

std::int32_t enumerator(const nlohmann::json& value, Names names) {
  if (value.is_number_integer()) return whole<std::int32_t>(value, "value");
  if (value.is_string()) {
    const auto found = std::ranges::find(names, value.get_ref<const std::string&>());
    if (found != names.end()) return static_cast<std::int32_t>(found - names.begin());
  }
  throw std::invalid_argument(fmt::format("{} is none of {}", value.dump(), listed(names)));
}

std::int64_t whole(const nlohmann::json& value, std::string_view key, std::int64_t least, std::int64_t most) {
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::max<std::int64_t>(most, 0))
                        : value.is_number_integer() && value.get<std::int64_t>() <= most;
  if (fits && value.get<std::int64_t>() >= least) return value.get<std::int64_t>();
  throw std::invalid_argument(
      fmt::format("{}: {} is not a whole number from {} to {}", key, value.dump().substr(0, 64), least, most));
}

void append_double(fmt::memory_buffer& out, double value) {
  if (!std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "\"{}\"", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  } else if (value == 0 && std::signbit(value)) {
    out.append(std::string_view("-0.0"));  // "-0" reads back as the integer 0
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

double to_double(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::invalid_argument(fmt::format("{} is not a number", value.dump()));
}

nlohmann::json names_of(std::uint32_t mask, Names names) {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((mask & (1u << i)) != 0) list.push_back(names[i]);
  }
  return list;
}

std::uint32_t mask_of(const nlohmann::json& list, Names names) {
  std::uint32_t mask = 0;
  for (const auto& item : list) {
    const std::int32_t value = enumerator(item, names);
    if (value < 0 || value > 31) throw std::invalid_argument(fmt::format("{} is not a bit of a mask", value));
    mask |= 1u << value;
  }
  return mask;
}

std::string printable(std::string_view text, std::size_t limit) {
  if (text.size() > limit) text.remove_prefix(text.size() - limit);
  std::string result(text);
  for (char& c : result) {
    if ((c < ' ' || c > '~') && c != '\n' && c != '\t') c = '?';
  }
  while (!result.empty() && (result.back() == '\n' || result.back() == ' ')) result.pop_back();
  return result;
}

std::string shown_name(std::string_view name) {
  if (name.empty()) throw std::invalid_argument("it is empty");
  if (name.size() > longest_name) {
    throw std::invalid_argument(fmt::format("it has more than {} bytes", longest_name));
  }
  try {
    static_cast<void>(nlohmann::json(name).dump());
  } catch (const nlohmann::json::exception&) {
    throw std::invalid_argument("it is not UTF-8");
  }
  return escaped(name);
}

}  // namespace rope::wire
