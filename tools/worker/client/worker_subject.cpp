#include "tools/worker/client/worker_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "reference/foreign_json.hpp"
#include "tools/judge/call/busy_machine.hpp"
#include "tools/worker/client/answer.hpp"
#include "tools/worker/client/attempt.hpp"
#include "tools/worker/client/call_handing.hpp"
#include "tools/worker/client/call_layout.hpp"
#include "tools/worker/client/call_memory.hpp"
#include "tools/worker/client/call_message.hpp"
#include "tools/worker/client/call_shape.hpp"
#include "tools/worker/client/code_files.hpp"
#include "tools/worker/client/compute_sanitizer.hpp"
#include "tools/worker/client/fault_report.hpp"
#include "tools/worker/client/first_words.hpp"
#include "tools/worker/client/hello.hpp"
#include "tools/worker/client/no_answer.hpp"
#include "tools/worker/client/process_limits.hpp"
#include "tools/worker/client/refusal_hint.hpp"
#include "tools/worker/client/stray_write.hpp"
#include "tools/worker/client/subject_error.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope {
namespace worker {
namespace {

using nlohmann::json;
using Event = WorkerProcess::Event;

// Bytes of shared memory that are not worth the start of a process. 4 MiB are for small tensors, and mostly holes.
constexpr std::size_t most_kept_memory = std::size_t{12} << 20;

constexpr std::string_view bye = "{\"op\":\"bye\"}\n";

Reply reply_of(const WorkerEnd& end) { return {end.kind, ROPE_FAILED, end.sentence, 0, end.access}; }

// By all processes of a subject.
struct Shared {
  AdaptiveDeadline patience;
  FirstClaims first_claims;
};

class Worker final : public WorkerSubject {
 public:
  Worker(const Launch& launch, std::string name, const WorkerOptions& options, std::shared_ptr<Shared> shared)
      : launch_(launch), name_(std::move(name)), options_(options), shared_(std::move(shared)) {
    launch_.sandbox = options_.sandbox;
    start();
  }

  ~Worker() override {
    if (process_ && process_->alive()) say_bye();
  }

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  std::string claims_note() const override { return hello_.claims_note; }
  Reply apply(Call& call) override { return apply(call, options_.placement); }
  Reply apply_at_start(Call& call) override { return apply(call, Placement::at_start); }

  Reply apply(Call& call, Placement placement) override { return reply_to(bound(call), nullptr, placement); }

  std::int64_t deaths() const override { return deaths_; }

  std::vector<std::string> code_files() const override {
    return process_ && process_->alive() ? code_files_of(process_->pid()) : std::vector<std::string>{};
  }

  bool end() override {
    if (!process_ || !process_->alive()) return false;
    say_bye();
    if (process_->ends_within(options_.first_call_deadline)) return true;
    process_->kill();
    return false;
  }

  SanitizerReport apply_under(SanitizerTool tool, std::span<Call> calls) override {
    if (!claims_.compiled || claims_.capabilities.device != ROPE_CUDA) return Subject::apply_under(tool, calls);
    if (process_) process_->kill();  // a device may serve only one process
    return run_sanitized(launch_, name_, options_, tool, calls);
  }

  Opener opener() const override {
    // A device may serve only one process, and its memory may hold only one kernel's tensors.
    if (options_.only_one || claims_.capabilities.device != ROPE_CPU) return {};
    return [launch = launch_, name = name_, options = options_, shared = shared_] {
      return std::make_unique<Worker>(launch, name, options, shared);
    };
  }

  bool renew() override {
    if (process_) process_->kill();
    return true;
  }

  TensorMemory* tensor_memory() override {
    return claims_.compiled && claims_.capabilities.device == ROPE_CPU && !claims_.capabilities.overwrites_inputs
               ? &memory_->lent()
               : nullptr;
  }

  // Shared memory cannot be made smaller: that would be a hole in what a worker must not write.
  void give_back_memory() override {
    if (!claims_.compiled || is_memory_new_) return;
    if (memory_->bytes() <= most_kept_memory) return;
    process_->kill();
    renew_memory();
  }

