// What `ropecheck vectors export` writes: the calls of every case that files can carry.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "golden/manifest.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/call/stop.hpp"
#include "tools/vectors/manifest.hpp"

namespace rope::vectors {

// Everything that the contract can express and a file can show. Strides, calls in place, refusals and concurrent calls
// leave no trace in a file.
Claims claims_of_files();

// Removes the claims that no file can show.
Claims without_memory(Claims claims);

// Removes what the selection leaves out: other pairings, other types of q and k, and with a spec other head_dims. Some
// requirements look at state between calls, and would ask for such a call in between.
Claims narrowed(Claims claims, const Selection& selection);

struct ExportOptions {
  Selection selection;
  Claims claims;
  const Manifest* golden = nullptr;  // null: no golden cases
  bool expected = false;             // write the exact values and their bounds too
  std::size_t most_bytes = 0;        // a case is left out if one call's arrays have more bytes; 0: none is
  std::string version;               // of ropecheck
  std::function<void(const std::string& requirement, std::size_t done, std::size_t all)> progress;
  const Stop* stop = nullptr;
};

struct Exported {
  std::int64_t cases = 0;
  std::int64_t calls = 0;
  std::int64_t files = 0;
  std::uintmax_t bytes = 0;
  std::vector<LeftOut> left_out;
  bool interrupted = false;  // then there is no folder
};

// Makes the folder under another name and renames it when it is complete. Throws InputError if it exists and holds
// something, or cannot be made.
Exported export_vectors(const std::filesystem::path& folder, Oracles& oracles, const ExportOptions& options);

}  // namespace rope::vectors
