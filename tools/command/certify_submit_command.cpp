#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/certify/certificate.hpp"
#include "tools/command/certify_subject.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/engines/slurm.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/client/program_files.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using certify::Folder;
using certify::Plan;
using certify::Shard;

struct SubmitOptions : SubjectOptions {
  std::string folder, engine;
  std::int64_t shards = 16;
  engines::SlurmOptions slurm;
  bool dry_run = false;
};

bool has_certificate(const Folder& folder, const Plan& plan) {
  if (!fs::exists(folder.certificate())) return false;
  try {
    return certify::read_certificate(folder.certificate()).identity.plan == digest(plan);
  } catch (const InputError&) {
    return false;  // the merge writes it again
  }
}

engines::Work work_for(const SubmitOptions& options, const std::string& name, const std::vector<Shard>& missing,
                       std::int64_t shards) {
  const std::string program = program_file("ropecheck").string(), folder = fs::absolute(options.folder).string();
  engines::Work work{
      {program, "certify", "run", name, folder}, {program, "certify", "merge", folder}, {}, shards, fs::current_path(),
      fs::path(folder) / options.engine};
  for (const std::string& word : options.words()) work.run.push_back(word);
  for (const Shard& shard : missing) work.shards.push_back(shard.index);
  return work;
}

void print_dry(const engines::Slurm& slurm) {
  for (const engines::Script& script : slurm.scripts()) {
    print_text(stdout, "{}:\n{}\n", script.path.string(), script.text);
  }
  print_text(stdout, "{}", slurm.commands());
}

int submit(const SubmitOptions& options) {
  const Folder folder(options.folder);
  const Plan plan = stored_plan(folder);
  const OpenSubject opened = open_for_plan(options, folder, plan, stop_on_signal());
  const certify::Identity identity = identity_of(plan, opened.name, opened.subject->code_files());
  const std::int64_t shards = std::min(options.shards, plan.blocks());
  const std::vector<Shard> missing = missing_shards(folder, plan, identity, shards);
  if (missing.empty() && has_certificate(folder, plan)) {
    print_text(stdout, "{}: no shard is missing; {}\n", opened.name, folder.certificate().string());
    return exit_conforms;
  }
  const engines::Slurm slurm(work_for(options, opened.name, missing, shards), options.slurm);
  if (options.dry_run) {
    print_dry(slurm);
    return exit_conforms;
  }
  const engines::SlurmJobs jobs = slurm.submit();
  print_text(stdout, "{}: {} of {} missing\n", opened.name, missing.size(), counted(shards, "shard"));
  if (!jobs.array.empty()) print_text(stdout, "  job {}: the shards {}\n", jobs.array, slurm.array_words());
  print_text(stdout, "  job {}: the merge{}\n", jobs.merge, jobs.array.empty() ? "" : ", when they have ended");
  print_text(stdout, "  they print to {}\n", slurm.log_words());
  return exit_conforms;
}

int submit_or_say_why(const SubmitOptions& options) {
  try {
    return submit(options);
  } catch (const engines::NotSubmitted& error) {
    print_text(stderr, "ropecheck: {}\n", error.what());
    return exit_no_subject;
  }
}

void add_slurm_options(CLI::App& command, engines::SlurmOptions& options) {
  const char* group = "Slurm";
  command.add_option("--partition", options.partition, "default: the cluster's")->type_name("NAME")->group(group);
  command
      .add_option("--sbatch-option", options.sbatch,
                  "a long option of sbatch for both jobs, as in --sbatch-option time=01:00:00; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
}

}  // namespace

Action add_certify_submit(CLI::App& certify) {
  auto options = std::make_shared<SubmitOptions>();
  CLI::App* command = certify.add_subcommand(
      "submit", "Submit the missing shards of the plan in a folder, and the merge, as jobs of a cluster");
  options->add_subject(*command)->required();
  command->add_option("folder", options->folder, "that `certify plan` made; all nodes see it")
      ->type_name(kinds::folder)
      ->required();
  takes_one_of(command->add_option("--engine", options->engine, "what runs the jobs"), {"slurm"})->required();
  command
      ->add_option("--array-size", options->shards,
                   "how many shards, at most as many as the plan has blocks; the certificate is the same for every "
                   "number")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->type_name("N");
  command->add_flag("--dry-run", options->dry_run, "print the scripts and the commands; write and submit nothing");
  add_slurm_options(*command, options->slurm);
  options->add_to(*command);
  return [=]() -> int { return command->parsed() ? submit_or_say_why(*options) : -1; };
}

}  // namespace rope
