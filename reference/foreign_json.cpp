#include "reference/foreign_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace rope {
namespace {

// What the message of an error begins with.
std::string place(std::string_view where) { return where.empty() ? "" : fmt::format("{}: ", where); }

void check_length(std::string_view text, std::string_view where) {
  if (text.size() <= longest_json) return;
  throw InputError(
      fmt::format("{}byte {}: the text goes on; allowed are {} bytes", place(where), longest_json, longest_json));
}

// Before the parser, which would build what is refused here. What is not JSON may count wrongly, but never too low
// before the place at which the parser stops.
void check_depth(std::string_view text, std::string_view where) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest_json) {
        throw InputError(
            fmt::format("{}byte {}: nested {} deep; allowed are {} levels", place(where), i, depth, deepest_json));
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

// A reader that takes the first of two equal keys and one that takes the last would read different values.
template <class Value>
class Keys {
 public:
  explicit Keys(std::string_view where) : where_(where) {}

  bool operator()(int depth, typename Value::parse_event_t event, const Value& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (event == Value::parse_event_t::object_start) {
      if (seen_.size() <= level + 1) seen_.resize(level + 2);
      seen_[level + 1].clear();
    } else if (event == Value::parse_event_t::key) {
      const auto& key = parsed.template get_ref<const std::string&>();
      if (!seen_[level].insert(key).second) {
        throw InputError(fmt::format("{}the key {} is twice in one object; allowed is once", place(where_),
                                     parsed.dump(-1, ' ', true, Value::error_handler_t::replace)));
      }
    }
    return true;
  }

 private:
  std::string_view where_;
  std::vector<std::set<std::string>> seen_;  // by depth
};

template <class Value>
Value parsed(std::string_view text, std::string_view where) {
  check_length(text, where);
  check_depth(text, where);
  try {
    Keys<Value> keys(where);
    return Value::parse(text, std::ref(keys));
  } catch (const typename Value::parse_error& error) {
    throw NotJson(fmt::format("{}byte {}: not JSON: {}", place(where), error.byte - 1, error.what()));
  } catch (const typename Value::exception& error) {  // a number that no double holds
    throw NotJson(fmt::format("{}not JSON that can be read: {}", place(where), error.what()));
  }
}

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, std::string_view where) {
  return parsed<nlohmann::ordered_json>(text, where);
}

nlohmann::json parse_json_line(std::string_view text) { return parsed<nlohmann::json>(text, ""); }

bool is_json(std::string_view text) { return nlohmann::json::accept(text); }

}  // namespace rope
