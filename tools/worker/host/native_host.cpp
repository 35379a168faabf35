#include "tools/worker/host/native_host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <typeinfo>
#include <utility>
#include <vector>

#include "reference/foreign_json.hpp"
#include "tools/judge/call/concurrent_call.hpp"
#include "tools/judge/call/floating_point_mode.hpp"
#include "tools/worker/host/device_call.hpp"
#include "tools/worker/host/fault_handler.hpp"
#include "tools/worker/host/foreign_exception.hpp"
#include "tools/worker/host/guarded_memory.hpp"
#include "tools/worker/host/native_call.hpp"
#include "tools/worker/host/native_library.hpp"
#include "tools/worker/host/type_name.hpp"
#include "tools/worker/protocol/claims_text.hpp"
#include "tools/worker/protocol/handed_call.hpp"
#include "tools/worker/protocol/spin.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope {
namespace worker {
namespace {

using nlohmann::json;

constexpr std::string_view mark = "ROPECHECK_MARK=";  // by which ropecheck finds what a kernel leaves behind

struct Announced {
  int version = 0;
  int protocol = -1;
  int inputs = -1;
  int outputs = -1;
  int life = -1;
};

std::optional<Announced> announced() {
  const char* text = std::getenv("ROPECHECK_WORKER");
  Announced result;
  if (text == nullptr || std::sscanf(text, "v=%d protocol=%d inputs=%d outputs=%d life=%d", &result.version,
                                     &result.protocol, &result.inputs, &result.outputs, &result.life) != 5) {
    return std::nullopt;
  }
  return result;
}

// If a line cannot be sent, the kernel has closed the connection; only the exit status can still say anything.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}

  // False in a process that the subject forked from this one and that came back into the worker's code.
  bool is_of_this_process() const { return getpid() == owner_; }

