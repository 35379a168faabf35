// What every engine is given: shards that are missing, and the merge that follows them. An engine is a system that
// starts processes on other machines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace rope::engines {

using Words = std::vector<std::string>;

struct Work {
  Words run;                             // a shard's command, without --shard
  Words merge;                           // the merge's command
  std::vector<std::int64_t> shards;      // the missing ones, ascending, from 1
  std::int64_t of = 1;                   // how many shards there are
  std::filesystem::path working_folder;  // a relative subject is relative to it
  std::filesystem::path folder;          // for scripts and what the jobs print
};

// A file that the engine runs.
struct Script {
  std::filesystem::path path;
  std::string text;
};

// The engine is missing, or it did not take a job.
class NotSubmitted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rope::engines
