// One shard of a plan, from beginning to end.
#pragma once

#include "tools/certify/results.hpp"
#include "tools/judge/call/stop.hpp"
#include "tools/judge/run/subject.hpp"

namespace rope::certify {

struct ShardRun {
  std::int64_t blocks = 0;    // of the shard
  std::int64_t computed = 0;  // by this run; the others were there
  double kernel_seconds = 0;  // in the kernel
};

// Computes what is missing of the shard, and writes its file. Throws InputError for results of another identity in the
// folder, Interrupted if a stop is requested: then the journal holds what was done.
ShardRun run_shard(const Folder& folder, const Plan& plan, const Identity& identity, const Shard& shard,
                   Subject& subject, const Stop* stop);

}  // namespace rope::certify
