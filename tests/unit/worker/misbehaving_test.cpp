// Each thing that a kernel can do to its process is reported in a sentence, and the run goes on.
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>

#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"
#include "tools/judge/call/busy_machine.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Catch::StartsWith;

WorkerOptions impatient() {
  WorkerOptions options;
  options.first_call_deadline = std::chrono::seconds(20);
  options.deadline = options.wall_deadline = std::chrono::milliseconds(300);
  return options;
}

Reply reply_of(const char* kernel, Placement placement = Placement::at_end) {
  Call call = small_call();
  return open_library(misbehaving, kernel, impatient())->apply(call, placement);
}

struct Expected {
  const char* kernel;
  ReplyKind kind;
  const char* sentence;  // its beginning
};

// AddressSanitizer sees a double free before the C library does.
#if defined(__SANITIZE_ADDRESS__)
constexpr const char* double_freed = "ended its process with exit status 1 in the middle of the call";
#else
constexpr const char* double_freed = "aborted (SIGABRT)";
#endif

const Expected deeds[] = {
    {"null_write", ReplyKind::crashed, "wrote to address 0x0 (a null pointer), in misbehaving.so+0x"},
    {"write_past_end", ReplyKind::misbehaved, "wrote 1 element past the end of q_out (element 1024 of 1024)"},
    {"write_before_start", ReplyKind::misbehaved, "wrote 1 element before the start of q_out (element -1 of 1024)"},
    {"read_far_away", ReplyKind::misbehaved, "read 2147483638 elements before the start of q (element -2147483638"},
    {"read_past_table", ReplyKind::misbehaved, "read cos at row 32, beyond its 32 rows, in misbehaving.so+0x"},
    {"write_to_input", ReplyKind::misbehaved, "wrote to the input q at [0, 1, 0, 5]; inputs must stay as they are"},
    {"give_up", ReplyKind::crashed, "aborted (SIGABRT)"},
    {"exit_politely", ReplyKind::crashed, "ended its process with exit status 0 in the middle of the call"},
    {"exit_at_once", ReplyKind::crashed, "ended its process with exit status 3 in the middle of the call"},
    {"stack_overflow", ReplyKind::crashed, "overflowed its stack, in misbehaving.so+0x"},
    {"double_free", ReplyKind::crashed, double_freed},
    {"divide_by_zero", ReplyKind::crashed, "trapped in arithmetic, for example an integer division by zero"},
    {"close_all", ReplyKind::misbehaved, "closed files that are not its own"},
    {"status_7", ReplyKind::misbehaved, "returned status 7; rope_status has 0 to 3"},
    {"orphan", ReplyKind::crashed, "was killed from outside, for example because memory ran out (SIGKILL)"},
    {"garbage", ReplyKind::misbehaved, "spoke something else than the worker protocol: {\"id\":"},
};

TEST_CASE("what a kernel does to its process is reported in a sentence") {
  const Expected& expected = GENERATE(from_range(std::begin(deeds), std::end(deeds)));
  INFO(expected.kernel);
  const auto subject = open_library(misbehaving, expected.kernel, impatient());
  // Twice: the second call finds a new process.
  for (int i = 0; i < 2; ++i) {
    Call call = small_call();
    const Reply reply = subject->apply(call);
    CHECK(reply.kind == expected.kind);
    CHECK_THAT(reply.detail, StartsWith(expected.sentence));
  }
}

#if defined(__x86_64__)
TEST_CASE("an instruction that this machine lacks ends the run if it is in the first call, a trap is a finding") {
  CHECK_THROWS_WITH(reply_of("illegal_instruction"),
                    Contains("misbehaving.so#illegal_instruction cannot run here: it ran an instruction that this "
                             "machine does not have, in misbehaving.so+0x"));
  const Reply trapped = reply_of("trap");
  CHECK(trapped.kind == ReplyKind::crashed);
  CHECK_THAT(trapped.detail, StartsWith("ran into a trap"));
  const auto later = open_library(misbehaving, "illegal_later", impatient());
  Call call = small_call();
  CHECK(later->apply(call).status == ROPE_OK);
  CHECK_THAT(later->apply(call).detail, StartsWith("ran an instruction that this machine does not have"));
}
#endif

