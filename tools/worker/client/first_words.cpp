#include "tools/worker/client/first_words.hpp"

#include <fmt/format.h>

#include "reference/foreign_json.hpp"
#include "tools/judge/call/busy_machine.hpp"
#include "tools/worker/client/fault_report.hpp"
#include "tools/worker/client/refusal_hint.hpp"
#include "tools/worker/client/subject_error.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

using nlohmann::json;

std::string while_loading(const std::string& what) {
  return fmt::format("the subject {} while it was loaded, before any call", what);
}

json understood(const json& words, WorkerProcess& process, std::string_view wanted) {
  if (words.contains("fault")) {
    process.hear(last_breath);
    throw SubjectError(with_output(while_loading(describe_fault(words.at("fault"), {}, {}).sentence), process));
  }
  if (words.value("op", "") == "refused") {
    const std::string said = wire::printable(words.value("msg", ""), 1 << 16);
    throw SubjectError(said + refusal_hint(process, said) +
                       (words.value("import", false) ? withheld_hint(process) : ""));
  }
  if (const json spoken = words.value("v", json(0)); spoken != wire::version) {
    throw SubjectError(fmt::format("the worker speaks version {} of the protocol, this ropecheck version {}",
                                   wire::printable(spoken.dump(-1, ' ', true), 64), wire::version));
  }
  if (words.value("op", "") != wanted) {
    throw SubjectError(fmt::format("the worker began with {} where \"op\":\"{}\" is due",
                                   wire::printable(words.dump(-1, ' ', true, json::error_handler_t::replace), 200),
                                   wanted));
  }
  return words;
}

}  // namespace

std::string with_output(std::string sentence, WorkerProcess& process) {
  const std::string output = process.output();
  sentence += refusal_hint(process, sentence + "\n" + output);
  if (!output.empty()) sentence += "; it printed last:\n" + output;
  return sentence;
}

std::string starved(const WorkTimes& times, const TimeLimits& limits, std::string_view option) {
  using Seconds = std::chrono::duration<double>;
  const std::string why = times.is_told
                              ? fmt::format("it waited {:.1f} s for a CPU", Seconds(times.waited).count())
                              : std::string("more processes want to run than there are CPUs");
  return fmt::format("the machine is too busy: {}, and computed {:.1f} s; run it again when less runs, or with {} {:g}",
                     why, Seconds(times.computed).count(), option, 2 * Seconds(limits.waiting).count());
}

json first_words(WorkerProcess& process, std::string_view wanted, const TimeLimits& limits) {
  const WorkerProcess::Received heard = process.hear(limits);
  if (heard.event == WorkerProcess::Event::starved) {
    process.kill();
    throw BusyMachine("the subject was not loaded: " + starved(process.work_times(), limits, "--first-deadline"));
  }
  if (heard.event == WorkerProcess::Event::deadline) {
    const bool connected = process.connected();
    const std::string half_line = wire::printable(process.unfinished(), 200);
    process.kill();
    if (!half_line.empty()) {
      throw SubjectError(with_output(fmt::format("the worker's first line has no newline: {}", half_line), process));
    }
    if (!connected) {
      throw SubjectError(with_output(while_loading("closed its connection and lived on"), process));
    }
    const bool computed = process.work_times().computed >= limits.computing;
    const std::chrono::duration<double> limit = computed ? limits.computing : limits.own;
    throw SubjectError(with_output(
        while_loading(fmt::format("did not answer within {} s", limit.count())) +
            fmt::format("{}; --first-deadline {:g} gives it longer", computed ? "" : "; it mostly slept",
                        2 * limit.count()),
        process));
  }
  if (heard.event == WorkerProcess::Event::died) {
    throw SubjectError(
        with_output(while_loading(describe_end(process.wait_status(), !process.connected()).sentence), process));
  }
  json words;
  try {
    words = parse_json_line(heard.text);
  } catch (const NotJson&) {
    // Nor is it an object: said below.
  } catch (const InputError& error) {
    throw SubjectError(with_output(fmt::format("the worker's first line cannot be used: {}", error.what()), process));
  }
  if (!words.is_object()) {
    throw SubjectError(with_output(
        fmt::format("the worker's first line is not a JSON object: {}", wire::printable(heard.text, 200)), process));
  }
  try {
    return understood(words, process, wanted);
  } catch (const SubjectError&) {
    throw;
  } catch (const std::exception& error) {  // from the JSON library: a member of another type
    throw SubjectError(with_output(
        fmt::format("the worker's first line cannot be used: {}: {}", error.what(), wire::printable(heard.text, 200)),
        process));
  }
}

}  // namespace rope::worker
