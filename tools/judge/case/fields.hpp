// The table of the fields of Case: everything about a field except its meaning, which build_call() gives it. Text,
// random cases, combinations, shrinking and the diagnosis use it, so a new field needs only its row.
#pragma once

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
  std::vector<Trait> traits{};           // its traits that are combined with the rest of a case
  std::vector<CaseChange> simpler{};     // changes to a simpler value
  std::vector<Switch> switches{};        // its words in the diagnosis, and how to switch it off
  std::vector<CaseChange> neighbours{};  // other values that the diagnosis tries
  // How random cases get it. Null: it keeps its default, or random_case.cpp draws it with others.
  void (*draw)(Draw&, Case&) = nullptr;
};

// In the order of a case's text. A field's default is the default in Case.
std::span<const Field> fields();

// What the rows have of a kind, in the order in which it is tried.
const std::vector<CaseChange>& simpler_changes();
const std::vector<Switch>& switches();
const std::vector<CaseChange>& neighbour_changes();

}  // namespace rope
