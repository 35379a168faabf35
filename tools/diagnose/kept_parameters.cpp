#include "tools/diagnose/kept_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <type_traits>
#include <vector>

#include "tools/diagnose/evidence.hpp"
#include "tools/diagnose/simulation.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::diagnosis {
namespace {

// The case with another value of one parameter, and nothing else changed.
struct Other {
  std::string parameter;
  bool is_plural = false;
  Case c;
};

// How far the other value of a number is.
enum class Step { of_size, behind_the_point };

double changed(double value, Step how) {
  constexpr double size = 1.375;  // exact in binary, and no power of anything usual
  return how == Step::of_size && value != 0 ? value * size : value + 0.25;
}

void change(double& value, Step how) { value = changed(value, how); }
void change(std::vector<double>& values, Step how) {
  for (double& value : values) value = changed(value, how);
}
void change(bool& value, Step) { value = !value; }
template <class Choice>
requires std::is_enum_v<Choice>
void change(Choice& value, Step) {
  const auto choices = words(value);
  value = choices[0].second == value ? choices[1].second : choices[0].second;
}

// One for each field of the case's scaling rule.
std::vector<Other> with_other_fields(const Case& c, Step how) {
  std::vector<Other> all;
  std::visit(
      [&](const auto& rule) {
        using Rule = std::decay_t<decltype(rule)>;
        std::size_t count = 0;
        Rule::fields(rule, [&](auto&&...) { ++count; });
        for (std::size_t wanted = 0; wanted < count; ++wanted) {
          all.push_back({"", false, c});
          std::size_t at = 0;
          Rule::fields(std::get<Rule>(all.back().c.spec.scaling), [&](std::string_view field, auto& value, auto&&...) {
            if (at++ != wanted) return;
            change(value, how);
            all.back().parameter = field;
          });
        }
      },
      c.spec.scaling);
  return all;
}

std::vector<Other> others_of(const Case& c, Step how) {
  std::vector<Other> all;
  const auto add = [&](std::string parameter, bool is_plural, const std::function<void(Case&)>& edit) {
    Case other = c;
    edit(other);
    all.push_back({std::move(parameter), is_plural, std::move(other)});
  };
  const auto other_base = [&](Case& other) { change(other.spec.base, how); };
  switch (c.source) {
    case AngleSource::tables: add("values of the tables", true, other_base); break;
    case AngleSource::frequencies: add("values of theta", true, other_base); break;
    case AngleSource::computed:
      add("base", false, other_base);
      std::ranges::move(with_other_fields(c, how), std::back_inserter(all));
  }
  add("attention factor", false,
      [&](Case& other) { other.spec.attention_factor = changed(other.spec.attention_factor.value_or(1), how); });
  if (how == Step::behind_the_point) return all;
  add("rotary_dim", false, [](Case& other) { other.spec.rotary_dim /= 2; });
  add("positions", true, [](Case& other) { other.start += 1; });
  return all;
}

bool can_be_asked(const Case& c, const Claims& claims) {
  try {
    validate(c.spec);
  } catch (const InputError&) {
    return false;
  }
  return uncovered(c, claims).empty();
}

// With tokens at positions where every parameter shows, and below the sizes that kept tables begin with.
Case showing(const Case& given, const Claims& claims) {
  Case c = given;
  c.before.clear();
  c.seq = std::max(c.seq, 2);
  Case further = c;
  further.start = std::max<std::int64_t>(c.start, 50);
  return can_be_asked(further, claims) ? further : c;
}

struct After {
  bool fails = false;
  bool is_as_earlier = false;  // the result is the earlier call's: its inputs are the same
};

After after(const Case& earlier, const Case& c, Examiner& examiner) {
  examiner.subject().renew();
  const std::unique_ptr<Observation> first = observe(earlier, examiner), then = observe(c, examiner);
  if (!first->answered() || first->failed() || !then->answered() || !then->failed()) return {};
  bool same = first->elements() == then->elements();
  for (std::size_t i = 0; same && i < then->elements(); ++i) same = agrees(*then, first->right, i);
  return {true, same};
}

// Whether the case holds in a new process, and again after itself: else any earlier call spoils it, whatever its
// parameters. And starting a process is quick enough to do it often.
bool holds_twice(const Case& c, Examiner& examiner) {
  constexpr std::chrono::milliseconds quick(500);
  const auto start = std::chrono::steady_clock::now();
  if (!examiner.subject().renew()) return false;
  const auto holds = [&] {
    const std::unique_ptr<Observation> seen = observe(c, examiner);
    return seen->answered() && !seen->failed();
  };
  return holds() && std::chrono::steady_clock::now() - start < quick && holds();
}

struct Found {
  std::vector<std::string> used, spoiling;  // parameters
  bool is_plural = false;                   // what is used
};

Found kept_of(const Case& c, Step how, Examiner& examiner) {
  Found found;
  for (const Other& other : others_of(c, how)) {
    if (!can_be_asked(other.c, examiner.subject().claims())) continue;
    const After result = after(other.c, c, examiner);
    std::vector<std::string>& names = result.is_as_earlier ? found.used : found.spoiling;
    if (!result.fails || std::ranges::find(names, other.parameter) != names.end()) continue;
    names.push_back(other.parameter);
    found.is_plural = found.is_plural || (result.is_as_earlier && (other.is_plural || names.size() > 1));
  }
  return found;
}

}  // namespace

std::optional<std::string> words_of_kept_parameters(const Case& given, Examiner& examiner) {
  const Claims& claims = examiner.subject().claims();
  const Case c = showing(given, claims);
  if (!can_be_asked(c, claims) || !holds_twice(c, examiner)) return std::nullopt;
  for (const Step how : {Step::of_size, Step::behind_the_point}) {
    const Found found = kept_of(c, how, examiner);
    const char* where = how == Step::of_size ? "" : ", if they differ only behind the decimal point";
    if (!found.used.empty()) {
      return fmt::format("the {} of an earlier call {} used, not this call's{}", fmt::join(found.used, " and "),
                         found.is_plural ? "are" : "is", where);
    }
    if (found.spoiling.empty()) continue;
    return fmt::format("the result depends on what an earlier call with other {} left behind{}",
                       fmt::join(found.spoiling, " or "), where);
  }
  return std::nullopt;
}

std::optional<std::string> words_of_added_rows(const Case& given, Examiner& examiner) {
  Case later = given;
  later.before.clear();
  later.seq = std::max(later.seq, 2);
  later.form = PositionForm::offset;
  later.pattern = PositionPattern::consecutive;
  later.start = 300;
  Case earlier = later;
  earlier.start = 0;
  const Claims& claims = examiner.subject().claims();
  if (!can_be_asked(later, claims) || !can_be_asked(earlier, claims) || !holds_twice(later, examiner)) {
    return std::nullopt;
  }
  if (!after(earlier, later, examiner).fails) return std::nullopt;
  examiner.subject().renew();
  observe(earlier, examiner);
  const std::unique_ptr<Observation> seen = observe(later, examiner);
  for (std::int64_t position = 0; position <= later.start + 2; ++position) {
    if (position == later.start) continue;
    Change change;
    change.position = [&](const RowContext&, int, long double own) {
      return own + static_cast<long double>(position - later.start);
    };
    if (!std::ranges::all_of(simulate(*seen, change, {}).rows, &RowCount::agrees)) continue;
    return fmt::format(
        "rows that are added to a kept table are of wrong positions: after a call at position 0, position {} gets the "
        "angles of {}",
        later.start, position);
  }
  return std::nullopt;
}

}  // namespace rope::diagnosis
