// The journal of a shard: each finished block is one line, appended with one write. So a process can be killed at any
// moment, and two processes may write the same journal.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "tools/certify/block_result.hpp"
#include "tools/certify/identity.hpp"

namespace rope::certify {

// Results by block.
using Results = std::map<std::int64_t, BlockResult>;

class Journal {
 public:
  Journal(const std::filesystem::path& path, const Identity& identity);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // Throws InputError if it cannot be written. What is written survives the end of this process at once, and the end
  // of the machine after a second.
  void add(const BlockResult& result);

 private:
  void put(const std::string& line);
  void sync();

  std::filesystem::path path_;
  std::string mark_;  // of the identity; part of each line's check
  int file_ = -1;
  std::chrono::steady_clock::time_point synced_;
};

// Adds what the journal holds. Torn lines are passed over. Throws InputError if it is of another identity, with what
// differs.
void read_journal(const std::filesystem::path& path, const Identity& identity, Results& results);

// Adds a result. Throws InputError if there is another one of the same block already: then the kernel does not give the
// same results each time.
void add_result(Results& results, BlockResult result);

}  // namespace rope::certify
