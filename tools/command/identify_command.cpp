#include <fmt/format.h>

#include "reference/input_error.hpp"
#include "tools/command/callable_subject.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/deadline_options.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/selection_options.hpp"
#include "tools/command/spec_options.hpp"
#include "tools/command/subjects.hpp"
#include "tools/identify/describe.hpp"
#include "tools/report/plan_json.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

struct IdentifyOptions {
  std::vector<std::string> subjects;
  SpecOptions spec;
  std::string dtype;
  std::string source;
  std::string json;
  bool backward = false;
  DeadlineOptions deadlines;
  PythonOptions python;
};

AngleSource source_called(const std::string& text) {
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    if (text == name(source)) return source;
  }
  throw InputError(fmt::format("--source: \"{}\" is not known; use tables, frequencies or computed", text));
}

// The requested ways, else the ways that the claims prefer.
std::vector<Case> ways(const Claims& claims, const IdentifyOptions& options) {
  Selection selection;
  selection.spec = options.spec.spec();
  if (selection.spec && selection.spec->xpos)
    throw InputError("xpos: no kernel can be asked for it through the contract");
  selection.pairing = options.spec.pairing();
  if (!options.dtype.empty()) {
    const std::optional<DType> dtype = dtype_from_name(options.dtype);
    if (!dtype || !is_floating(*dtype)) {
      throw InputError(fmt::format("--dtype: \"{}\" is not known; use f64, f32, f16 or bf16", options.dtype));
    }
    selection.dtypes = {*dtype};
  }
  const std::optional<AngleSource> source =
      options.source.empty() ? std::nullopt : std::optional(source_called(options.source));
  std::vector<Case> found = ways_to_identify(claims, selection, source);
  for (Case& way : found) way.direction = options.backward ? Direction::backward : Direction::forward;
  return found;
}

int identify_subjects(const IdentifyOptions& options) {
  std::FILE* text = options.json == "-" ? stderr : stdout;
  Oracles oracles;
  std::vector<IdentifiedSubject> all;
  int code = exit_conforms;
  for (const std::string& subject_name : expand_subjects(options.python.named(options.subjects))) {
    const std::unique_ptr<Subject> subject = 
        open_callable(subject_name, options.deadlines.worker_options(), oracles, {});
    IdentifiedSubject identified{subject->name(), {}};
    for (const Case& way : ways(subject->claims(), options))
      identified.plans.push_back(identify(*subject, way, oracles));
    if (identified.plans.empty()) {
      fmt::print(text, "{}  claims nothing of what was asked for\n", subject->name());
      code = exit_bad_input;
    }
    for (const ExecutedPlan& plan : identified.plans) {
      fmt::print(text, "{}  {}\n", subject->name(), called(plan));
      for (const auto& [what, value] : description(plan)) fmt::print(text, "  {:<11} {}\n", what, value);
      const std::vector<Difference> others = differences(plan);
      for (const Difference& difference : others) fmt::print(text, "  {:<11} {}\n", "differs", difference.words);
      if (others.empty()) fmt::print(text, "  {:<11} the request\n", "matches");
      fmt::print(text, "  {:<11} {} rows in {} calls\n\n", "probes", plan.rows, plan.calls);
    }
    all.push_back(std::move(identified));
  }
  if (!options.json.empty()) {
    const std::string json = plans_to_json(all, ROPECHECK_VERSION);
    if (options.json == "-") {
      fmt::print("{}", json);
    } else {
      write_file(options.json, json);
    }
  }
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
  command->add_option("--json", options->json, "write the plans here (- is stdout)")->type_name(kinds::file);
  options->deadlines.add_to(*command);
  options->python.add_to(*command);
  return [options, command]() -> int { return command->parsed() ? identify_subjects(*options) : -1; };
}

}  // namespace rope