TEST_CASE("a placement at the start catches accesses before it") {
  const Reply read = reply_of("read_before_start", Placement::at_start);
  CHECK(read.kind == ReplyKind::misbehaved);
  CHECK_THAT(read.detail,
             StartsWith("read 1 element before the start of q (element -1 of 1024), in misbehaving.so+0x"));
  CHECK_THAT(reply_of("write_before_start", Placement::at_start).detail,
             StartsWith("wrote 1 element before the start of q_out (element -1 of 1024), in misbehaving.so+0x"));
  CHECK_THAT(reply_of("write_past_end", Placement::at_start).detail,
             StartsWith("wrote 1 element past the end of q_out (element 1024 of 1024)"));
}

TEST_CASE("a write between a tensor and its inaccessible page is seen after the call") {
  const Placement placement = GENERATE(Placement::at_end, Placement::at_start);
  const auto [kernel, sentence] = GENERATE(table<const char*, const char*>(
      {{"write_past_end", "wrote 1 element past the end of q_out (element 512 of 512)"},
       {"write_before_start", "wrote 1 element before the start of q_out (element -1 of 512)"}}));
  Call call = small_call();
  call.q_out = Tensor::contiguous(DType::f32, {1, 8, 1, 64});  // half a page
  const auto subject = open_library(misbehaving, kernel, impatient());
  for (int i = 0; i < 2; ++i) {
    const Reply reply = subject->apply(call, placement);
    CHECK(reply.kind == ReplyKind::misbehaved);
    CHECK_THAT(reply.detail, StartsWith(sentence));
  }
}

TEST_CASE("an endless loop ends at the deadline, which is longer for the first call of a process") {
  WorkerOptions options = impatient();
  options.first_call_deadline = std::chrono::milliseconds(600);
  const auto subject = open_library(misbehaving, "endless", options);
  // The first call is tried again; on a busy machine with its own deadline, since it may have waited. A later one is
  // not.
  for (const auto& [least, words] :
       {std::pair(900, "did not return within 0."), {300, "did not return within 0.3 s"}}) {
    Call call = small_call();
    const auto start = std::chrono::steady_clock::now();
    const Reply reply = subject->apply(call);
    const auto took = std::chrono::steady_clock::now() - start;
    CHECK(reply.kind == ReplyKind::timed_out);
    CHECK_THAT(reply.detail, StartsWith(words) && Contains(" s; its process was killed"));
    CHECK(took >= std::chrono::milliseconds(least));
    CHECK(took < std::chrono::seconds(5));
  }
}

TEST_CASE("a hang counts only if it happens again in a new process") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("ropecheck_hang_once." + std::to_string(getpid()));
  setenv("HANG_ONCE_FILE", file.c_str(), 1);
  WorkerOptions options = impatient();
  options.first_call_deadline = options.deadline;
  const auto subject = open_library(misbehaving, "hang_once", options);
  Call call = small_call();
  const Reply reply = subject->apply(call);
  unsetenv("HANG_ONCE_FILE");
  CHECK(reply.kind == ReplyKind::done);
  CHECK(reply.status == ROPE_OK);
  CHECK(reply.detail == "did not return within 0.3 s; tried again in a new process, it did");
  CHECK(is_right(call));
  const Reply next = subject->apply(call);
  CHECK(next.kind == ReplyKind::done);
  CHECK(next.detail.empty());
  std::filesystem::remove(file);

  Call other = small_call();
  const Reply endless = open_library(misbehaving, "endless", options)->apply(other);
  CHECK(endless.kind == ReplyKind::timed_out);
  CHECK_THAT(endless.detail, StartsWith("did not return within 0.3 s; its process was killed, twice in a row"));
}

