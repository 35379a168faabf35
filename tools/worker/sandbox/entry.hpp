// What ropecheck and its program ropecheck_sandbox both know. That program restricts itself as its first argument says,
// and then becomes the worker.
#pragma once

#include <cstdint>

namespace rope::sandbox {

enum class Namespaces : std::int32_t {
  none = 0,
  processes = 1,           // a PID namespace, which only the superuser can make
  users_and_processes = 2  // for everybody, where the system allows it
};

// The first argument. -1: no such file.
inline constexpr const char* entry_format =
    "namespaces=%d told=%d life=%d ruleset=%d filter=%d refusals=%d writable=%d";

struct EntryOptions {
  std::int32_t namespaces = 0;
  std::int32_t told = -1;     // the pipe for what Told says; it ends when the worker's program has started
  std::int32_t life = -1;     // PROTOCOL.md
  std::int32_t ruleset = -1;  // of Landlock
  std::int32_t filter = -1;   // of seccomp: a file of sock_filter
  std::int32_t refusals = -1;  // memory of Refusals, for the namespace's first process
  // Paths of the folders and files that can be changed, each with a zero behind it; all others are mounted read-only.
  std::int32_t writable = -1;
};

// System calls that the filter refused.
struct Refusals {
  std::int32_t count;
  std::int32_t last;  // its number
};

enum class Told : std::int32_t {
  init,    // its process number, as ropecheck sees it
  worker,  // likewise
  // What failed, with the error number.
  namespaces_failed,
  mounts_failed,
  privileges_failed,
  files_failed,
  calls_failed,
  program_failed
};

struct Message {
  Told what;
  std::int32_t number;
};

// What a filter returns for a call that it refuses: the call fails with EPERM. If there are Refusals, ropecheck_sandbox
// puts in its place that the namespace's first process is told, which then refuses the call.
inline constexpr std::uint32_t refusing = 0x00050000 /* SECCOMP_RET_ERRNO */ | 1 /* EPERM */;

// In a filter: the worker's own process number, which ropecheck_sandbox fills in.
inline constexpr std::uint32_t own_process = 0xfffe0001;

}  // namespace rope::sandbox
