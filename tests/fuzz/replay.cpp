// Replays the corpus without libFuzzer, so with every compiler and in every test run. Each file runs whole, cut off at
// each byte, and with each bit of its first bytes flipped.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
    return 2;
  }
  std::size_t files = 0;
  std::size_t inputs = 0;
  const auto run = [&](const std::vector<std::uint8_t>& input) {
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++inputs;
  };
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::vector<std::uint8_t> content{std::istreambuf_iterator<char>(stream), {}};
    ++files;
    run(content);
    for (std::size_t size = 0; size < content.size(); ++size) {
      run({content.begin(), content.begin() + static_cast<std::ptrdiff_t>(size)});
    }
    for (std::size_t bit = 0; bit < 8 * std::min<std::size_t>(content.size(), 128); ++bit) {
      std::vector<std::uint8_t> changed = content;
      changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1u << (bit % 8)));
      run(changed);
    }
  }
  std::printf("%zu files, %zu inputs\n", files, inputs);
  return files == 0 ? 1 : 0;
}
