#include "impls/cuda/grid_shim.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "impls/cuda/fiber.hpp"

namespace rope::grid {
namespace {

constexpr unsigned warp_size = 32;

// The limits of a device of compute capability 8.0 and later, and 48 KiB of shared memory, which needs no opt-in.
constexpr Dim3 largest_grid{2147483647, 65535, 65535};
constexpr Dim3 largest_block{1024, 1024, 64};
constexpr std::size_t most_threads = 1024;
constexpr std::size_t most_shared_bytes = 49152;

bool within(const Dim3& size, const Dim3& largest) {
  return size.x >= 1 && size.y >= 1 && size.z >= 1 && size.x <= largest.x && size.y <= largest.y && size.z <= largest.z;
}

std::string text(const Dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

std::optional<std::string> refusal(const Launch& launch) {
  if (!within(launch.grid, largest_grid)) {
    return "a grid of " + text(launch.grid) + " blocks; a device takes 1 to " + text(largest_grid);
  }
  const std::size_t threads = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
  if (!within(launch.block, largest_block) || threads > most_threads) {
    return "a block of " + text(launch.block) + " threads; a device takes 1 to " + text(largest_block) +
           ", 1024 in all";
  }
  if (launch.shared_bytes > most_shared_bytes) {
    return std::to_string(launch.shared_bytes) + " bytes of shared memory; a device has 49152 for every block";
  }
  return std::nullopt;
}

// What a thread of the block does.
enum class State : std::uint8_t { running, at_barrier, in_shuffle, ended };

struct Thread {
  State state = State::running;
  std::unique_ptr<Fiber> fiber;  // of a thread that waits
  int line = 0;                  // at_barrier: which one
  std::uint32_t mask = 0;        // in_shuffle
  std::uint64_t value = 0;
  std::uint64_t received[warp_size] = {};  // what the lanes of the warp had at the last shuffle
};

class Execution;
thread_local Execution* execution = nullptr;  // of this host thread
thread_local Here current;

[[noreturn]] void run_threads();

// Fibers that have no thread, kept from launch to launch: mapping a stack costs more than running a block.
class Pool {
 public:
  std::unique_ptr<Fiber> take() {
    if (idle_.empty()) return std::make_unique<Fiber>(run_threads);
    std::unique_ptr<Fiber> fiber = std::move(idle_.back());
    idle_.pop_back();
    return fiber;
  }
  void give(std::unique_ptr<Fiber> fiber) { idle_.push_back(std::move(fiber)); }

 private:
  std::vector<std::unique_ptr<Fiber>> idle_;
};
thread_local Pool pool;
thread_local Scheduler scheduler;

// One launch: the blocks one after the other. Each thread of a block runs until it waits; then the waiting ones go on.
class Execution {
 public:
  Execution(const Launch& launch, void (*thread)(const void*), const void* argument)
      : launch_(launch),
        thread_(thread),
        argument_(argument),
        outer_(std::exchange(execution, this)),
        outside_(current) {
    threads_.resize(std::size_t{launch.block.x} * launch.block.y * launch.block.z);
    shared_.resize(launch.shared_bytes);
    current.shared = shared_.data();
    current.block_size = launch.block;
    current.grid_size = launch.grid;
  }
  ~Execution() {
    execution = outer_;
    current = outside_;
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  std::optional<std::string> run() {
    Dim3& block = current.block_index;
    for (block.z = 0; block.z < launch_.grid.z; ++block.z) {
      for (block.y = 0; block.y < launch_.grid.y; ++block.y) {
        for (block.x = 0; block.x < launch_.grid.x; ++block.x) {
          if (!run_block()) return fault_;
        }
      }
    }
    return fault_;
  }

  // On a fiber: runs threads that have not begun, until one of them waits or none is left.
  void run_new_threads() {
    while (begun_ < threads_.size()) {
      enter(launch_.reversed ? threads_.size() - 1 - begun_ : begun_);
      ++begun_;
      thread_(argument_);
      threads_[index_].state = State::ended;
    }
  }

  void wait(State state) {
    Thread& thread = threads_[index_];
    thread.state = state;
    thread.fiber = std::move(fiber_);
    ++waiting_;
    thread.fiber->leave(scheduler);
  }

  void wait_at_barrier(int line) {
    if (is_single()) return;
    threads_[index_].line = line;
    wait(State::at_barrier);
  }

  std::uint64_t exchange(std::uint32_t mask, std::uint64_t value, unsigned source) {
    const unsigned lane = static_cast<unsigned>(index_ % warp_size);
    if ((mask >> lane & 1) == 0) complain("a shuffle without its own lane in the mask");
    threads_[index_].mask = mask | std::uint32_t{1} << lane;
    threads_[index_].value = value;
    if (is_single()) {
      threads_[index_].received[lane] = value;
    } else {
      wait(State::in_shuffle);
    }
    const Thread& thread = threads_[index_];
    const bool there = source < warp_size && index_ - lane + source < threads_.size();
    if (!there || (thread.mask >> source & 1) == 0) {
      complain("a shuffle from lane " + std::to_string(source) + ", which takes no part in it");
      return value;
    }
    return thread.received[source];
  }

  void complain(std::string what) {
    if (fault_) return;
    fault_ = std::move(what) + ", in thread " + text(current.thread_index) + " of block " + text(current.block_index);
  }

  // For run_threads.
  void leave_idle() {
    Fiber& fiber = *fiber_;
    pool.give(std::move(fiber_));
    fiber.leave(scheduler);
  }
  void entered() { Fiber::entered(scheduler); }

 private:
  // The only thread of a block waits for nobody, and so needs no fiber: switching costs more than running it.
  bool is_single() const { return threads_.size() == 1; }

  void enter(std::size_t index) {
    index_ = index;
    const auto i = static_cast<unsigned>(index);
    current.thread_index = {i % launch_.block.x, i / launch_.block.x % launch_.block.y,
                            i / launch_.block.x / launch_.block.y};
  }

  bool run_block() {
    std::fill(shared_.begin(), shared_.end(), std::byte{0xff});
    if (is_single()) {
      enter(0);
      thread_(argument_);
      return true;
    }
    for (Thread& thread : threads_) thread.state = State::running;
    begun_ = 0;
    while (begun_ < threads_.size()) {
      fiber_ = pool.take();
      fiber_->resume(scheduler);
    }
    while (waiting_ > 0) {
      if (release_shuffles() || release_barrier()) continue;
      complain_of_waiting();
      return false;  // the stacks of waiting threads are unmapped, with everything on them
    }
    return true;
  }

  // Continues the threads for which `chosen` holds, in the order of the launch.
  template <class Chosen>
  void go_on(const Chosen& chosen) {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const std::size_t index = launch_.reversed ? threads_.size() - 1 - i : i;
      Thread& thread = threads_[index];
      if (!chosen(index)) continue;
      fiber_ = std::move(thread.fiber);
      --waiting_;
      thread.state = State::running;
      enter(index);
      fiber_->resume(scheduler);
    }
  }

  bool release_barrier() {
    for (const Thread& thread : threads_) {
      if (thread.state != State::at_barrier || thread.line != threads_[0].line) return false;
    }
    go_on([](std::size_t) { return true; });
    return true;
  }

  // Releases the first shuffle that all lanes of its mask have reached.
  bool release_shuffles() {
    for (std::size_t first = 0; first < threads_.size(); first += warp_size) {
      const std::size_t end = std::min(first + warp_size, threads_.size());
      for (std::size_t index = first; index < end; ++index) {
        if (threads_[index].state != State::in_shuffle) continue;
        const std::uint32_t mask = threads_[index].mask;
        const auto takes_part = [=](std::size_t i) { return i >= first && i < end && (mask >> (i - first) & 1) != 0; };
        bool complete = true;
        for (std::size_t i = first; i < end; ++i) {
          if (takes_part(i)) complete = complete && threads_[i].state == State::in_shuffle && threads_[i].mask == mask;
        }
        if (!complete) continue;
        for (std::size_t i = first; i < end; ++i) {
          for (std::size_t from = first; from < end; ++from) threads_[i].received[from - first] = threads_[from].value;
        }
        go_on(takes_part);
        return true;
      }
    }
    return false;
  }

  void complain_of_waiting() {
    const auto waits = [](const Thread& t) { return t.state == State::at_barrier || t.state == State::in_shuffle; };
    const auto waiting = std::find_if(threads_.begin(), threads_.end(), waits);
    const auto other = std::find_if(threads_.begin(), threads_.end(), [&](const Thread& t) {
      return t.state != waiting->state || t.line != waiting->line || t.mask != waiting->mask;
    });
    const auto number = [&](auto thread) { return std::to_string(thread - threads_.begin()); };
    const auto does = [](const Thread& t) {
      if (t.state == State::ended) return std::string(" has ended");
      if (t.state == State::at_barrier) return " waits at the barrier of line " + std::to_string(t.line);
      return std::string(" waits in a shuffle");
    };
    if (fault_) return;
    fault_ = "threads that wait for ever, in block " + text(current.block_index) + ": thread " + number(waiting) +
             does(*waiting);
    if (other != threads_.end()) *fault_ += ", thread " + number(other) + does(*other);
  }

  Launch launch_;
  void (*thread_)(const void*);
  const void* argument_;
  Execution* outer_;
  Here outside_;
  std::vector<Thread> threads_;
  std::vector<std::byte> shared_;
  std::unique_ptr<Fiber> fiber_;  // that is running
  std::size_t index_ = 0;         // of the thread that is running
  std::size_t begun_ = 0;         // threads of the block
  std::size_t waiting_ = 0;       // of those
  std::optional<std::string> fault_;
};

void run_threads() {
  execution->entered();
  for (;;) {
    execution->run_new_threads();
    execution->leave_idle();
  }
}

}  // namespace

const Here& here() noexcept { return current; }

void wait_for_block(int line) { execution->wait_at_barrier(line); }

std::uint64_t exchange(std::uint32_t mask, std::uint64_t value, unsigned source) {
  return execution->exchange(mask, value, source);
}

void check_alignment(const void* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes == 0) return;
  execution->complain("an access of " + std::to_string(bytes) + " bytes at an address that is not a multiple of it");
}

std::optional<std::string> run(const Launch& launch, void (*thread)(const void*), const void* argument) {
  if (std::optional<std::string> refused = refusal(launch)) return refused;
  return Execution(launch, thread, argument).run();
}

}  // namespace rope::grid
