#include "tools/worker/client/fault_report.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>

#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

using nlohmann::json;

// The signals that end a process by themselves; sigabbrev_np() would need glibc 2.32.
std::string signal_name(int signal) {
  switch (signal) {
    case SIGABRT: return "SIGABRT";
    case SIGALRM: return "SIGALRM";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGHUP: return "SIGHUP";
    case SIGILL: return "SIGILL";
    case SIGINT: return "SIGINT";
    case SIGKILL: return "SIGKILL";
    case SIGPIPE: return "SIGPIPE";
    case SIGQUIT: return "SIGQUIT";
    case SIGSEGV: return "SIGSEGV";
    case SIGSYS: return "SIGSYS";
    case SIGTERM: return "SIGTERM";
    case SIGTRAP: return "SIGTRAP";
    case SIGUSR1: return "SIGUSR1";
    case SIGUSR2: return "SIGUSR2";
    case SIGXCPU: return "SIGXCPU";
    case SIGXFSZ: return "SIGXFSZ";
    default: return fmt::format("signal {}", signal);
  }
}

std::string elements(std::int64_t count) { return fmt::format("{} element{}", count, count == 1 ? "" : "s"); }

// A byte beside or in a tensor, as an element of its span; byte 0 is the first of the span.
struct RowContext {
  std::int64_t size;     // bytes of an element
  std::int64_t total;    // elements of the span
  std::int64_t element;  // rounded down
};

RowContext spot_of(const TensorMapping& placed, std::int64_t byte) {
  const auto size = static_cast<std::int64_t>(size_of(placed.tensor->dtype));
  const std::int64_t element = byte >= 0 ? byte / size : -((-byte + size - 1) / size);
  return {size, static_cast<std::int64_t>(placed.tensor->bytes.size()) / size, element};
}

// The index of an element of the span; nullopt if it is padding.
std::optional<std::vector<std::int64_t>> index_of(const Tensor& tensor, std::int64_t element) {
  std::vector<std::size_t> order(tensor.strides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::ranges::greater(), [&](std::size_t d) { return std::abs(tensor.strides[d]); });
  std::vector<std::int64_t> index(order.size(), 0);
  const auto last = [&](std::size_t d) { return std::max<std::int64_t>(tensor.shape[d] - 1, 0); };
  // Counted from the lowest address: with a negative stride the last comes first.
  std::int64_t left = element - tensor.origin;
  for (const std::size_t d : order) left -= last(d) * std::min<std::int64_t>(tensor.strides[d], 0);
  for (const std::size_t d : order) {
    const std::int64_t step = std::abs(tensor.strides[d]);
    if (step == 0) continue;
    const std::int64_t steps = std::clamp<std::int64_t>(left / step, 0, last(d));
    index[d] = tensor.strides[d] < 0 ? last(d) - steps : steps;
    left -= steps * step;
  }
  if (left != 0) return std::nullopt;
  return index;
}

bool is_table(const TensorMapping& placed) {
  return (placed.name == "cos" || placed.name == "sin") && placed.tensor->shape.size() == 2 &&
         placed.tensor->strides[0] > 0;
}

// "q_out", or "q_out of the concurrent call".
std::string name_of(const TensorMapping& placed) {
  return std::string(placed.name) + (placed.beside ? " of the concurrent call" : "");
}

// The tensors of a concurrent call say nothing about this call.
std::optional<OutsideAccess> access_to(const TensorMapping& placed, bool write, std::int64_t element,
                                       bool by_row = false) {
  if (placed.beside) return std::nullopt;
  return OutsideAccess{std::string(placed.name), write, element, by_row};
}

