// An edit of the table of bugs as a change of the model.
#pragma once

#include "tools/bugs/edit.hpp"
#include "tools/diagnose/model.hpp"

namespace rope::diagnosis {

Change change_by(const bugs::Edit& edit);

}  // namespace rope::diagnosis
