// half_split kernels that tamper with the memory that they share with ropecheck, through the files of their process.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "impls/builtin.hpp"

namespace {

constexpr int future_write = 0x0010;  // F_SEAL_FUTURE_WRITE

// The file's number; -1 if there is none.
int memory_called(const std::string& name) {
  int found = -1;
  DIR* files = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(files)) {
    char link[256] = "";
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), link, sizeof link - 1) > 0 && std::string(link).starts_with("/memfd:" + name)) {
      found = std::atoi(entry->d_name);
    }
  }
  closedir(files);
  return found;
}

int opened_again(const std::string& name) {
  return open(("/proc/self/fd/" + std::to_string(memory_called(name))).c_str(), O_RDWR | O_CLOEXEC);
}

std::int32_t right(const rope_call* call) { return rope::half_split_kernel().apply(call); }

// Larger than it was, and not by a power of two.
std::int32_t grows(const rope_call* call) {
  struct stat status {};
  const int file = memory_called("ropecheck-outputs");
  if (fstat(file, &status) != 0 || pwrite(file, "x", 1, status.st_size + (5 << 20)) != 1) return ROPE_FAILED;
  return right(call);
}

std::int32_t grows_inputs(const rope_call* call) {
  const int file = opened_again("ropecheck-inputs");
  if (file >= 0) {
    [[maybe_unused]] const int ignored = ftruncate(file, off_t{1} << 40);
    close(file);
  }
  return right(call);
}

std::int32_t seals(const rope_call* call) {
  const int inputs = opened_again("ropecheck-inputs");
  for (const int file : {memory_called("ropecheck-outputs"), inputs}) {
    for (const int seal : {F_SEAL_GROW, future_write, F_SEAL_WRITE, F_SEAL_SEAL}) fcntl(file, F_ADD_SEALS, seal);
  }
  close(inputs);
  return right(call);
}

// Fails if it can write.
std::int32_t reopens(const rope_call* call) {
  const int file = opened_again("ropecheck-inputs");
  const bool writes = pwrite(file, "x", 1, 0) == 1;
  const bool maps = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED;
  close(file);
  return writes || maps ? std::int32_t{ROPE_FAILED} : right(call);
}

rope_kernel kernel(const char* name, std::int32_t (*apply)(const rope_call*)) {
  rope_kernel result = rope::half_split_kernel();
  result.name = name;
  result.apply = apply;
  return result;
}

}  // namespace

extern "C" std::uint32_t rope_kernel_count() { return 4; }
extern "C" const rope_kernel* rope_kernel_get(std::uint32_t index) {
  static const rope_kernel kernels[] = {kernel("grows", grows), kernel("grows_inputs", grows_inputs),
                                        kernel("seals", seals), kernel("reopens", reopens)};
  return index < rope_kernel_count() ? &kernels[index] : nullptr;
}