WorkerEnd beside(std::string_view verb, bool write, const TensorMapping& placed, const RowContext& spot) {
  constexpr ReplyKind kind = ReplyKind::misbehaved;
  const Tensor& tensor = *placed.tensor;
  if (is_table(placed)) {
    const std::int64_t from_origin = spot.element - tensor.origin;
    const std::int64_t stride = tensor.strides[0];
    const std::int64_t row = from_origin >= 0 ? from_origin / stride : -((-from_origin + stride - 1) / stride);
    if (row >= tensor.shape[0]) {
      return {kind, fmt::format("{} {} at row {}, beyond its {} rows", verb, name_of(placed), row, tensor.shape[0]),
              access_to(placed, write, row, true)};
    }
    if (row < 0) {
      return {kind, fmt::format("{} {} at row {}, before its first row", verb, name_of(placed), row),
              access_to(placed, write, row, true)};
    }
  }
  if (spot.element < 0) {
    return {kind,
            fmt::format("{} {} before the start of {} (element {} of {})", verb, elements(-spot.element),
                        name_of(placed), spot.element, spot.total),
            access_to(placed, write, spot.element)};
  }
  return {kind,
          fmt::format("{} {} past the end of {} (element {} of {})", verb, elements(spot.element - spot.total + 1),
                      name_of(placed), spot.element, spot.total),
          access_to(placed, write, spot.element)};
}

std::string inside(std::string_view verb, const TensorMapping& placed, const RowContext& spot) {
  const auto index = index_of(*placed.tensor, spot.element);
  return fmt::format("{} the {} {} at {}", verb, placed.read_only ? "input" : "output", name_of(placed),
                     index ? fmt::format("[{}]", wire::listed(*index))
                           : fmt::format("element {} of {}, in its padding", spot.element, spot.total));
}

// q and k, or their outputs, share memory: which tensor was meant is unknown.
WorkerEnd describe_shared(std::int64_t byte, std::string_view verb, bool write, const TensorMapping& placed) {
  const std::string memory = fmt::format("the memory of {} and what lies behind it", name_of(placed));
  const auto size = static_cast<std::int64_t>(placed.map_length);
  if (byte < 0) return {ReplyKind::misbehaved, fmt::format("{} {} bytes before {}", verb, -byte, memory)};
  if (byte >= size) return {ReplyKind::misbehaved, fmt::format("{} {} bytes past {}", verb, byte - size + 1, memory)};
  if (placed.read_only && write) {
    return {ReplyKind::misbehaved,
            fmt::format("wrote to byte {} of {}; inputs must stay as they are, unless overwrites_inputs is claimed",
                        byte, memory)};
  }
  return {ReplyKind::crashed, fmt::format("{} byte {} of {}", verb, byte, memory)};
}

std::optional<WorkerEnd> describe_guarded(std::uint64_t address, std::string_view verb, bool write,
                                          const CallLayout& layout, const AddressSpace& space) {
  if (space.base == 0 || space.slot == 0 || address < space.base) return std::nullopt;
  const std::uint64_t slot = (address - space.base) / space.slot;
  const auto found = std::ranges::find(layout.tensors, slot, &TensorMapping::slot);
  if (found == layout.tensors.end()) return std::nullopt;
  const TensorMapping& placed = *found;
  const std::uint64_t start = space.of_room(slot, placed.room) + placed.start;
  const auto byte = static_cast<std::int64_t>(address - start);
  if (!placed.islands.empty() && !placed.is_far()) return describe_shared(byte, verb, write, placed);
  const RowContext spot = spot_of(placed, byte);
  const auto size = static_cast<std::int64_t>(placed.tensor->bytes.size());
  if (byte < 0 || byte >= size) return beside(verb, write, placed, spot);
  if (placed.read_only && write) {
    return WorkerEnd{ReplyKind::misbehaved, inside("wrote to", placed, spot) +
                                                "; inputs must stay as they are, unless overwrites_inputs is claimed"};
  }
  const bool in_padding = !index_of(*placed.tensor, spot.element);
  return WorkerEnd{ReplyKind::crashed, inside(verb, placed, spot),
                   in_padding ? access_to(placed, write, spot.element) : std::nullopt};
}

