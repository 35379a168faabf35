#include "tools/certify/results.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "reference/foreign_json.hpp"
#include "reference/spec_json.hpp"
#include "tools/report/leftovers.hpp"
#include "tools/report/read_file.hpp"

namespace rope::certify {
namespace {

namespace fs = std::filesystem;

std::string name_of(const Shard& shard, const char* ending) {
  return fmt::format("{}-of-{}.{}", shard.index, shard.of, ending);
}

std::vector<fs::path> files_ending(const Folder& folder, std::string_view ending) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.shards(), ignored)) {
    if (entry.path().extension() == ending) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

[[noreturn]] void fail(const fs::path& path) {
  throw InputError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
}

void sync(const fs::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) fail(path);
  fsync(file);
  close(file);
}

const Json& field(const Json& json, const char* name, const fs::path& path) {
  const auto found = json.find(name);
  if (found == json.end()) throw InputError(fmt::format("{}: {} is missing", path.string(), name));
  return *found;
}

Identity identity_in(const Json& json, const fs::path& path) {
  return identity_from_json(field(json, "identity", path), path.string() + ".identity");
}

void read_shard(const fs::path& path, const Identity& identity, Results& results) {
  const Json json = checked_digest(path);
  if (const std::string why = difference(identity_in(json, path), identity); !why.empty()) {
    throw InputError(
        fmt::format("{}: is of another run: {}; give another folder, or delete this one", path.string(), why));
  }
  for (const Json& block : field(json, "blocks", path)) {
    add_result(results, block_result_from_json(block, path.string()));
  }
}

}  // namespace

fs::path Folder::shard_file(const Shard& shard) const { return shards() / name_of(shard, "json"); }
fs::path Folder::journal(const Shard& shard) const { return shards() / name_of(shard, "journal"); }

void write_synced(const fs::path& path, std::string_view text) {
  const std::string temporary = temporary_for(path, Writers::other_machines);
  std::ofstream file;
  const InUse mine(temporary, [&] {
    file = std::ofstream(temporary, std::ios::binary);
    return file.good();
  });
  file << text;
  file.close();
  if (!file) fail(path);
  sync(temporary, O_RDWR);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path);
  sync(path.parent_path().empty() ? fs::path(".") : path.parent_path(), O_RDONLY | O_DIRECTORY);
  remove_leftovers(path.parent_path());
}

std::string with_digest(Json json) {
  json.erase("digest");
  json["digest"] = sha256_of(json.dump());
  return json.dump(1) + "\n";
}

Json checked_digest(const fs::path& path) {
  const std::string text = read_file(path.string(), path.string());
  Json json = parse_json(text, path.string());
  if (!json.is_object()) throw InputError(fmt::format("{}: expected an object", path.string()));
  const Json found = field(json, "digest", path);
  // The text, too: numbers have more than one spelling.
  if (with_digest(json) != text) {
    Json content = json;
    content.erase("digest");
    throw InputError(fmt::format("{}: was changed after it was written: its digest is {}, its content has {}",
                                 path.string(), found.dump(), sha256_of(content.dump())));
  }
  json.erase("digest");
  return json;
}

void store_plan(const Folder& folder, const Plan& plan) {
  std::error_code error;
  fs::create_directories(folder.shards(), error);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", folder.shards().string(), error.message()));
  if (!fs::exists(folder.plan())) {
    write_synced(folder.plan(), to_json(plan).dump(1) + "\n");
    return;
  }
  if (const std::string why = difference(stored_plan(folder), plan); !why.empty()) {
    throw InputError(fmt::format("{}: is of another plan: {}; give another folder, or delete this one",
                                 folder.plan().string(), why));
  }
}

Plan stored_plan(const Folder& folder) {
  const std::string path = folder.plan().string();
  if (!fs::exists(folder.plan())) {
    throw InputError(fmt::format("{}: is missing; write it with `ropecheck certify plan`", path));
  }
  return plan_from_json(parse_json(read_file(path, path), path), path);
}

Results stored_results(const Folder& folder, const Identity& identity) {
  Results results;
  for (const fs::path& path : files_ending(folder, ".json")) read_shard(path, identity, results);
  for (const fs::path& path : files_ending(folder, ".journal")) read_journal(path, identity, results);
  return results;
}

std::optional<Identity> stored_identity(const Folder& folder) {
  for (const fs::path& path : files_ending(folder, ".json")) return identity_in(checked_digest(path), path);
  return std::nullopt;
}

std::vector<Shard> missing_shards(const Folder& folder, const Plan& plan, Identity identity, std::int64_t of) {
  if (const std::optional<Identity> stored = stored_identity(folder)) {
    identity.instruction_set = stored->instruction_set;
  }
  Results finished;
  for (const fs::path& path : files_ending(folder, ".json")) read_shard(path, identity, finished);
  std::vector<Shard> missing;
  for (Shard shard{1, of}; shard.index <= of; ++shard.index) {
    for (std::int64_t block = shard.index - 1; block < plan.blocks(); block += of) {
      if (finished.contains(block)) continue;
      missing.push_back(shard);
      break;
    }
  }
  return missing;
}

void store_shard(const Folder& folder, const Shard& shard, const Identity& identity, const Results& results) {
  Json json{{"schema", 1}, {"identity", to_json(identity)}, {"shard", {shard.index, shard.of}}};
  json["blocks"] = Json::array();
  for (const auto& [block, result] : results) {
    if (shard.has(block)) json["blocks"].push_back(to_json(result));
  }
  write_synced(folder.shard_file(shard), with_digest(std::move(json)));
  std::error_code ignored;
  fs::remove(folder.journal(shard), ignored);
}

}  // namespace rope::certify
