// Exceptions of kernels whose C++ library is not ours: one of libstdc++ in a host that has libc++ in it, or the reverse.
// `catch (const std::exception&)` does not see them; `catch (...)` does.
#pragma once

#include <optional>
#include <string>

namespace rope::worker {

struct ForeignException {
  std::string type;     // demangled
  std::string message;  // of what(), if its class has one base at most and derives from std::exception; else empty
};

// The exception that the innermost catch (...) holds; nullopt if our own C++ library threw it, or nothing in C++ did.
// Reads what the Itanium C++ ABI, 2.2.1 and 2.9, lays down for 64-bit machines.
std::optional<ForeignException> foreign_exception();

}  // namespace rope::worker
