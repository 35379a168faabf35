#include "reference/scaling/rules.hpp"

#include <type_traits>

#include "reference/input_error.hpp"

namespace rope {
namespace {

// A rule's field that holds one value a pair.
template <class Field>
constexpr bool is_list = std::is_class_v<std::remove_const_t<Field>>;

}  // namespace

Scaling rule_of_kind(std::int64_t number) {
  std::int64_t place = 0;
  Scaling found;
  for_each_rule([&](auto rule) {
    if (place++ == number) found = rule;
  });
  if (number < 0 || number >= place) throw InputError("scaling.kind is none of rope_scaling_kind");
  return found;
}

bool follows_length(const Scaling& rule) {
  return std::visit([](const auto& r) { return r.follows_length; }, rule);
}

double original_length(const Scaling& rule) {
  return std::visit(
      [](const auto& r) {
        if constexpr (requires { r.original_max_position_embeddings; }) {
          return r.original_max_position_embeddings;
        } else {
          return 0.0;
        }
      },
      rule);
}

std::vector<ListPerPair> lists_of(const Scaling& rule) {
  std::vector<ListPerPair> lists;
  std::visit(
      [&](const auto& r) {
        r.fields(r, [&]<class Field>(std::string_view key, Field& value, scaling::Presence, scaling::Range) {
          if constexpr (is_list<Field>) lists.emplace_back(key, &value);
        });
      },
      rule);
  return lists;
}

Scaling for_pairs(Scaling rule, int pairs) {
  std::visit(
      [&](auto& r) {
        r.fields(r, [&]<class Field>(std::string_view, Field& value, scaling::Presence, scaling::Range) {
          if constexpr (is_list<Field>) value.resize(static_cast<std::size_t>(pairs), 1.0);
        });
      },
      rule);
  return rule;
}

bool goes_with(const Scaling& rule, const scaling::Setting& setting) {
  try {
    std::visit([&](const auto& r) { r.check(setting); }, rule);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<scaling::Example<Scaling>> example_rules(const scaling::Setting& setting, double length) {
  std::vector<scaling::Example<Scaling>> all;
  for_each_rule([&](const auto& kind) {
    for (const auto& [rule, base] : kind.examples(setting.rotary_dim / 2, length)) {
      if (goes_with(rule, setting)) all.push_back({rule, base});
    }
  });
  return all;
}

std::vector<Scaling> fourfold_rules(const scaling::Setting& setting, double length) {
  std::vector<Scaling> all;
  for_each_rule([&](const auto& kind) {
    if constexpr (requires { kind.fourfold(2, length); }) {
      const Scaling rule = kind.fourfold(setting.rotary_dim / 2, length);
      if (goes_with(rule, setting)) all.push_back(rule);
    }
  });
  return all;
}

std::vector<Scaling> with_other_choices(const Scaling& rule) {
  std::vector<Scaling> all;
  const auto add = [&](const auto& changed, std::string_view field, const auto& value) {
    auto other = changed;
    other.fields(other, [&](std::string_view name, auto& now, auto&&...) {
      if constexpr (std::is_same_v<std::decay_t<decltype(now)>, std::decay_t<decltype(value)>>) {
        if (name == field) now = value;
      }
    });
    all.push_back(other);
  };
  std::visit(
      [&](const auto& r) {
        r.fields(r, [&](std::string_view name, const auto& now, auto&&...) {
          using Value = std::decay_t<decltype(now)>;
          if constexpr (std::is_same_v<Value, bool>) add(r, name, !now);
          if constexpr (std::is_enum_v<Value>) {
            for (const auto& [word, value] : words(now)) {
              if (value != now) add(r, name, value);
            }
          }
        });
      },
      rule);
  return all;
}

std::string rule_words(const Scaling& rule, double base) {
  return std::visit([&](const auto& r) { return r.words(base); }, rule);
}

}  // namespace rope
