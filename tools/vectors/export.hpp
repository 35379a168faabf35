// What `ropecheck vectors export` writes: the calls of every case that files can carry.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "golden/manifest.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/vectors/manifest.hpp"

namespace rope::vectors {

// Everything that the contract can express and a file can show. Strides, calls in place, refusals and two calls at once
// leave no trace in a file.
Claims claims_of_files();

// Takes out of claims what no file can show.
Claims without_memory(Claims claims);

struct ExportOptions {
  Selection selection;
  Claims claims;
  const Manifest* golden = nullptr;  // null: no golden cases
  bool expected = false;             // write the exact values and their bounds too
  std::size_t most_bytes = 0;        // a case that has a call with more bytes of arrays is left out; 0: none is
  std::string version;               // of ropecheck
  std::function<void(const std::string& requirement, std::size_t done, std::size_t all)> progress;
  const std::atomic<bool>* stop = nullptr;  // set from a signal handler
};

struct Exported {
  std::int64_t cases = 0;
  std::int64_t calls = 0;
  std::int64_t files = 0;
  std::uintmax_t bytes = 0;
  std::vector<LeftOut> left_out;
  bool interrupted = false;  // then there is no folder
};

// The folder is made under another name and renamed when it is complete. Throws InputError where it exists and holds
// something, or cannot be made.
Exported export_vectors(const std::filesystem::path& folder, Oracles& oracles, const ExportOptions& options);

}  // namespace rope::vectors