TEST_CASE("after a hang a call may take a second, or much longer than others did, and not the whole deadline") {
  WorkerOptions options;
  options.deadline = options.first_call_deadline = std::chrono::milliseconds(1500);
  const auto subject = open_library(misbehaving, "endless_from_offset", options);
  const auto within = [&](std::int64_t offset) {
    Call call = small_call();
    call.position_offset = offset;
    return subject->apply(call).detail;
  };
  CHECK(within(0).empty());
  CHECK_THAT(within(1), StartsWith("did not return within 1.5 s"));
  CHECK(within(0).empty());  // the first call of the next process
  CHECK_THAT(within(1), StartsWith("did not return within 1 s"));
  CHECK_THAT(within(1), StartsWith("did not return within 1 s"));  // the same, as the first call of its process
}

// Keeps the first CPU from whatever asks for it modestly, as long as it lives.
class BusyCpu {
 public:
  BusyCpu() : pid_(fork()) {
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
    for (volatile int never = 0; never == 0;) {
    }
  }
  ~BusyCpu() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

TEST_CASE("a process that waits for a CPU has more time; if it waits too long, nothing is said about the kernel") {
  WorkerOptions options;
  options.deadline = options.first_call_deadline = options.wall_deadline = std::chrono::milliseconds(1000);
  const auto subject = open_library(misbehaving, "starved", options);
  const BusyCpu busy;
  Call call = small_call();
  const auto start = std::chrono::steady_clock::now();
  const Reply reply = subject->apply(call);
  CHECK(std::chrono::steady_clock::now() - start > std::chrono::milliseconds(1500));  // of the wall clock
  CHECK(reply.kind == ReplyKind::done);
  CHECK_FALSE(reply.succeeded_on_retry);
  CHECK(is_right(call));

  options.longest_wait = options.deadline;
  call.position_offset = 1;
  const auto hurried = open_library(misbehaving, "starved", options);
  CHECK_THROWS_AS(hurried->apply(call), BusyMachine);
  CHECK_THROWS_WITH(hurried->apply(call),
                    StartsWith(hurried->name() + ": a call was not done: the machine is too busy: "
                                                 "it waited ") &&
                        Contains("s; run it again when less runs, or with --first-deadline 2"));
}

TEST_CASE("a process that waits for a CPU while it is loaded says nothing about the subject") {
  WorkerOptions options;
  options.load_deadline = options.wall_deadline = options.longest_wait = std::chrono::milliseconds(500);
  worker::Launch launch;
  launch.arguments = {"taskset", "-c", "0", "nice", "-n", "15", "sh", "-c", "while :; do :; done"};
  const BusyCpu busy;
  CHECK_THROWS_AS(open_worker(launch, "", options), BusyMachine);
  CHECK_THROWS_WITH(open_worker(launch, "", options),
                    StartsWith("the subject was not loaded: the machine is too busy: it waited ") &&
                        Contains("s; run it again when less runs, or with --first-deadline 1"));
}

TEST_CASE("a process that sleeps ends at the wall clock, and a child that computes counts") {
  WorkerOptions options = impatient();
  options.first_call_deadline = options.deadline;
  options.wall_deadline = std::chrono::milliseconds(800);
  const auto hung = [&](const char* kernel) {
    Call call = small_call();
    return open_library(misbehaving, kernel, options)->apply(call).detail;
  };
  CHECK_THAT(hung("sleeps"),
             StartsWith("did not return within 0.8 s; its process was killed, twice in a row; it mostly "
                        "slept"));
  CHECK_THAT(hung("endless_in_child"),
             StartsWith("did not return within 0.3 s; its process was killed, twice in a row") && !Contains("slept"));
}

TEST_CASE("earlier output is part of the report") {
  CHECK_THAT(reply_of("give_up").detail, Contains("it printed last:\nassertion failed: the moon is full"));
  CHECK_THAT(reply_of("double_free").detail, Contains("double free") || Contains("double-free"));
  const Reply declined = reply_of("decline");
  CHECK(declined.kind == ReplyKind::done);
  CHECK(declined.status == ROPE_UNSUPPORTED);
  CHECK(declined.detail == "printed:\nno such head_dim");
}

TEST_CASE("noise, lines like the protocol's, and closed files do no harm") {
  const char* kernel = GENERATE("right", "noise", "protocol_lines", "close_low");
  INFO(kernel);
  const auto subject = open_library(misbehaving, kernel, impatient());
  for (int i = 0; i < 5; ++i) {
    Call call = small_call();
    const Reply reply = subject->apply(call, i % 2 == 0 ? Placement::at_end : Placement::at_start);
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.status == ROPE_OK);
    CHECK(reply.detail.empty());
    CHECK(reply.nanoseconds > 0);
    CHECK(is_right(call));
  }
}

