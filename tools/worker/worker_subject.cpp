#include "tools/worker/worker_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tools/worker/call_layout.hpp"
#include "tools/worker/call_message.hpp"
#include "tools/worker/canary.hpp"
#include "tools/worker/claims_text.hpp"
#include "tools/worker/fault_report.hpp"
#include "tools/worker/first_words.hpp"
#include "tools/worker/subject_error.hpp"
#include "tools/worker/wire.hpp"

namespace rope {
namespace worker {
namespace {

using nlohmann::json;
using Event = WorkerProcess::Event;

constexpr std::chrono::milliseconds last_breath{2000};  // between the report of a fault and the end of the process

Reply reply_of(const Finding& finding) { return {finding.kind, ROPE_FAILED, finding.sentence, 0}; }

// A worker in another language answers errors by name, PROTOCOL.md.
std::optional<std::int32_t> status_named(std::string_view type) {
  if (type == "unsupported") return ROPE_UNSUPPORTED;
  if (type == "invalid_argument") return ROPE_INVALID_ARGUMENT;
  if (type == "failed") return ROPE_FAILED;
  return std::nullopt;
}

class Worker final : public WorkerSubject {
 public:
  Worker(const Launch& launch, std::string name, const WorkerOptions& options)
      : launch_(launch), name_(std::move(name)), options_(options) {
    start();
  }

  ~Worker() override {
    if (process_ && process_->alive()) process_->send(R"({"op":"bye"})");
  }

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  Reply apply(Call& call) override { return apply(call, options_.placement); }

  Reply apply(Call& call, Placement placement) override {
    try {
      if (!process_ || !process_->alive()) start();
    } catch (const SubjectError& error) {
      return {ReplyKind::crashed, ROPE_FAILED, fmt::format("could not be started again: {}", error.what()), 0};
    }
    const rope_call bound = bind(call);
    const CallLayout layout = lay_out(call, std::max<std::size_t>(claims_.capabilities.alignment, 1), placement);
    inputs_.reserve(layout.input_bytes);
    outputs_.reserve(layout.output_bytes);
    process_->forget_output();
    ++id_;
    send_call(bound, call, layout);
    const std::chrono::milliseconds deadline = std::exchange(next_deadline_, options_.deadline);
    const WorkerProcess::Heard heard = process_->hear(deadline);
    Reply reply = heard.event == Event::deadline ? give_up_after(deadline) : understand(heard, layout);
    if (reply.kind == ReplyKind::done && reply.status == ROPE_OK) return reply;
    const std::string output = process_->output();
    if (!output.empty()) reply.detail += (reply.detail.empty() ? "printed:\n" : "; it printed last:\n") + output;
    return reply;
  }

 private:
  void start() {
    process_.emplace(launch_, inputs_, outputs_);
    const json hello = first_words(*process_, "hello", options_.first_call_deadline);
    try {
      claims_.capabilities = claims_from_json(hello.at("claims"), claims_.head_dims);
      // In a copy of Claims this pointer would still be right as long as this subject lives.
      claims_.capabilities.head_dims = claims_.head_dims.empty() ? nullptr : claims_.head_dims.data();
      native_ = hello.value("kind", "") == "native";
      guarded_ = hello.value("views", false);
      space_ = {hello.value("base", std::uint64_t{0}), hello.value("slot", std::uint64_t{0})};
      if (name_.empty() || name_.back() == '#') name_ += hello.at("name").get<std::string>();
      const std::chrono::duration<double> asked(hello.value("first_call_s", 0.0));
      const auto first =
          std::max(options_.first_call_deadline, std::chrono::duration_cast<std::chrono::milliseconds>(asked));
      // Whatever hung once is not compiling.
      next_deadline_ = hung_ ? options_.deadline : first;
    } catch (const std::exception& error) {  // of the JSON library and of our own reading: both say what is wrong
      process_->kill();
      throw SubjectError(fmt::format("the worker's hello cannot be used: {}", error.what()));
    }
    if (claims_.capabilities.device == ROPE_CPU) process_->limit_memory();
    last_key_.clear();
  }

  std::span<std::byte> pages(const Placed& placed) {
    return (placed.read_only ? inputs_ : outputs_).bytes().subspan(placed.map_offset, placed.map_length);
  }

  void send_call(const rope_call& bound, const Call& call, const CallLayout& layout) {
    std::string key = layout_key(bound, call, layout);
    const bool known = key == last_key_;
    for (const Placed& placed : layout.tensors) {
      const std::span<std::byte> page = pages(placed);
      const std::vector<std::byte>& bytes = placed.tensor->bytes;
      if (!bytes.empty()) std::memcpy(page.data() + placed.start, bytes.data(), bytes.size());
      if (known) continue;
      const std::size_t end = placed.start + bytes.size();
      fill_canary(page.first(placed.start), 0);
      fill_canary(page.subspan(end), end);
    }
    if (known) {
      process_->send(fmt::format("{{\"id\":{},\"op\":\"call\",\"plan\":{}}}", id_, plan_));
    } else {
      process_->send(call_message(id_, ++plan_, bound, call, layout));
      last_key_ = std::move(key);
    }
  }