std::string describe_elsewhere(const json& fault, std::uint64_t address, std::string_view verb) {
  const int signal = wire::whole<int>(fault.at("sig"), "sig");
  const int code = wire::whole_in(fault, "code", 0);
  // Then the address is the number of the process that sent the signal.
  if (fault.contains("code") && code <= 0) return "was sent a signal by a process";
  if (signal == SIGSEGV && code == SI_KERNEL) {
    return "made a misaligned vector access, or used an address that cannot exist (general protection fault); data "
           "pointers are aligned only to what the kernel claims";
  }
  const auto distance = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; };
  if (fault.contains("sp")) {
    const std::uint64_t stack = std::stoull(fault.at("sp").get<std::string>(), nullptr, 16);
    if (signal == SIGSEGV && distance(address, stack) < (1u << 16)) return "overflowed its stack";
  }
  if (fault.value("execute", false)) return fmt::format("jumped to address {:#x}, where no code is", address);
  return fmt::format("{} address {:#x}{}",
                     verb == "wrote"  ? "wrote to"
                     : verb == "read" ? "read from"
                                      : "accessed",
                     address, address < 65536 ? " (a null pointer)" : ", which is outside the memory of the call");
}

std::string place_of(const json& fault, int signal) {
  // abort() is always somewhere in the C library.
  if (!fault.contains("module") || signal == SIGABRT) return "";
  return fmt::format(", in {}+{}", wire::printable(fault.at("module").get<std::string>(), 128),
                     wire::printable(fault.at("off").get<std::string>(), 32));
}

std::string_view plain_signal(int signal) {
  switch (signal) {
    case SIGABRT: return "aborted";
    case SIGFPE: return "trapped in arithmetic, for example an integer division by zero";
    case SIGILL: return "ran an instruction that this machine does not have";
    case SIGTRAP: return "hit a breakpoint";
    case SIGSYS: return "made a system call that is not allowed";
    case SIGKILL: return "was killed from outside, for example because memory ran out";
    default: return "died";
  }
}

}  // namespace

WorkerEnd describe_fault(const json& fault, const CallLayout& layout, const AddressSpace& space) {
  const int signal = wire::whole<int>(fault.at("sig"), "sig");
  WorkerEnd end;
  if (fault.contains("addr")) {
    const std::uint64_t address = std::stoull(fault.at("addr").get<std::string>(), nullptr, 16);
    const bool write = fault.value("write", false);
    const std::string_view verb = !fault.contains("write") ? "accessed" : write ? "wrote" : "read";
    if (auto guarded = describe_guarded(address, verb, write, layout, space)) {
      end = *guarded;
    } else {
      end.sentence = describe_elsewhere(fault, address, verb);
    }
  } else if (fault.value("trap", false)) {
    end.sentence = "ran into a trap, as of __builtin_trap() or a failed check";
  } else {
    end.sentence = plain_signal(signal);
    end.lacks_instruction = signal == SIGILL;
  }
  end.sentence += fmt::format("{} ({})", place_of(fault, signal), signal_name(signal));
  return end;
}

WorkerEnd describe_end(int wait_status, bool disconnected) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return {ReplyKind::crashed, fmt::format("{} ({})", plain_signal(signal), signal_name(signal))};
  }
  const int status = WEXITSTATUS(wait_status);
  if (disconnected && status == wire::lost_connection_status) {
    return {ReplyKind::misbehaved, "closed files that are not its own, the worker's connection among them"};
  }
  return {ReplyKind::crashed, fmt::format("ended its process with exit status {}", status)};
}

WorkerEnd describe_stray_write(const TensorMapping& placed, std::size_t byte) {
  return beside("wrote", true, placed,
                spot_of(placed, static_cast<std::int64_t>(byte) - static_cast<std::int64_t>(placed.start)));
}

}  // namespace rope::worker
