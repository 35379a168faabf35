#include "tools/certify/shard.hpp"

#include "tools/certify/block_check.hpp"

namespace rope::certify {

ShardRun run_shard(const Folder& folder, const Plan& plan, const Identity& identity, const Shard& shard,
                   Subject& subject, const Stop* stop) {
  Results results = stored_results(folder, identity);
  ShardRun run;
  const bool is_stored = std::filesystem::exists(folder.shard_file(shard));
  BlockCheck check(subject, plan);
  std::optional<Journal> journal;
  for (std::int64_t block = shard.index - 1; block < plan.blocks(); block += shard.of) {
    ++run.blocks;
    if (results.contains(block)) continue;
    throw_if_requested(stop);
    if (!journal) journal.emplace(folder.journal(shard), identity);
    BlockResult result = check.check(block);
    journal->add(result);
    results.emplace(block, std::move(result));
    ++run.computed;
  }
  run.kernel_seconds = check.kernel_seconds();
  if (!is_stored || run.computed > 0) store_shard(folder, shard, identity, results);
  return run;
}

}  // namespace rope::certify