  // Kills the process wherever it cannot be trusted any more.
  Reply understand(const WorkerProcess::Heard& heard, const CallLayout& layout) {
    if (heard.event == Event::died) return reply_of_end();
    const json message = json::parse(heard.text, nullptr, false);
    try {
      if (message.is_object() && message.contains("fault")) {
        const Finding finding = describe_fault(message.at("fault"), layout, space_);
        process_->hear(last_breath);
        process_->kill();
        return reply_of(finding);
      }
      if (message.is_object() && message.value("op", "") == "refused") {
        process_->kill();
        return {ReplyKind::crashed, ROPE_FAILED,
                "its worker gave up: " + wire::printable(message.value("msg", ""), 1 << 12), 0};
      }
      if (message.is_object() && message.at("id") == id_) return answered(message, layout);
    } catch (const json::exception&) {
      // Of a member that is missing or of another type; what was said is shown below.
    }
    process_->kill();
    return {ReplyKind::misbehaved, ROPE_FAILED,
            "spoke something else than the worker protocol: " + wire::printable(heard.text, 200), 0};
  }

  Reply give_up_after(std::chrono::milliseconds deadline) {
    hung_ = true;
    process_->kill();
    return {
        ReplyKind::timed_out, ROPE_FAILED,
        fmt::format("did not return within {} s; its process was killed", static_cast<double>(deadline.count()) / 1000),
        0};
  }

  Reply reply_of_end() {
    Finding finding = describe_end(process_->wait_status(), !process_->connected());
    finding.sentence += " in the middle of the call";
    return reply_of(finding);
  }

  Reply answered(const json& message, const CallLayout& layout) {
    if (!message.at("ok").get<bool>()) return error_of(message.at("error"));
    Reply reply;
    reply.status = message.value("status", std::int32_t{ROPE_OK});
    reply.nanoseconds = message.value("ns", std::int64_t{0});
    if (reply.status < ROPE_OK || reply.status > ROPE_FAILED) {
      reply.kind = ReplyKind::misbehaved;
      reply.detail =
          fmt::format("returned status {}; rope_status has {} to {}", reply.status, int{ROPE_OK}, int{ROPE_FAILED});
    }
    for (const Placed& placed : layout.tensors) {
      if (placed.read_only) continue;
      const std::span<std::byte> page = pages(placed);
      std::vector<std::byte>& bytes = placed.tensor->bytes;
      if (!bytes.empty()) std::memcpy(bytes.data(), page.data() + placed.start, bytes.size());
      if (auto stray = stray_write(placed, page)) {
        last_key_.clear();  // the canary has to be filled in again
        reply.kind = ReplyKind::misbehaved;
        reply.detail = std::move(*stray);
      }
    }
    return reply;
  }

  std::optional<std::string> stray_write(const Placed& placed, std::span<const std::byte> page) const {
    if (!guarded_) return std::nullopt;
    const std::size_t end = placed.start + placed.tensor->bytes.size();
    const auto before = first_damage(page.first(placed.start), 0);
    const auto after = last_damage(page.subspan(end), end);
    if (!before && !after) return std::nullopt;
    const std::size_t byte = before ? *before : end + *after;
    return describe_stray_write(placed, byte);
  }

  Reply error_of(const json& error) const {
    const std::string type = error.value("type", "");
    std::string text = wire::printable(error.value("msg", ""), 1 << 12);
    if (const std::string trace = error.value("trace", ""); !trace.empty()) {
      text += fmt::format("\n{}", wire::printable(trace, 1 << 12));
    }
    if (const auto status = status_named(type)) return {ReplyKind::done, *status, text, 0};
    if (native_) {
      return {ReplyKind::misbehaved, ROPE_FAILED,
              fmt::format("let a C++ exception escape from a C function: {}: {}", type, text), 0};
    }
    return {ReplyKind::done, ROPE_FAILED, fmt::format("raised {}: {}", type, text), 0};
  }

  Launch launch_;
  std::string name_;
  WorkerOptions options_;
  Claims claims_;
  SharedMemory inputs_{"ropecheck-inputs"};
  SharedMemory outputs_{"ropecheck-outputs"};
  std::optional<WorkerProcess> process_;
  AddressSpace space_;
  bool native_ = false;
  bool guarded_ = false;
  bool hung_ = false;
  std::chrono::milliseconds next_deadline_{};
  std::int64_t id_ = 0;
  std::int64_t plan_ = 0;
  std::string last_key_;  // of the plan that the worker holds; empty: none
};

}  // namespace
}  // namespace worker

std::unique_ptr<WorkerSubject> open_worker(const worker::Launch& launch, std::string name,
                                           const WorkerOptions& options) {
  return std::make_unique<worker::Worker>(launch, std::move(name), options);
}

}  // namespace rope