TEST_CASE("outputs that a kernel does not write stay unchanged") {
  Call call = small_call();
  const Reply reply = open_library(misbehaving, "partial", impatient())->apply(call);
  CHECK(reply.kind == ReplyKind::done);
  const auto half = static_cast<std::ptrdiff_t>(call.q_out->bytes.size() / 2);
  CHECK(std::all_of(call.q_out->bytes.begin() + half, call.q_out->bytes.end(),
                    [](std::byte b) { return b == std::byte{0xee}; }));
  CHECK(call.q_out->bytes[0] != std::byte{0xee});
}

TEST_CASE("an escaped C++ exception is reported with its text") {
  const auto subject = open_library(build_folder() / "throwing.so", "", impatient());
  CHECK_THAT(subject->name(), Catch::EndsWith("throwing.so#throws"));
  Call call = small_call();
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK_THAT(reply.detail, StartsWith("let a C++ exception escape from a C function: std::out_of_range: row 40 of 32"));
  REQUIRE(reply.raised);
  CHECK_THAT(reply.raised->what, StartsWith("std::out_of_range: row 40 of 32"));
}

TEST_CASE("an exception is the kernel's, whatever its class is called") {
  const std::pair<const char*, const char*> thrown[] = {
      {"no_room", "no_room: std::exception"},
      {"invalid_argument", "invalid_argument: odd"},
      {"bad_alloc", "std::bad_alloc"},
      {"cannot_place", "rope::worker::CannotPlace: no room at all"},
      {"cuda_error", "rope::worker::CudaError: lost"}};
  for (const auto& [kernel, what] : thrown) {
    INFO(kernel);
    Call call = small_call();
    const Reply reply = open_library(build_folder() / "odd_answers.so", kernel, impatient())->apply(call);
    CHECK(reply.kind == ReplyKind::misbehaved);
    REQUIRE(reply.raised);
    CHECK_THAT(reply.raised->what, StartsWith(what));
  }
}

TEST_CASE("a status counts with all its bits") {
  const std::pair<const char*, const char*> returned[] = {
      {"returns_256", "returned status 256;"}, {"returns_2_16", "returned status 65536;"},
      {"returns_least", "returned status -2147483648;"}};
  for (const auto& [kernel, words] : returned) {
    Call call = small_call();
    const Reply reply = open_library(build_folder() / "odd_answers.so", kernel, impatient())->apply(call);
    CHECK(reply.kind == ReplyKind::misbehaved);
    CHECK_THAT(reply.detail, StartsWith(words));
  }
}

TEST_CASE("hangs that a new process recovers are marked, and after three of them a hang counts at once") {
  const auto subject = open_library(build_folder() / "hanging.so", "every_50th", impatient());
  int recovered = 0, calls = 0;
  Reply reply;
  for (; calls < 400 && reply.kind == ReplyKind::done; ++calls) {
    Call call = small_call();
    reply = subject->apply(call);
    recovered += reply.succeeded_on_retry ? 1 : 0;
  }
  CHECK(recovered == 3);
  CHECK(calls == 4 * 49 + 1);  // the call that hung is the first one of the next process
  CHECK(reply.kind == ReplyKind::timed_out);
  CHECK_FALSE(reply.succeeded_on_retry);
}

std::size_t open_files() {
  std::size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

std::size_t children() {
  std::ifstream list("/proc/thread-self/children");
  std::size_t count = 0;
  for (std::string pid; list >> pid;) ++count;
  return count;
}

TEST_CASE("nothing is left behind: no file, no process, no zombie") {
  const std::size_t files = open_files();
  const std::size_t processes = children();
  WorkerOptions options = impatient();
  options.first_call_deadline = options.deadline;
  for (const char* kernel : {"right", "null_write", "endless", "orphan", "daemon_process", "close_all"}) {
    Call call = small_call();
    open_library(misbehaving, kernel, options)->apply(call);
    CHECK(open_files() == files);
    CHECK(children() == processes);
  }
}

// The state letter of a process, as in proc(5); 'X' if there is no process.
char state_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number;
  std::string name;
  char state = 'X';
  stat >> number >> name >> state;
  return state;
}

