// The reader of a model's config.json, params.json or GGUF file on arbitrary bytes. Either it has at least one rope,
// each with a valid spec, or an InputError says what is wrong.
#include "reference/model_config.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rope::fuzz::refused_or_read([&] {
    // Accepted guesses let more of the file be read.
    const rope::ModelConfig config =
        rope::read_model_config(rope::fuzz::text_of(data, size), "input", {.accepts_guesses = true});
    rope::fuzz::expect(!config.ropes.empty(), "a model without rope was read");
    for (const rope::ModelRope& one : config.ropes) rope::validate(one.spec);
  });
  return 0;
}