  void send(std::string_view line) const {
    while (!line.empty()) {
      const ssize_t sent = ::send(fd_, line.data(), line.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) _exit(wire::lost_connection_status);
      line.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // A message without its size, until the next call. nullopt: the parent is gone.
  std::optional<std::span<const std::byte>> receive() {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
    for (taken_ = 0;;) {
      FrameSize size = 0;
      if (bytes_.size() >= sizeof size) {
        std::memcpy(&size, bytes_.data(), sizeof size);
        taken_ = sizeof size + size;
        if (bytes_.size() >= taken_) return std::span(bytes_).subspan(sizeof size, size);
      }
      ssize_t received = -1;
      std::byte more[1 << 14];
      const bool is_there = spin_.until(std::chrono::hours(1), [&] {
        received = recv(fd_, more, sizeof more, MSG_DONTWAIT);
        return received >= 0 || errno != EAGAIN;
      });
      if (!is_there || (received < 0 && errno == EINTR)) received = recv(fd_, more, sizeof more, 0);
      if (received < 0 && errno == EINTR) continue;
      if (received < 0) _exit(wire::lost_connection_status);
      if (received == 0) return std::nullopt;
      bytes_.insert(bytes_.end(), more, more + received);
    }
  }

 private:
  int fd_;
  pid_t owner_ = getpid();
  Spin spin_;
  std::vector<std::byte> bytes_;
  std::size_t taken_ = 0;  // of these, by the last message
};

// PR_SET_PDEATHSIG would fire when the parent's *thread* ends. So the parent holds the other end of this pipe. When
// that end closes, the system's kernel kills this process, even in an endless loop.
void die_with_parent(int life) {
  fcntl(life, F_SETOWN, getpid());
  fcntl(life, F_SETSIG, SIGKILL);
  fcntl(life, F_SETFL, O_ASYNC | O_NONBLOCK);
  char byte;
  if (read(life, &byte, 1) == 0) _exit(0);  // it closed before
}

void settle(const Announced& fds) {
  // Programs that the kernel starts must not inherit the worker's connection.
  for (const int fd : {fds.protocol, fds.inputs, fds.outputs, fds.life}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  die_with_parent(fds.life);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);  // output before a crash must not be lost
  // Otherwise a launch would wait for the held stream: always, for lack of queues, or to load its code.
  unsetenv("CUDA_LAUNCH_BLOCKING");
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
}

// A kernel must not see that it is under test. The text is overwritten too: /proc shows it.
void forget_own_variables() {
  for (char** entry = environ; *entry != nullptr;) {
    const std::string_view text(*entry);
    if (!text.starts_with("ROPECHECK_") || text.starts_with(mark)) {
      ++entry;
      continue;
    }
    std::memset(*entry, 0, text.size());
    for (char** later = entry; *later != nullptr; ++later) *later = later[1];
  }
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool is_on_device(const rope_kernel& kernel) { return kernel.claims.device == ROPE_CUDA; }

json list_of(const NativeLibrary& library) {
  json refused = json::array();
  for (const NativeLibrary::Refused& one : library.refused()) {
    refused.push_back({{"index", one.index}, {"why", one.why}});
  }
  return {{"v", wire::version}, {"op", "kernels"}, {"kernels", library.names()}, {"refused", refused}};
}

json hello(const std::string& name, const rope_kernel& kernel, const GuardedMemory& memory) {
  return {{"v", wire::version},
          {"op", "hello"},
          {"name", name},
          {"base", memory.space().base},
          {"slot", memory.space().slot},
          {"claims", claims_to_json(kernel.claims)}};
}

std::string text_of(const json& message) { return message.dump(-1, ' ', true, json::error_handler_t::replace) + "\n"; }

std::string error_text(std::int64_t id, const std::string& type, const char* message) {
  return text_of({{"id", id}, {"ok", false}, {"error", {{"type", type}, {"msg", message}}}});
}

// An exception: what a class is called says nothing about the call.
std::string raised_text(std::int64_t id, const std::string& type, const char* message) {
  return text_of({{"id", id}, {"ok", false}, {"error", {{"raised", type}, {"msg", message}}}});
}

// The kernel's function, and how many calls of it have not returned. An exception that leaves one is the kernel's, also
// if its class is called as one of ours: the C++ library tells classes of two libraries apart by their names only.
std::int32_t (*apply_of_kernel)(const rope_call*) = nullptr;
std::atomic<int> calls_open{0};

std::int32_t watched_apply(const rope_call* call) {
  ++calls_open;
  const std::int32_t status = apply_of_kernel(call);
  --calls_open;
  return status;
}

// ROPE_FAILED, with the library's own words.
std::string failure_text(const NativeLibrary& library, std::int64_t id) {
  return error_text(id, "failed", library.last_error().c_str());
}

std::string run_alone(const NativeLibrary& library, const rope_kernel& kernel, const rope_call& prepared,
                      std::int64_t id) {
  rope_call call = prepared;  // a kernel that casts const away spoils only its own copy
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::int32_t status = kernel.apply(&call);
  const std::chrono::nanoseconds time = Clock::now() - start;
  if (status == ROPE_FAILED) return failure_text(library, id);
  return fmt::format("{{\"id\":{},\"ok\":true,\"status\":{},\"ns\":{}}}\n", id, status, time.count());
}

std::string run_two(const rope_kernel& kernel, const rope_call& judged, const rope_call& companion, std::int64_t id) {
  const ConcurrentResult result = run_concurrently(kernel.apply, judged, companion, give_fault_stack);
  return fmt::format("{{\"id\":{},\"ok\":true,\"status\":{},\"ns\":{},\"beside_status\":{}}}\n", id, result.status,
                     result.nanoseconds, result.companion_status);
}

std::string run_on_device(const NativeLibrary& library, const rope_kernel& kernel, const NativeCall& call,
                          DeviceCalls& device, std::int64_t id) {
  const DeviceResult result = device.run(kernel, call);
  if (result.status == ROPE_FAILED && result.breach.empty()) return failure_text(library, id);
  json reply{{"id", id}, {"ok", true}, {"status", result.status}, {"ns", result.time.count()}};
  if (!result.breach.empty()) reply["breach"] = result.breach;
  return text_of(reply);
}

// Of this worker, not of the kernel.
std::string own_error(std::int64_t id, const std::exception& error) {
  if (dynamic_cast<const CudaError*>(&error) != nullptr) return text_of({{"id", id}, {"ended", error.what()}});
  if (dynamic_cast<const CannotPlace*>(&error) != nullptr || dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return error_text(id, std::string(wire::no_room), error.what());
  }
  throw;
}

std::string run(const NativeLibrary& library, const rope_kernel& kernel, const HandedCalls& calls,
                DeviceCalls* device) {
  const std::int64_t id = calls.id;
  set_current_call(id);
  calls_open = 0;
  std::string reply;
  const FloatingPointMode mode = FloatingPointMode::current();
  try {
    reply = device != nullptr ? run_on_device(library, kernel, calls.judged, *device, id)
            : calls.companion ? run_two(kernel, calls.judged.call, calls.companion->call, id)
                              : run_alone(library, kernel, calls.judged.call, id);
  } catch (const std::exception& error) {
    reply = calls_open > 0 ? raised_text(id, demangled(typeid(error).name()), error.what()) : own_error(id, error);
  } catch (...) {
    const std::optional<ForeignException> foreign = foreign_exception();
    reply = foreign ? raised_text(id, foreign->type, foreign->message.c_str())
                    : raised_text(id, "an exception that is not a std::exception", "");
  }
  if (const std::string breach = breach_of_mode(mode); !breach.empty()) {
    json with_breach = parse_json_line(reply);
    // A device's error, an exception and another breach say more.
    if (with_breach.value("ok", false) && !with_breach.contains("breach")) {
      with_breach["breach"] = breach;
      with_breach["breaks_mode"] = true;
      reply = text_of(with_breach);
    }
  }
  set_current_call(-1);
  return reply;
}

// Until it is told to end or until the parent ends.
void serve(Connection& connection, const NativeLibrary& library, const rope_kernel& kernel, GuardedMemory& memory,
           DeviceCalls* device, const Announced& fds) {
  while (const auto message = connection.receive()) {
    if (message->empty()) return;
    const HandedCalls calls = take_over(*message, memory, fds.inputs, fds.outputs, device != nullptr);
    const std::string reply = run(library, kernel, calls, device);
    if (!connection.is_of_this_process()) {
      connection.send(text_of({{"id", calls.id}, {"ended", "forked, and both processes came back"}}));
      _exit(1);
    }
    connection.send(reply);
  }
}

}  // namespace
}  // namespace worker

int worker_main() {
  using namespace worker;
  const std::optional<Announced> fds = announced();
  const std::optional<std::string> library_path = variable("ROPECHECK_LIBRARY");
  const std::optional<std::string> kernel_name = variable("ROPECHECK_KERNEL");  // absent: only the names are wanted
  const std::string driver = variable("ROPECHECK_CUDA_DRIVER").value_or(CudaDriver::usual_library);
  const bool sanitized = variable("ROPECHECK_SANITIZED").has_value();
  forget_own_variables();
  if (!fds || !library_path) {
    std::fputs("a worker is started by ropecheck, not by hand\n", stderr);
    return 2;
  }
  Connection connection(fds->protocol);
  try {
    if (fds->version != wire::version) {
      throw std::runtime_error(fmt::format("this host speaks version {} of the worker protocol, ropecheck version {}",
                                           wire::version, fds->version));
    }
    settle(*fds);
    install_fault_handler(fds->protocol);
    note_loaded_modules();
    GuardedMemory memory;
    const NativeLibrary library(*library_path);
    if (!connection.is_of_this_process()) {
      throw std::runtime_error(fmt::format("{} forked while it was loaded, and both processes came back", *library_path));
    }
    note_loaded_modules();
    if (!kernel_name) {
      connection.send(text_of(list_of(library)));
      _exit(0);
    }
    rope_kernel kernel = library.kernel(*kernel_name);
    apply_of_kernel = std::exchange(kernel.apply, watched_apply);
    std::optional<DeviceCalls> device;
    if (is_on_device(kernel)) device.emplace(driver, sanitized);
    connection.send(text_of(hello(kernel_name->empty() ? library.names().front() : *kernel_name, kernel, memory)));
    serve(connection, library, kernel, memory, device ? &*device : nullptr, *fds);
    // compute-sanitizer writes its findings when a process ends as usual.
    if (sanitized) std::exit(0);
    // Without the destructors of the kernel's library: they are not under test here, and may hang.
    _exit(0);
  } catch (const std::exception& error) {
    connection.send(text_of({{"v", wire::version}, {"op", "refused"}, {"msg", error.what()}}));
    _exit(1);
  }
}

}  // namespace rope
