// The table of the fields of Case: all that is known of a field but its meaning, which build_call() gives it. Text,
// random cases, combinations and shrinking go through it, so a new field needs its row and no more.
#pragma once

#include <span>
#include <vector>

#include "tools/judge/case/draw.hpp"
#include "tools/judge/case/field_text.hpp"
#include "tools/judge/case/simplification.hpp"
#include "tools/judge/case/trait.hpp"

namespace rope {

struct Field {
  FieldText text;
  std::vector<Trait> traits{};            // what of it is worth combining with the rest of a case
  std::vector<Simplification> simpler{};  // what is simpler than what it holds
  // How random cases get it. Null: it keeps its default, or is drawn with others in random_case.cpp.
  void (*draw)(Draw&, Case&) = nullptr;
};

// In the order of the text of a case. The default of a field is that of Case.
std::span<const Field> fields();

}  // namespace rope
