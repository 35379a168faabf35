#include "tools/worker/host/device_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <thread>

#include "tools/worker/protocol/canary.hpp"

namespace rope::worker {
namespace {

// More than a block of threads that runs one turn too far.
constexpr std::size_t margin = 1 << 16;

// The device's own alignment is 256 bytes; pages on it are aligned as they are on the host. Divides the margin.
constexpr std::size_t device_page = 4096;

// A small kernel on another stream needs only some microseconds.
constexpr std::chrono::milliseconds for_others{2};

// A kernel may wait for its stream inside the call; it must not wait for ever. The same holds for our own look at the
// outputs, if the device has one queue for all streams.
constexpr std::chrono::milliseconds at_most{100};
constexpr std::chrono::milliseconds at_most_kept{1000};

// Holding back costs two milliseconds, too much for every call. With a kernel that always waits it costs at_most and
// shows nothing.
constexpr std::int64_t always_first = 8;
constexpr std::int64_t then_each = 64;
constexpr int waits_enough = 3;
constexpr std::int64_t then_each_waiting = 1024;

// What a stream waits for. However long the host takes, one of two things comes first. Either the kernel returns: the
// gate is `kept` until the host opens it or takes too long for that, too. Or the stream goes on without the host
// (`passed`), and what it did says nothing.
class Gate {
 public:
  enum State { shut, kept, opened, passed };

  static void wait(void* argument) {
    auto& state = static_cast<Gate*>(argument)->state_;
    const auto start = std::chrono::steady_clock::now();
    while (state != opened) {
      const auto waited = std::chrono::steady_clock::now() - start;
      State expected = shut;
      if (waited >= at_most && state.compare_exchange_strong(expected, passed)) return;
      expected = kept;
      if (waited >= at_most_kept && state.compare_exchange_strong(expected, passed)) return;
      std::this_thread::yield();
    }
  }
  void shut_again() { state_ = shut; }
  bool keep() {
    State expected = shut;
    return state_.compare_exchange_strong(expected, kept);
  }
  bool is_kept() const { return state_ == kept; }
  void open() { state_ = opened; }