bool has_ended(pid_t pid) { return state_of(pid) == 'X' || state_of(pid) == 'Z'; }

template <class Condition>
bool within_ten_seconds(Condition&& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) usleep(10'000);
  return condition();
}

TEST_CASE("processes that a kernel started end with its worker") {
  const std::string text = reply_of("orphan").detail;
  const std::size_t line = text.find('\n');
  REQUIRE(line != std::string::npos);
  const pid_t child = std::stoi(text.substr(line + 1));
  REQUIRE(child > 0);
  CHECK(within_ten_seconds([&] { return has_ended(child); }));
}

TEST_CASE("a process that a kernel started in its own session ends with its worker, at once and without a zombie") {
  const std::int64_t lives_on = GENERATE(0, 1);
  CAPTURE(lives_on);
  Call call = small_call();
  call.position_offset = lives_on;
  auto subject = open_library(misbehaving, "daemon_process", impatient());
  const std::string text = subject->apply(call).detail;
  const std::size_t line = text.find('\n');
  REQUIRE(line != std::string::npos);
  pid_t child = 0;
  pid_t grandchild = 0;
  std::istringstream(text.substr(line + 1)) >> child >> grandchild;
  REQUIRE(child > 0);
  REQUIRE(grandchild > 0);
  if (lives_on == 1) {
    CHECK_FALSE(has_ended(child));
    CHECK_FALSE(has_ended(grandchild));
  }
  subject.reset();
  CHECK(state_of(child) == 'X');
  CHECK(state_of(grandchild) == 'X');
}

TEST_CASE("a child of this program that no worker started is not touched") {
  const pid_t own = fork();
  if (own == 0) {
    setsid();
    sleep(100);
    _exit(0);
  }
  reply_of("daemon_process");
  CHECK_FALSE(has_ended(own));
  kill(own, SIGKILL);
  waitpid(own, nullptr, 0);
}

TEST_CASE("an element is named by its index if tokens lie in reverse order") {
  Call call = small_call();
  call.q.strides[1] = -call.q.strides[1];
  call.q.origin = 7 * 128;
  const Reply reply = open_library(misbehaving, "write_to_input")->apply(call, Placement::at_end);
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK_THAT(reply.detail, StartsWith("wrote to the input q at [0, 1, 0, 5]; inputs must stay as they are"));
}

TEST_CASE("a kernel that claims to overwrite its inputs may; one of an older header claims nothing of that") {
  CHECK(reply_of("write_to_input_as_claimed").kind == ReplyKind::done);
  const Reply old = reply_of("old_struct");
  CHECK(old.kind == ReplyKind::misbehaved);
  CHECK_THAT(old.detail, Contains("inputs must stay as they are, unless overwrites_inputs is claimed"));
}

TEST_CASE("an input cannot be made writable") {
  const Reply reply = reply_of("unprotect");
  CHECK(reply.kind == ReplyKind::done);
  CHECK(reply.status == ROPE_UNSUPPORTED);
}

TEST_CASE("a worker in an endless loop does not outlive a suite that is killed") {
  const pid_t suite = fork();
  if (suite == 0) {
    Call call = small_call();
    open_library(misbehaving, "endless")->apply(call);
    _exit(0);
  }
  const std::string list = "/proc/" + std::to_string(suite) + "/task/" + std::to_string(suite) + "/children";
  pid_t worker = 0;
  CHECK(within_ten_seconds([&] { return static_cast<bool>(std::ifstream(list) >> worker); }));
  usleep(100'000);  // long enough to be in the call
  CHECK(state_of(worker) == 'R');
  kill(suite, SIGKILL);
  waitpid(suite, nullptr, 0);
  CHECK(within_ten_seconds([&] { return has_ended(worker); }));
}

}  // namespace
}  // namespace rope
