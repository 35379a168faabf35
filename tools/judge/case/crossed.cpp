#include "tools/judge/case/crossed.hpp"

#include "tools/judge/case/fields.hpp"

namespace rope {

Case crossed(rc::Random& random, const Case& one, const Case& other, int eighths) {
  Draw draw(random);
  Case c = one;
  for (const Field& field : fields()) {
    if (draw.below(8) < eighths) field.text.copy(c, other);
  }
  return c;
}

}  // namespace rope
