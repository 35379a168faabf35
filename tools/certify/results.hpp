// The results of a folder: plan.json, and shards/ with a file for each finished shard and a journal for each begun one.
#pragma once

#include <filesystem>
#include <optional>

#include "tools/certify/journal.hpp"

namespace rope::certify {

struct Shard {
  std::int64_t index = 1;  // 1 .. of
  std::int64_t of = 1;

  // Every of-th block, so that all shards hold alike shares of every sweep.
  bool has(std::int64_t block) const { return block % of == index - 1; }
};

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path plan() const { return path_ / "plan.json"; }
  std::filesystem::path certificate() const { return path_ / "certificate.json"; }
  std::filesystem::path page() const { return path_ / "certificate.html"; }
  std::filesystem::path times() const { return path_ / "times.jsonl"; }
  std::filesystem::path shards() const { return path_ / "shards"; }
  std::filesystem::path shard_file(const Shard& shard) const;
  std::filesystem::path journal(const Shard& shard) const;

 private:
  std::filesystem::path path_;
};

// Writes the plan into the folder, which is made. A folder that holds the same plan is left as it is. Throws InputError
// if it holds another one, with what differs.
void store_plan(const Folder& folder, const Plan& plan);
Plan stored_plan(const Folder& folder);  // throws InputError

// All results in the folder, whatever number of shards made them. Throws InputError for a changed file, and for one of
// another identity.
Results stored_results(const Folder& folder, const Identity& identity);

// The identity in any of the files; nullopt if there is none.
std::optional<Identity> stored_identity(const Folder& folder);

// The shards of `of` that have a block without a result in a finished shard's file, whatever number of shards made it.
// Jobs may run on machines of another kind, so the instruction set may be any. Throws InputError for a changed file,
// and for one of another identity.
std::vector<Shard> missing_shards(const Folder& folder, const Plan& plan, Identity identity, std::int64_t of);

void store_shard(const Folder& folder, const Shard& shard, const Identity& identity, const Results& results);

// Writes to a temporary name, syncs, renames, syncs the folder. Processes of any machine may write the same file. What
// killed processes of this machine left of it goes.
void write_synced(const std::filesystem::path& path, std::string_view text);

// The text of a JSON object with its digest as the last field, and back. Throws InputError if they do not match.
std::string with_digest(Json json);
Json checked_digest(const std::filesystem::path& path);

}  // namespace rope::certify