  std::optional<Reply> apply_concurrently(Call& call, Call& companion) override {
    if (!claims_.concurrent_calls) return std::nullopt;
    const BoundCall other = bound(companion);
    return reply_to(bound(call), &other, options_.placement);
  }

 private:
  BoundCall bound(Call& call) const {
    BoundCall result{call};
    result.bound.device = claims_.capabilities.device;
    return result;
  }

  // If one process has no room, another may have: the kernel's earlier calls may have taken it all. If that one has
  // none either, nothing can be said about the kernel.
  Attempt attempt(const BoundCall& judged, const BoundCall* companion, Placement placement,
                  std::optional<TimeLimits> again_with) {
    try {
      return attempt_once(judged, companion, placement, again_with);
    } catch (const NoRoom&) {
      process_->kill();
    }
    try {
      return attempt_once(judged, companion, placement, again_with);
    } catch (const NoRoom& error) {
      process_->kill();
      throw SubjectError(fmt::format("{} cannot be judged here: {}", name_, error.what()));
    }
  }

  Reply reply_to(const BoundCall& judged, const BoundCall* companion, Placement placement) {
    const auto make = [&](std::optional<TimeLimits> limits) {
      Attempt made = attempt(judged, companion, placement, limits);
      deaths_ += made.died ? 1 : 0;
      return made;
    };
    const Attempt first = make(std::nullopt);
    return settled(first, options_.limits(std::max(options_.deadline, compiling_)), hangs_, make);
  }

  // How long the next call may take. `usual`: for computing.
  TimeLimits limits_of_call(bool is_first, std::size_t bytes, std::chrono::milliseconds usual) const {
    if (!hangs_.patience.is_lost()) return options_.limits(usual);
    // Others may compile anew for each shape.
    if (claims_.compiled) usual = hangs_.patience.after_a_hang(is_first, bytes, usual);
    return {usual, usual, options_.limits(usual).waiting};  // the kernel fails in any case
  }

  Attempt attempt_once(const BoundCall& judged, const BoundCall* companion, Placement placement,
                       std::optional<TimeLimits> again_with) {
    try {
      if (!process_ || !process_->alive()) start();
    } catch (const SubjectError& error) {
      return {{ReplyKind::crashed, ROPE_FAILED, fmt::format("could not be started again: {}", error.what()), 0}};
    }
    const std::size_t alignment = std::max<std::size_t>(claims_.capabilities.alignment, 1);
    LayoutRules rules{alignment, placement, claims_.far_tensors};
    rules.overwrites_inputs = claims_.capabilities.overwrites_inputs != 0;
    rules.lent = &memory_->lent();
    rules.has_rooms = is_host() && hello_.space.has_rooms(whole_pages(1));
    CallLayout layout = lay_out(judged.call, rules);
    if (companion != nullptr) lay_out_beside(layout, companion->call, rules);
    process_->forget_output();
    ++id_;
    send_call(judged, companion, layout);
    const bool is_first = first_deadline_.has_value();
    const bool compiles = claims_.capabilities.compiles_each_shape != 0 && shapes_.is_new(judged.call);
    const std::chrono::milliseconds deadline = std::exchange(first_deadline_, std::nullopt).value_or(options_.deadline);
    const std::chrono::milliseconds longer = std::max({deadline, options_.first_call_deadline, compiling_});
    const std::size_t bytes = layout.input_bytes + layout.output_bytes;
    const TimeLimits usual = limits_of_call(is_first, bytes, compiles ? longer : deadline);
    Attempt made{{}, again_with.value_or(usual)};
    const auto sent = std::chrono::steady_clock::now();
    const WorkerProcess::Received heard = process_->hear(made.limits);
    if (heard.event == Event::starved) {
      process_->kill();
      throw BusyMachine(
          fmt::format("{}: a call was not done: {}", name_,
                      starved(process_->work_times(), made.limits, is_first ? "--first-deadline" : "--deadline")));
    }
    if (heard.event == Event::deadline) {
      made.computed = process_->work_times().computed >= made.limits.computing;
      made.reply = reply_of_hang(*process_, made.limit(), made.computed);
    } else {
      made.reply = understand(heard, layout);
    }
    Reply& reply = made.reply;
    made.died = !process_->alive();
    if (reply.kind == ReplyKind::done) hangs_.patience.learn(is_first, bytes, std::chrono::steady_clock::now() - sent);
    memory_->restore_outputs();
    if (reply.kind == ReplyKind::done && reply.status == ROPE_OK) return made;
    const std::string output = process_->output();
    if (reply.kind == ReplyKind::crashed || reply.raised) {
      const std::size_t first_line = std::min(reply.detail.find('\n'), reply.detail.size());
      reply.detail.insert(first_line, refusal_hint(*process_, reply.detail + "\n" + output));
    }
    if (!output.empty()) reply.detail += (reply.detail.empty() ? "printed:\n" : "; it printed last:\n") + output;
    return made;
  }

