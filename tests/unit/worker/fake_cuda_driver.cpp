// What libcuda.so.1 does for a worker, on the CPU: the device's memory is the process's own, and its streams are
// threads. So machines without a device test the path to one.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int ok = 0, out_of_memory = 2, invalid_context = 201, illegal_address = 700;

class Stream {
 public:
  Stream() : thread_([this] { work(); }) { thread_.detach(); }

  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty(); });
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !tasks_.empty(); });
        task = tasks_.front();
      }
      task();
      const std::lock_guard lock(mutex_);
      tasks_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::thread thread_;
};

int error = ok;  // an error stays, as on a device
void* current = nullptr;

std::mutex of_streams;
std::vector<Stream*> streams;

using Ranges = std::map<std::uint64_t, std::size_t>;  // address, bytes
Ranges allocated;
Ranges written;  // by copies
std::mutex of_allocated;

bool lies_in(const Ranges& ranges, std::uint64_t at, std::size_t bytes) {
  const auto after = ranges.upper_bound(at);
  return after != ranges.begin() && at + bytes <= std::prev(after)->first + std::prev(after)->second;
}

std::size_t taken() {
  const std::lock_guard lock(of_allocated);
  std::size_t bytes = 0;
  for (const auto& [address, size] : allocated) bytes += size;
  return bytes;
}

Stream* stream_of(void* handle) { return static_cast<Stream*>(handle); }
void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

extern "C" {

void fake_cuda_fail() { error = illegal_address; }

// For fake_compute_sanitizer.py, if it watches with that tool: the real tool's words, counted as one error.
void fake_cuda_report(const char* tool, const char* words) {
  const char* watching = std::getenv("FAKE_SANITIZER_TOOL");
  if (watching == nullptr || std::strcmp(watching, tool) != 0) return;
  std::ofstream(std::getenv("FAKE_SANITIZER_FINDINGS"), std::ios::app) << words;
}

// Checks a kernel's access like memcheck and initcheck.
void fake_cuda_read(const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const std::lock_guard lock(of_allocated);
  if (lies_in(allocated, at, bytes)) {
    if (lies_in(written, at, bytes)) return;
    fake_cuda_report("initcheck",
                     "========= Uninitialized __global__ memory read of size 4 bytes\n"
                     "=========     at rotate(rope_call)+0x70 in kernel.cu:41\n"
                     "=========\n");
    return;
  }
  fake_cuda_report("memcheck",
                   "========= Invalid __global__ read of size 4 bytes\n"
                   "=========     at rotate(rope_call)+0x50 in kernel.cu:6\n"
                   "=========     by thread (0,0,0) in block (0,0,0)\n"
                   "=========     Address 0x7f6510c00400 is out of bounds\n"
                   "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
                   "=========         Host Frame: main [0xae61] in ropecheck_host\n"
                   "=========\n");
}

int cuInit(unsigned) { return ok; }
int cuDeviceGetCount(int* count) {
  *count = std::getenv("FAKE_CUDA_WITHOUT_DEVICE") != nullptr ? 0 : 1;
  return ok;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ok;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &error;
  return ok;
}
int cuCtxSetCurrent(void* context) {
  current = context;
  return ok;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  const char* limit = std::getenv("FAKE_CUDA_LARGEST_ALLOCATION");
  if (limit != nullptr && bytes > std::strtoull(limit, nullptr, 10)) return out_of_memory;
  const char* room = std::getenv("FAKE_CUDA_MEMORY");
  if (room != nullptr && bytes > std::strtoull(room, nullptr, 10) - taken()) return out_of_memory;
  void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  *address = reinterpret_cast<std::uint64_t>(memory);
  const std::lock_guard lock(of_allocated);
  allocated[*address] = bytes;
  return memory == nullptr ? out_of_memory : error;
}
int cuMemFree_v2(std::uint64_t address) {
  {
    const std::lock_guard lock(of_allocated);
    allocated.erase(address);
    written.erase(address);
  }
  std::free(pointer(address));
  return error;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  {
    const std::lock_guard lock(of_allocated);
    written[to] = std::max(written[to], bytes);
  }
  std::memcpy(pointer(to), from, bytes);
  return error;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  stream_of(stream)->push([=] { std::memcpy(pointer(to), pointer(from), bytes); });
  return error;
}
void wait_for_all_but(Stream* own) {
  const std::lock_guard lock(of_streams);
  for (Stream* stream : streams) {
    if (stream != own) stream->wait();
  }
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  const char* delay = std::getenv("FAKE_CUDA_DOWNLOAD_MILLISECONDS");
  const std::chrono::milliseconds first(delay == nullptr ? 0 : std::atoi(delay));
  const bool has_one_queue = std::getenv("FAKE_CUDA_ONE_QUEUE") != nullptr;
  stream_of(stream)->push([=] {
    if (has_one_queue) wait_for_all_but(stream_of(stream));
    std::this_thread::sleep_for(first);
    std::memcpy(to, pointer(from), bytes);
  });
  return error;
}
int cuStreamCreate(void** stream, unsigned) {
  auto* made = new Stream;
  *stream = made;
  const std::lock_guard lock(of_streams);
  streams.push_back(made);
  return ok;
}
int cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  stream_of(stream)->push([=] { function(argument); });
  return error;
}
int cuStreamSynchronize(void* stream) {
  stream_of(stream)->wait();
  return error;
}
int cuCtxSynchronize() { return current == &error ? error : invalid_context; }
int cuGetErrorName(int result, const char** text) {
  *text = result == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OUT_OF_MEMORY";
  return ok;
}
int cuGetErrorString(int result, const char** text) {
  *text = result == illegal_address ? "an illegal memory access was encountered" : "out of memory";
  return ok;
}

}  // extern "C"
