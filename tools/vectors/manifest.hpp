// manifest.json of an export: its calls, the files that they name, and the cases and requirements that they belong
// to. Schema: manifest.schema.json.
#pragma once

#include <filesystem>

#include "tools/judge/case/case_list.hpp"
#include "tools/vectors/call_record.hpp"

namespace rope::vectors {

struct CaseRecord {
  Case c;
  std::vector<CallRecord> calls;  // in the order of the check
};

// Cases that files cannot carry.
struct LeftOut {
  std::string requirement;
  std::int64_t cases = 0;
  std::string reason;
};

struct Vectors {
  std::filesystem::path folder;
  std::string version;  // of the ropecheck that made the export
  Selection selection;
  Claims claims;
  std::vector<CaseRecord> cases;
  std::vector<LeftOut> left_out;

  std::int64_t calls() const;
};

std::string to_json(const Vectors& vectors);

// Reads folder/manifest.json. Throws InputError for everything that the schema forbids, and for cases that this build
// does not know. Arrays are not read.
Vectors read_vectors(const std::filesystem::path& folder);

}  // namespace rope::vectors
