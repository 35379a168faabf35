#include "tools/worker/host/fault_handler.hpp"

#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace rope::worker {
namespace {

constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

struct Module {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
  std::uintptr_t base = 0;
  char name[128] = "";
};

// The worker's only global: a signal handler gets nothing to find its state by.
struct {
  int connection = -1;
  std::atomic<std::int64_t> call = -1;
  std::atomic<bool> told = false;
  std::array<struct sigaction, signals.size()> before{};
  std::array<Module, 128> modules{};
  std::size_t module_count = 0;
} state;

// Text in a signal handler: no allocation, no locale, no lock.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t size = std::min(text.size(), sizeof bytes_ - used_);
    std::memcpy(bytes_ + used_, text.data(), size);
    used_ += size;
    return *this;
  }
  Line& decimal(std::int64_t value) {
    if (value < 0) *this << "-";
    return digits(value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), 10);
  }
  Line& hexadecimal(std::uintptr_t value) {
    *this << "\"0x";
    return digits(value, 16) << "\"";
  }
  void send(int connection) const { ::send(connection, bytes_, used_, MSG_NOSIGNAL); }

 private:
  Line& digits(std::uint64_t value, unsigned base) {
    char text[20];
    std::size_t at = sizeof text;
    do {
      text[--at] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    return *this << std::string_view(text + at, sizeof text - at);
  }

  char bytes_[640];
  std::size_t used_ = 0;
};

struct Registers {
  std::uintptr_t code = 0;
  std::uintptr_t stack = 0;
  enum { unknown, read, write, execute } access = unknown;
};

Registers registers_of(const ucontext_t& context) {
  Registers result;
#if defined(__x86_64__)
  result.code = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  result.stack = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  const auto error = context.uc_mcontext.gregs[REG_ERR];  // of the page fault: bit 1 write, bit 4 instruction fetch
  result.access = (error & 16) != 0 ? Registers::execute : (error & 2) != 0 ? Registers::write : Registers::read;
#elif defined(__aarch64__)
  result.code = context.uc_mcontext.pc;
  result.stack = context.uc_mcontext.sp;
#else
  (void)context;
#endif
  return result;
}

// Whether a compiler put the illegal instruction there on purpose: ud2 and ud1, for __builtin_trap() and failed checks.
bool is_trap([[maybe_unused]] std::uintptr_t code) {
#if defined(__x86_64__)
  const auto* byte = reinterpret_cast<const unsigned char*>(code);
  if (*byte == 0x67) ++byte;
  return byte[0] == 0x0f && (byte[1] == 0x0b || byte[1] == 0xb9);
#else
  return false;
#endif
}

const Module* module_of(std::uintptr_t code) {
  for (std::size_t i = 0; i < state.module_count; ++i) {
    if (code >= state.modules[i].first && code < state.modules[i].last) return &state.modules[i];
  }
  return nullptr;
}

void tell(int signal, const siginfo_t& info, const ucontext_t& context) {
  const Registers registers = registers_of(context);
  Line line;
  line << "{\"id\":";
  line.decimal(state.call.load()) << ",\"fault\":{\"sig\":";
  line.decimal(signal) << ",\"code\":";
  line.decimal(info.si_code);
  if (signal == SIGSEGV || signal == SIGBUS) {
    line << ",\"addr\":";
    line.hexadecimal(reinterpret_cast<std::uintptr_t>(info.si_addr));
    if (registers.access == Registers::execute) line << ",\"execute\":true";
    if (registers.access == Registers::write) line << ",\"write\":true";
    if (registers.access == Registers::read) line << ",\"write\":false";
  }
  if (signal == SIGILL && info.si_code > 0 && is_trap(registers.code)) line << ",\"trap\":true";
  line << ",\"sp\":";
  line.hexadecimal(registers.stack);
  if (const Module* module = module_of(registers.code)) {
    line << ",\"module\":\"" << module->name << "\",\"off\":";
    line.hexadecimal(registers.code - module->base);
  }
  line << "}}\n";
  line.send(state.connection);
}

void handle(int signal, siginfo_t* info, void* context) {
  if (!state.told.exchange(true)) tell(signal, *info, *static_cast<ucontext_t*>(context));
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i] == signal) sigaction(signal, &state.before[i], nullptr);
  }
  // Blocked until this handler returns. Then the earlier action gets the signal, even if the instruction would not
  // fault again (a breakpoint, a signal that was sent).
  raise(signal);
}

int note(dl_phdr_info* info, std::size_t, void*) {
  if (state.module_count == state.modules.size()) return 1;
  Module module;
  module.base = info->dlpi_addr;
  module.first = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    module.first = std::min<std::uintptr_t>(module.first, info->dlpi_addr + segment.p_vaddr);
    module.last = std::max<std::uintptr_t>(module.last, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  std::string_view name = info->dlpi_name;
  name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
  if (name.empty()) name = "the worker";
  // Names go into JSON unescaped.
  std::size_t used = 0;
  for (const char c : name.substr(0, sizeof module.name - 1)) {
    module.name[used++] = c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c;
  }
  state.modules[state.module_count++] = module;
  return 0;
}

// Its destructor gives the memory back at the end of the thread.
class FaultStack {
 public:
  FaultStack() : memory_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    const stack_t stack{memory_, 0, size_};
    if (memory_ == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) {
      throw std::system_error(errno, std::generic_category(), "a stack for the fault handler");
    }
  }
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;
  ~FaultStack() {
    const stack_t none{nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
    munmap(memory_, size_);
  }

 private:
  static constexpr std::size_t size_ = 1 << 16;
  void* memory_;
};

}  // namespace

void give_fault_stack() { thread_local const FaultStack stack; }

void install_fault_handler(int connection) {
  state.connection = connection;
  give_fault_stack();
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (sigaction(signals[i], &action, &state.before[i]) != 0) {
      throw std::system_error(errno, std::generic_category(), "installing the fault handler");
    }
  }
}

void note_loaded_modules() {
  state.module_count = 0;
  dl_iterate_phdr(note, nullptr);
}

void set_current_call(std::int64_t id) { state.call.store(id); }

}  // namespace rope::worker
