// The reader of specs on arbitrary bytes: JSON, and a scaling rule as on the command line. A spec that was read is valid,
// and is written and read again as the same spec.
#include "reference/rope_spec.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = rope::fuzz::text_of(data, size);
  rope::fuzz::refused_or_read([&] {
    const rope::RopeSpec spec = rope::spec_from_json(text, "input");
    rope::validate(spec);
    rope::fuzz::expect(rope::spec_from_json(rope::to_json(spec), "written") == spec,
                       "a spec that was written reads otherwise");
  });
  rope::fuzz::refused_or_read([&] { rope::scaling_from_flag(text); });
  return 0;
}
