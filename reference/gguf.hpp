// The metadata of a GGUF file, versions 2 and 3, as llama.cpp's tools write it. No tensor is read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace rope {

bool is_gguf(std::string_view content);

// The values by key; null for a list that is long, or not of numbers. `tensors` gets the names that tell of rope.
// `content`: the file's first bytes; at most longest_json count. Throws InputError with the byte at which the file is
// wrong: "a.gguf: byte 24: the file ends within the length of key 0".
nlohmann::ordered_json read_gguf(std::string_view content, std::string_view where, std::vector<std::string>& tensors);

}  // namespace rope
