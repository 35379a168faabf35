// The reader of cases, as `replay` takes them, on arbitrary text. A case that was read is written and read again as the
// same text.
#include <string>

#include "tests/fuzz/fuzz.hpp"
#include "tools/judge/case/case.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rope::fuzz::refused_or_read([&] {
    const std::string written = rope::to_text(rope::case_from_text(rope::fuzz::text_of(data, size)));
    std::string again;
    try {
      again = rope::to_text(rope::case_from_text(written));
    } catch (const rope::InputError& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    rope::fuzz::expect(again == written, "a case that was written reads otherwise");
  });
  return 0;
}