 private:
  std::atomic<State> state_{opened};
};

// Opens the gate in any case: the driver would wait for it when the process ends.
class Held {
 public:
  Held(const CudaDriver& driver, void* stream) {
    gate_.shut_again();
    driver.call_on(stream, Gate::wait, &gate_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { release(); }
  bool keep() { return gate_.keep(); }
  bool is_kept() const { return gate_.is_kept(); }
  void release() { gate_.open(); }

 private:
  static inline Gate gate_;  // outlives the stream's work on it
};

std::size_t whole_buffer(const MappedPages& pages) { return pages.length + 2 * margin; }

template <class Pointer>
Pointer as_pointer(DevicePointer address) {
  return reinterpret_cast<Pointer>(static_cast<std::uintptr_t>(address));
}

}  // namespace

bool DeviceCalls::is_to_be_held_back() {
  const std::int64_t call = calls_++;
  if (was_early_) return true;  // so that simpler cases show it too
  if (waits_ >= waits_enough) return call % then_each_waiting == 0;
  return call < always_first || call % then_each == 0;
}

void DeviceCalls::place(const NativeCall& call, bool holds) try {
  upload(call);
  if (holds) hold_back(call);
  driver_.finish_all();  // a copy may return early, and the kernel's stream waits for no other
} catch (const CudaError& error) {
  throw CannotPlace(fmt::format("the tensors of this call cannot be put on the device: {}", error.what()));
}

void DeviceCalls::upload(const NativeCall& call) {
  buffers_.resize(std::max(buffers_.size(), call.pages.size()));
  for (std::size_t i = 0; i < call.pages.size(); ++i) {
    const MappedPages& pages = call.pages[i];
    Buffer& buffer = buffers_[i];
    const std::size_t size = whole_buffer(pages);
    if (buffer.capacity < size) {
      for (DevicePointer* pointer : {&buffer.allocated, &buffer.source}) {
        if (*pointer != 0) driver_.free(*pointer);
        *pointer = 0;
      }
      buffer.capacity = 0;
      const std::size_t capacity = size + size / 2;
      buffer.allocated = driver_.allocate(capacity + device_page);
      buffer.source = driver_.allocate(capacity);
      buffer.capacity = capacity;
      buffer.data = (buffer.allocated + device_page - 1) / device_page * device_page;
      buffer.pages = buffer.data + margin;
    }
    bytes_.resize(size);
    fill_canary(std::span(bytes_).first(margin), 0);
    if (pages.length > 0) std::memcpy(bytes_.data() + margin, pages.start, pages.length);
    fill_canary(std::span(bytes_).last(margin), margin + pages.length);
    driver_.upload(buffer.data, bytes_.data(), size);
  }
}

// What the tensors hold until the stream reaches the copies. Zeros are harmless positions and table entries. 0x3c.. is
// a number in every type; a result computed from either, in place too, is not 0x3c.. again. A NaN would come out as
// it went in.
constexpr std::byte stand_in(bool writable) { return writable ? std::byte{0x3c} : std::byte{0}; }

void DeviceCalls::hold_back(const NativeCall& call) {
  for (std::size_t i = 0; i < call.pages.size(); ++i) {
    const std::size_t length = call.pages[i].length;
    if (length == 0) continue;
    driver_.upload(buffers_[i].source, call.pages[i].start, length);
    bytes_.assign(length, stand_in(call.pages[i].writable));
    driver_.upload(buffers_[i].data + margin, bytes_.data(), length);
  }
}

bool DeviceCalls::touched_early(const NativeCall& call) {
  std::this_thread::sleep_for(for_others);
  for (std::size_t i = 0; i < call.pages.size(); ++i) {
    if (!call.pages[i].writable || call.pages[i].length == 0) continue;
    bytes_.resize(call.pages[i].length);
    driver_.download_beside(bytes_.data(), buffers_[i].data + margin, bytes_.size());
    if (std::any_of(bytes_.begin(), bytes_.end(), [](std::byte b) { return b != stand_in(true); })) return true;
  }
  return false;
}

rope_call DeviceCalls::on_device(const NativeCall& call) const {
  rope_call c = call.call;
  const auto move = [&](auto& pointer) {
    if (pointer == nullptr) return;
    const auto* host = reinterpret_cast<const std::byte*>(pointer);
    for (std::size_t i = 0; i < call.pages.size(); ++i) {
      const MappedPages& pages = call.pages[i];
      if (host < pages.start || host > pages.start + pages.length) continue;
      const auto offset = static_cast<std::size_t>(host - pages.start);
      pointer = as_pointer<std::remove_reference_t<decltype(pointer)>>(buffers_[i].pages + offset);
      return;
    }
  };
  for (rope_tensor* tensor : {&c.q, &c.k, &c.q_out, &c.k_out}) move(tensor->data);
  move(c.positions.data);
  move(c.table.cos);
  move(c.table.sin);
  move(c.theta);
  move(c.axis);
  move(c.seqlen_offsets);
  move(c.cu_seqlens);
  c.device = ROPE_CUDA;
  c.device_index = 0;
  c.stream = driver_.stream();
  return c;
}

std::string DeviceCalls::collect(const NativeCall& call) {
  std::string breach;
  for (std::size_t i = 0; i < call.pages.size(); ++i) {
    const MappedPages& pages = call.pages[i];
    bytes_.resize(whole_buffer(pages));
    driver_.download_beside(bytes_.data(), buffers_[i].data, bytes_.size());
    const std::span<const std::byte> all(bytes_);
    const auto inside = all.subspan(margin, pages.length);
    if (breach.empty()) {
      if (const auto before = last_damage(all.first(margin), 0)) {
        breach = fmt::format("wrote {} bytes before {}", margin - *before + pages.at, pages.name);
      } else if (const auto after = first_damage(all.last(margin), margin + pages.length)) {
        breach = fmt::format("wrote beyond the memory of {}, byte {} after its pages", pages.name, *after);
      }
    }
    if (pages.writable) {
      if (pages.length > 0) std::memcpy(pages.start, inside.data(), pages.length);
    } else if (breach.empty()) {
      const auto changed = std::mismatch(inside.begin(), inside.end(), pages.start).first;
      if (changed != inside.end()) {
        breach = fmt::format("wrote to {}, which is an input: byte {} of its memory", pages.name,
                             changed - inside.begin() - static_cast<std::ptrdiff_t>(pages.at));
      }
    }
  }
  return breach;
}

DeviceResult DeviceCalls::run(const rope_kernel& kernel, const NativeCall& call) {
  return sanitized_ ? run_sanitized(kernel, call) : run_guarded(kernel, call);
}

// Unused memory lies between two tensors, so an access outside one does not reach the next.
void DeviceCalls::place_elements(const NativeCall& call) try {
  buffers_.assign(call.pages.size(), {});
  std::vector<DevicePointer> between;
  for (std::size_t i = 0; i < call.pages.size(); ++i) {
    const MappedPages& pages = call.pages[i];
    const std::size_t size = pages.last - pages.first;
    between.push_back(driver_.allocate(margin));
    buffers_[i].data = buffers_[i].allocated = driver_.allocate(std::max<std::size_t>(size, 1));
    buffers_[i].pages = buffers_[i].data - pages.first;
    const bool is_output = pages.name == "q_out" || pages.name == "k_out";
    if (size > 0 && !is_output) driver_.upload(buffers_[i].data, pages.start + pages.first, size);
  }
  for (const DevicePointer pointer : between) driver_.free(pointer);
  driver_.finish_all();
} catch (const CudaError& error) {
  throw CannotPlace(fmt::format("the tensors of this call cannot be put on the device: {}", error.what()));
}

DeviceResult DeviceCalls::run_sanitized(const rope_kernel& kernel, const NativeCall& call) {
  DeviceResult result;
  place_elements(call);
  rope_call given = on_device(call);
  result.status = kernel.apply(&given);
  driver_.make_current();
  driver_.finish(driver_.stream());
  driver_.finish_all();
  for (const Buffer& buffer : buffers_) driver_.free(buffer.allocated);
  return result;
}

using Outputs = std::vector<std::vector<std::byte>>;

Outputs outputs_of(const NativeCall& call) {
  Outputs outputs;
  for (const MappedPages& pages : call.pages) {
    if (pages.writable) outputs.emplace_back(pages.start, pages.start + pages.length);
  }
  return outputs;
}

void put_back(const Outputs& outputs, const NativeCall& call) {
  auto bytes = outputs.begin();
  for (const MappedPages& pages : call.pages) {
    if (pages.writable) std::ranges::copy(*bytes++, pages.start);
  }
}

// A process's first launch loads the kernel's code. For this the driver waits for every stream, even a held one.
// So the first call is made a second time, only to check its stream.
DeviceResult DeviceCalls::run_guarded(const rope_kernel& kernel, const NativeCall& call) {
  const bool is_first = calls_ == 0;
  const bool holds = is_to_be_held_back();
  if (!is_first) return run_once(kernel, call, holds);
  const Outputs before = outputs_of(call);
  DeviceResult result = run_once(kernel, call, false);
  if (result.status != ROPE_OK || !result.breach.empty()) return result;
  const Outputs after = outputs_of(call);
  put_back(before, call);
  result.breach = run_once(kernel, call, true).breach;
  put_back(after, call);
  return result;
}

DeviceResult DeviceCalls::run_once(const rope_kernel& kernel, const NativeCall& call, bool holds) {
  using Clock = std::chrono::steady_clock;
  DeviceResult result;
  place(call, holds);
  rope_call given = on_device(call);
  Clock::time_point start;
  if (holds) {
    Held held(driver_, driver_.stream());
    for (std::size_t i = 0; i < call.pages.size(); ++i) {
      if (call.pages[i].length == 0) continue;
      driver_.copy_on(driver_.stream(), buffers_[i].data + margin, buffers_[i].source, call.pages[i].length);
    }
    try {
      result.status = kernel.apply(&given);
    } catch (...) {  // these copies must not mix with the next call's
      held.release();
      driver_.make_current();
      driver_.finish(driver_.stream());
      throw;
    }
    driver_.make_current();
    // A kernel that waited for its stream, or for the device, is done by now, and rightly so.
    const bool is_seen = held.keep() && result.status == ROPE_OK;
    const bool is_early = is_seen && touched_early(call);
    waits_ = held.is_kept() ? 0 : waits_ + 1;
    if (is_early && held.is_kept()) {
      was_early_ = true;
      result.breach = std::string("worked on another stream than the one that it was given: ") +
                      "its output was there before that stream had come to the call";
    }
    start = Clock::now();
    held.release();
    driver_.finish(driver_.stream());
  } else {
    start = Clock::now();
    result.status = kernel.apply(&given);
    driver_.make_current();
    driver_.finish(driver_.stream());
  }
  result.time = Clock::now() - start;
  driver_.finish_all();
  if (std::string breach = collect(call); result.breach.empty()) result.breach = std::move(breach);
  return result;
}

}  // namespace rope::worker
