#include "tools/judge/case/combinations.hpp"

#include "tools/judge/case/fields.hpp"

namespace rope {
namespace {

const std::vector<Trait>& traits() {
  static const std::vector<Trait> all = [] {
    std::vector<Trait> gathered;
    for (const Field& field : fields()) gathered.insert(gathered.end(), field.traits.begin(), field.traits.end());
    return gathered;
  }();
  return all;
}

// The number of kinds of all traits.
std::size_t all_kinds() {
  std::size_t sum = 0;
  for (const Trait& trait : traits()) sum += trait.kinds;
  return sum;
}

// The case's kind, one number for each trait.
std::vector<std::size_t> kinds_of(const Case& c) {
  std::vector<std::size_t> result;
  std::size_t first = 0;
  for (const Trait& trait : traits()) {
    result.push_back(first + trait.kind_of(c));
    first += trait.kinds;
  }
  return result;
}

}  // namespace

Combinations::Combinations(int strength)
    : strength_(strength), kinds_(all_kinds()), seen_(strength < 3 ? kinds_ * kinds_ : kinds_ * kinds_ * kinds_) {}

template <class Visit>
void Combinations::for_each(const Case& c, Visit visit) const {
  const std::vector<std::size_t> of = kinds_of(c);
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (strength_ < 3) visit(of[i] * kinds_ + of[j]);
      for (std::size_t k = 0; strength_ >= 3 && k < j; ++k) visit((of[i] * kinds_ + of[j]) * kinds_ + of[k]);
    }
  }
}

std::size_t Combinations::fresh(const Case& c) const {
  std::size_t count = 0;
  for_each(c, [&](std::size_t at) { count += seen_[at] == 0 ? 1 : 0; });
  return count;
}

void Combinations::add(const Case& c) {
  for_each(c, [&](std::size_t at) { seen_[at] = 1; });
}

}  // namespace rope
