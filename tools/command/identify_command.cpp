#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "reference/input_error.hpp"
#include "tools/command/callable_subject.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/deadline_options.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/sandbox_options.hpp"
#include "tools/command/report_files.hpp"
#include "tools/command/selection_options.hpp"
#include "tools/command/spec_options.hpp"
#include "tools/command/subjects.hpp"
#include "tools/identify/describe.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/missing_claim.hpp"
#include "tools/report/begun_run.hpp"
#include "tools/report/plan_json.hpp"

namespace rope {
namespace {

struct IdentifyOptions {
  std::vector<std::string> subjects;
  SpecOptions spec;
  std::string dtype;
  std::string source;
  JsonAndHtml reports{"the plans as data; tools/report/plan.schema.json"};
  bool backward = false;
  DeadlineOptions deadlines;
  TimeLimit time_limit;
  PythonOptions python;
  SandboxOptions sandbox;
};

AngleSource source_called(const std::string& text) {
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    if (text == name(source)) return source;
  }
  throw InputError(fmt::format("--source: \"{}\" is not known; use tables, frequencies or computed", text));
}

struct Request {
  Selection selection;
  std::optional<AngleSource> source;
  Direction direction = Direction::forward;
};

Request requested(const IdentifyOptions& options) {
  Request request;
  Selection& selection = request.selection;
  selection.spec = options.spec.spec();
  if (selection.spec && selection.spec->xpos)
    throw InputError("xpos: no kernel can be asked for it through the contract");
  selection.any_pairing = options.spec.any_pairing();
  selection.pairing = options.spec.pairing();
  selection.base = options.spec.base();
  if (!options.dtype.empty()) {
    const std::optional<DType> dtype = dtype_from_name(options.dtype);
    if (!dtype || !is_floating(*dtype)) {
      throw InputError(fmt::format("--dtype: \"{}\" is not known; use f64, f32, f16 or bf16", options.dtype));
    }
    selection.dtypes = {*dtype};
  }
  if (!options.source.empty()) request.source = source_called(options.source);
  if (options.backward) request.direction = Direction::backward;
  return request;
}

// The requested ways, else the ways that the claims prefer.
std::vector<Case> ways(const Claims& claims, const Request& request) {
  std::vector<Case> found = ways_to_identify(claims, request.selection, request.source);
  for (Case& way : found) way.direction = request.direction;
  std::erase_if(found, [&](const Case& way) { return !uncovered(way, claims).empty(); });
  return found;
}

// What a subject without any of these ways does not claim.
std::string missing_claim(const Claims& claims, const Request& request) {
  for (Case way : ways_to_identify(claims, request.selection, std::nullopt)) {
    way.source = request.source.value_or(way.source);
    way.direction = request.direction;
    if (std::string why = uncovered(way, claims); !why.empty()) return why;
  }
  return missing_claim(claims, request.selection);
}

void print(std::FILE* text, const std::string& subject, const ExecutedPlan& plan) {
  print_text(text, "{}  {}\n", subject, called(plan));
  for (const auto& [what, value] : description(plan)) print_text(text, "  {:<11} {}\n", what, value);
  const std::vector<Difference> others = differences(plan);
  for (const Difference& difference : others) print_text(text, "  {:<11} {}\n", "differs", difference.words);
  if (others.empty()) print_text(text, "  {:<11} the request\n", "matches");
  print_text(text, "  {:<11} {} rows in {} calls\n\n", "probes", plan.rows, plan.calls);
}

int identify_subjects(const IdentifyOptions& options) {
  options.reports.check();
  std::FILE* text = options.reports.on_stdout() ? stderr : stdout;
  WorkerOptions worker = options.deadlines.worker_options();
  const Stop& stop = options.time_limit.start();
  worker.stop = &stop;
  options.sandbox.apply_to(worker, options.reports.folders());
  const RunReport begun = begun_run(ROPECHECK_VERSION);
  Oracles oracles;
  const Request request = requested(options);
  std::vector<IdentifiedSubject> all;
  int code = exit_conforms;
  try {
    ExpandedSubjects expanded = expand_subjects(options.python.named(options.subjects), worker);
    tell_refused(expanded.refused);
    const Open open = [&](const std::string& name) { return open_callable(name, worker, oracles, {}); };
    for (const ExpandedSubject& one : expanded.subjects) {
      const std::unique_ptr<Subject> subject = open_or_refuse(one, open, expanded.refused);
      if (!subject) continue;
      all.push_back({subject->name(), {}});
      for (const Case& way : ways(subject->claims(), request)) {
        all.back().plans.push_back(identify(*subject, way, oracles));
        print(text, subject->name(), all.back().plans.back());
      }
      if (all.back().plans.empty()) {
        print_text(text, "{}  the claims cover nothing of what was asked ({})\n", subject->name(),
                   missing_claim(subject->claims(), request));
        code = exit_bad_input;
      }
    }
    code = with_refused(code, expanded.refused);
  } catch (const Interrupted&) {
    print_text(text, "{}: not every plan was measured\n", options.time_limit.words(stop));
    code = exit_incomplete;
  } catch (const std::exception& error) {
    if (all.empty() || all.front().plans.empty()) throw;
    print_text(stderr, "ropecheck: {}\n", error.what());
    code = exit_incomplete;
  }
  if (options.reports.wanted()) options.reports.write(plans_to_json(all, begun, code == exit_incomplete));
  return code;
}

}  // namespace

Action add_identify(CLI::App& app) {
  auto options = std::make_shared<IdentifyOptions>();
  CLI::App* command = app.add_subcommand(
      "identify", "Measure from outside which rotation a kernel executes, one plan for each pairing");
  command->add_option("subjects", options->subjects, "as for verify")->type_name(kinds::subject)->required();
  options->spec.add_to(*command);
  takes_one_of(command->add_option("--dtype", options->dtype, "default: f32, or what is claimed"), float_words());
  takes_one_of(command->add_option("--source", options->source, "default: computed, or what is claimed"),
               {"tables", "frequencies", "computed"});
  command->add_flag("--backward", options->backward, "the backward pass");
  options->deadlines.add_to(*command);
  options->time_limit.add_to(*command);
  options->python.add_to(*command);
  options->sandbox.add_to(*command);
  options->reports.add_to(*command);
  return [options, command]() -> int { return command->parsed() ? identify_subjects(*options) : -1; };
}

}  // namespace rope