  void renew_memory() {
    memory_.emplace(is_host());
    memory_->lent().align_to(std::max<std::size_t>(claims_.capabilities.alignment, 1));
    is_memory_new_ = true;
  }

  void start() {
    // What an earlier process, or one that it left behind, does to its memory must not reach this one.
    if (!is_memory_new_) renew_memory();
    is_memory_new_ = false;
    shapes_.forget();
    process_.emplace(launch_, memory_->inputs(), memory_->outputs(), options_.stop);
    const json words = first_words(*process_, "hello", options_.limits(options_.load_deadline));
    try {
      Claims claims;
      hello_ = read_hello(words, claims, launch_.program);
      shared_->first_claims.check(claims);
      if (!std::exchange(has_claims_, true)) claims_ = std::move(claims);  // once: copies point to its head_dims
      if (hello_.in_caller) process_->computes_in_caller();
      if (name_.empty() || name_.back() == '#') name_ += shown_name_in(words);
      compiling_ = options_.first_call_is_limited ? std::min(hello_.first_call, options_.first_call_deadline)
                                                  : hello_.first_call;
      // A kernel that hung once and does not announce a compiler is not compiling.
      const bool hung = hangs_.patience.is_lost();
      first_deadline_ = std::max(hung ? options_.deadline : options_.first_call_deadline, compiling_);
    } catch (const SubjectError&) {
      process_->kill();
      throw;
    } catch (const std::exception& error) {  // from the JSON library or our own reading: both say what is wrong
      process_->kill();
      throw SubjectError(fmt::format("the worker's hello cannot be used: {}", error.what()));
    }
    if (claims_.capabilities.device == ROPE_CPU) limit_memory(process_->pid());
    memory_->lent().align_to(std::max<std::size_t>(claims_.capabilities.alignment, 1));
    last_words_.clear();
  }

  bool is_host() const { return launch_.program == WorkerProgram::library_host; }

  void say_bye() { process_->send(is_host() ? handed_end() : std::string(bye)); }

  void send_call(const BoundCall& judged, const BoundCall* companion, const CallLayout& layout) {
    std::string words =
        is_host() ? handed_calls(judged, companion, layout, hello_.space) : call_message(judged, companion, layout);
    const bool known = words == last_words_ && starts_of(layout) == last_starts_;
    memory_->put(layout, known);
    if (is_host()) {
      process_->send(handed(id_, companion != nullptr, layout, words));
    } else if (known) {
      process_->send(fmt::format("{{\"id\":{},\"op\":\"call\",\"plan\":{}}}\n", id_, plan_));
    } else {
      process_->send(
          fmt::format("{{\"id\":{},\"op\":\"call\",\"plan\":{},\"fn\":\"apply\",{}}}\n", id_, ++plan_, words));
    }
    if (known) return;
    last_words_ = std::move(words);
    last_starts_ = starts_of(layout);
  }

