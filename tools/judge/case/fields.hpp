// The table of the fields of Case: all that is known of a field but its meaning, which build_call() gives it. Text,
// random cases, combinations, shrinking and the diagnosis go through it, so a new field needs its row and no more.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tools/judge/case/case_change.hpp"
#include "tools/judge/case/draw.hpp"
#include "tools/judge/case/field_text.hpp"
#include "tools/judge/case/switch.hpp"
#include "tools/judge/case/trait.hpp"

namespace rope {

struct Field {
  FieldText text;
  std::vector<Trait> traits{};           // what of it is worth combining with the rest of a case
  std::vector<CaseChange> simpler{};     // what is simpler than what it holds
  std::vector<Switch> switches{};        // what the diagnosis calls it, and how it does without
  std::vector<CaseChange> neighbours{};  // what else it may hold: the diagnosis looks at what the kernel makes of each
  // How random cases get it. Null: it keeps its default, or is drawn with others in random_case.cpp.
  void (*draw)(Draw&, Case&) = nullptr;
};

// In the order of the text of a case. The default of a field is that of Case.
std::span<const Field> fields();

// One column of the table, in the order of its turns.
template <class Entry>
std::vector<Entry> in_turn(std::vector<Entry> Field::*column) {
  std::vector<Entry> all;
  for (const Field& field : fields()) all.insert(all.end(), (field.*column).begin(), (field.*column).end());
  std::ranges::stable_sort(all, {}, &Entry::turn);
  return all;
}

}  // namespace rope
