#include "tools/certify/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "reference/foreign_json.hpp"

namespace rope::certify {
namespace {

constexpr std::string_view header_mark = "ropecheck certify ";
constexpr std::size_t check_length = 16;
constexpr std::chrono::seconds between_syncs{1};

std::string mark_of(const Identity& identity) { return sha256_of(to_json(identity).dump()); }

std::string check_of(const std::string& mark, std::string_view text) {
  return sha256_of(mark + std::string(text)).substr(0, check_length);
}

}  // namespace

Journal::Journal(const std::filesystem::path& path, const Identity& identity)
    : path_(path), mark_(mark_of(identity)), synced_(std::chrono::steady_clock::now()) {
  file_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) throw InputError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  // The line before may be torn; an empty line does no harm.
  put(fmt::format("\n{}{}\n", header_mark, to_json(identity).dump()));
  sync();
}

Journal::~Journal() {
  fdatasync(file_);
  close(file_);
}

void Journal::put(const std::string& line) {
  if (write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  throw InputError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
}

void Journal::sync() {
  fdatasync(file_);
  synced_ = std::chrono::steady_clock::now();
}

void Journal::add(const BlockResult& result) {
  const std::string text = to_json(result).dump();
  put(fmt::format("{} {}\n", check_of(mark_, text), text));
  if (std::chrono::steady_clock::now() - synced_ > between_syncs) sync();
}

void add_result(Results& results, BlockResult result) {
  const auto [at, added] = results.try_emplace(result.block, result);
  if (added || to_json(at->second) == to_json(result)) return;
  throw InputError(fmt::format(
      "block {} has two unlike results: the kernel does not give the same results each time; see `ropecheck verify "
      "--only DET`, or delete the folder of shards and start again",
      result.block));
}

void read_journal(const std::filesystem::path& path, const Identity& identity, Results& results) {
  std::ifstream file(path, std::ios::binary);
  const std::string mark = mark_of(identity);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(header_mark)) {
      try {
        const Identity found =
            identity_from_json(parse_json(line.substr(header_mark.size()), path.string()), path.string());
        if (const std::string why = difference(found, identity); !why.empty()) {
          throw InputError(fmt::format("{}: is of another run: {}; give another folder, or delete this one",
                                       path.string(), why));
        }
      } catch (const NotJson&) {
        continue;  // torn
      }
      continue;
    }
    if (line.size() <= check_length + 1) continue;
    const std::string_view text = std::string_view(line).substr(check_length + 1);
    if (line.compare(0, check_length, check_of(mark, text)) != 0) continue;
    add_result(results, block_result_from_json(parse_json(text, path.string()), path.string()));
  }
}

}  // namespace rope::certify
