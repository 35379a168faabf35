#include "tools/judge/call/sparse_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "tools/judge/call/row_placement.hpp"

namespace rope {
namespace {

[[noreturn]] void fail(const char* what) {
  throw NoRoom(std::string(what) + " of a table: " + std::strerror(errno) + "; if `ulimit -v` is set, lift it");
}

}  // namespace

// What is only read is not charged as memory, whatever the system's policy of overcommitment.
SharedBytes sparse_bytes(std::size_t size, std::size_t absent) {
  void* const base = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) fail("no address space for the rows");
  std::shared_ptr<std::byte[]> memory(static_cast<std::byte*>(base), [size](std::byte* begin) { munmap(begin, size); });
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin = absent / page * page;
  if (mprotect(memory.get() + begin, size - begin, PROT_READ | PROT_WRITE) != 0) fail("no memory for the rows");
  return {std::move(memory), size};
}

}  // namespace rope