  // Kills the process whenever it cannot be trusted any more.
  Reply understand(const WorkerProcess::Received& heard, const CallLayout& layout) {
    if (heard.event == Event::died) return reply_of_end(*process_);
    if (std::optional<Reply> usual = usual_reply(heard.text, id_)) return accepted(std::move(*usual), layout);
    std::string why;
    try {
      const json message = parse_json_line(heard.text);
      if (message.is_object() && message.contains("fault")) {
        const WorkerEnd end = describe_fault(message.at("fault"), layout, hello_.space);
        process_->hear(last_breath);
        process_->kill();
        if (end.lacks_instruction && !has_answered_) {
          throw SubjectError(
              fmt::format("{} cannot run here: it {}; build it for this machine, or run it where it was built", name_,
                          end.sentence));
        }
        return reply_of(end);
      }
      if (message.is_object() && message.contains("ended")) {
        say_bye();
        process_->ends_within(options_.deadline);
        process_->kill();
        return {ReplyKind::crashed, ROPE_FAILED, wire::printable(message.at("ended").get<std::string>(), 1 << 12), 0};
      }
      if (message.is_object() && message.value("op", "") == "refused") {
        process_->kill();
        return {ReplyKind::crashed, ROPE_FAILED,
                "its worker gave up: " + wire::printable(message.value("msg", ""), 1 << 12), 0};
      }
      if (message.is_object() && message.at("id") == id_) return answered(message, layout);
    } catch (const NoRoom&) {
      throw;
    } catch (const SubjectError&) {
      throw;
    } catch (const NotJson&) {
      // Shown below.
    } catch (const InputError& error) {
      why = error.what();
    } catch (const std::exception&) {
      // About a member that is missing, has another type or is not a number; the worker's line is shown below.
    }
    process_->kill();
    return {ReplyKind::misbehaved, ROPE_FAILED,
            fmt::format("spoke something else than the worker protocol: {}{}{}", wire::printable(why, 400),
                        why.empty() ? "" : ": ", wire::printable(heard.text, 200)),
            0};
  }

  Reply answered(const json& message, const CallLayout& layout) {
    if (message.at("ok").get<bool>()) return accepted(reply_said_in(message), layout);
    has_answered_ = true;
    return reply_of_error(message.at("error"), claims_.compiled);
  }

  Reply accepted(Reply reply, const CallLayout& layout) {
    has_answered_ = true;
    memory_->take_back(layout);
    for (const TensorMapping& placed : layout.tensors) {
      if (placed.read_only || placed.shares) continue;
      if (auto stray = stray_write(placed, memory_->pages(placed), layout)) {
        last_words_.clear();  // the canary must be filled in again
        reply.kind = ReplyKind::misbehaved;
        reply.detail = std::move(stray->sentence);
        reply.access = std::move(stray->access);
      }
    }
    return reply;
  }

  Launch launch_;
  std::string name_;
  WorkerOptions options_;
  Claims claims_;
  bool has_claims_ = false;
  Hello hello_;  // of the process that runs, or ran last
  std::optional<CallMemory> memory_;
  bool is_memory_new_ = false;  // no process has it
  std::optional<WorkerProcess> process_;
  bool has_answered_ = false;
  ShapesMet shapes_;  // if it compiles for each
  std::shared_ptr<Shared> shared_;
  EarlierHangs hangs_{shared_->patience};
  std::optional<std::chrono::milliseconds> first_deadline_;  // none: the process has got a call
  std::chrono::milliseconds compiling_{};                    // what the worker asks for its first call
  std::int64_t deaths_ = 0;
  std::int64_t id_ = 0;
  std::int64_t plan_ = 0;
  // Of the last call; no words: of none.
  std::string last_words_;
  std::vector<std::size_t> last_starts_;
};

}  // namespace
}  // namespace worker

std::unique_ptr<WorkerSubject> open_worker(const worker::Launch& launch, std::string name,
                                           const WorkerOptions& options) {
  return std::make_unique<worker::Worker>(launch, std::move(name), options, std::make_shared<worker::Shared>());
}

}  // namespace rope
