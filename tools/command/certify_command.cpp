#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>

#include "reference/foreign_json.hpp"
#include "tools/certify/certificate.hpp"
#include "tools/certify/estimate.hpp"
#include "tools/certify/shard.hpp"
#include "tools/certify/ways.hpp"
#include "tools/command/certify_jobs.hpp"
#include "tools/command/certify_options.hpp"
#include "tools/command/certify_subject.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/cpu_count.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/output_options.hpp"
#include "tools/command/print_text.hpp"
#include "tools/report/begun_run.hpp"
#include "tools/report/html/certified.hpp"
#include "tools/report/progress.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace rope {
namespace {

using certify::Folder;
using certify::Json;
using certify::Plan;
using certify::Shard;

struct AllOptions : SubjectOptions {
  CertifyOptions certify;
  OutputOptions output;
  std::string out;
  std::size_t jobs = 0;  // 0: as many as there are CPUs
  bool dry_run = false;
};

struct RunOptions : SubjectOptions {
  std::string folder, shard = "1/1";
};

// "3/16"
Shard shard_called(const std::string& text) {
  Shard shard;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld/%ld%c", &shard.index, &shard.of, &rest) != 2 || shard.of < 1 ||
      shard.of > 1'000'000 || shard.index < 1 || shard.index > shard.of) {
    throw InputError(fmt::format("--shard: \"{}\" is not a shard; expected I/N, as in 1/4, with I from 1 to N", text));
  }
  return shard;
}

std::string duration_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.1f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.1f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

// What the claims do not cover is not counted: no call asks for it.
std::vector<std::int64_t> claimed_elements(const Plan& plan, const Claims& claims) {
  std::vector<std::int64_t> claimed;
  for (const certify::Sweep& sweep : plan.sweeps) claimed.push_back(certify::claimed_elements(sweep, claims));
  return claimed;
}

void print_plan(const Plan& plan, const std::string& subject, const std::vector<std::int64_t>& claimed,
                const std::vector<double>& seconds) {
  double all = 0;
  for (std::size_t i = 0; i < plan.sweeps.size(); ++i) {
    print_text(stdout, "  {:>13}  {}", claimed[i], words_of(plan.sweeps[i]));
    if (!seconds.empty()) print_text(stdout, ": about {}", duration_words(seconds[i]));
    print_text(stdout, "\n");
    if (!seconds.empty()) all += seconds[i];
  }
  print_text(stdout, "{}: {}, {} elements in {} blocks, plan {}\n", subject,
             counted(static_cast<std::int64_t>(plan.sweeps.size()), "sweep"),
             std::reduce(claimed.begin(), claimed.end()), plan.blocks(), digest(plan));
  if (!seconds.empty()) print_text(stdout, "about {} for one process on this machine\n", duration_words(all));
}

// Times and hosts stand beside the certificate: its bytes must not depend on them.
void note_run(const Folder& folder, const Shard& shard, const certify::ShardRun& run, const RunReport& begun,
              double seconds) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const Json line{{"shard", {shard.index, shard.of}},
                  {"host", host},
                  {"machine", begun.machine},
                  {"started", begun.started},
                  {"seconds", seconds},
                  {"kernel_seconds", run.kernel_seconds},
                  {"blocks", run.blocks},
                  {"computed", run.computed}};
  std::ofstream(folder.times(), std::ios::app) << line.dump() + "\n";
}

certify::ShardRun run_and_note(const Folder& folder, const Plan& plan, const Shard& shard, OpenSubject& opened,
                               const Stop& stop) {
  const RunReport begun = begun_run(ROPECHECK_VERSION);
  const auto start = std::chrono::steady_clock::now();
  const certify::Identity identity = identity_of(plan, opened.name, opened.subject->code_files());
  const certify::ShardRun run = run_shard(folder, plan, identity, shard, *opened.subject, &stop);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (run.computed > 0) note_run(folder, shard, run, begun, seconds.count());
  return run;
}

int run_one_shard(const RunOptions& options) {
  const Shard shard = shard_called(options.shard);
  const Folder folder(options.folder);
  const Plan plan = stored_plan(folder);
  const Stop& stop = stop_on_signal();
  OpenSubject opened = open_for_plan(options, folder, plan, stop);
  const certify::ShardRun run = run_and_note(folder, plan, shard, opened, stop);
  print_text(stdout, "{}: shard {} of {}: {}, {} computed now\n", opened.name, shard.index, shard.of,
             counted(run.blocks, "block"), run.computed);
  return exit_conforms;
}

void print_sweep(const Json& sweep, bool quiet) {
  const bool failed = sweep["failed_blocks"] > 0;
  if (quiet && !failed) return;
  const Json& found = sweep["grade"];
  const std::string grade = found.is_null() ? "" : fmt::format(", grade {}", found.get<std::string>());
  const Json& use = sweep["worst"]["use"];
  const std::int64_t not_claimed = sweep["not_claimed"];
  print_text(stdout,
      "  {}  {}: {} of {} checked{}{}{}\n", failed ? "FAIL" : "ok  ", sweep["sweep"].get<std::string>(),
      sweep["checked"].dump(), sweep["size"].dump(),
      not_claimed > 0 ? fmt::format(", {} not claimed", not_claimed) : "", grade,
      use.is_number() && use >= 0 && !failed ? fmt::format(", worst {:.3f} of the bound", use.get<double>()) : "");
  for (const Json& failure : sweep["failures"]) {
    print_text(stdout, "        {}\n", failure["message"].get<std::string>());
    if (failure.contains("element")) {
      print_text(stdout, "        at {}\n", failure["element"]["place"].get<std::string>());
    }
    print_text(stdout, "        {}\n", failure["replay"].get<std::string>());
  }
}

std::string verdict_words(const Plan& plan, const Json& json) {
  if (json["conforms"]) {
    return fmt::format("conforms on all {} elements of {}", certify::checked_elements(json),
                       counted(static_cast<std::int64_t>(plan.sweeps.size()), "sweep"));
  }
  std::int64_t failed = 0;
  for (const Json& sweep : json["sweeps"]) failed += sweep["failed_blocks"].get<std::int64_t>();
  return fmt::format("does not conform: {} of {} blocks failed", failed, plan.blocks());
}

int merge_folder(const Folder& folder, bool quiet) {
  const Plan plan = stored_plan(folder);
  const std::optional<certify::Identity> identity = stored_identity(folder);
  if (!identity) {
    print_text(stderr, "ropecheck: {}: no shard is finished\n", folder.shards().string());
    return exit_incomplete;
  }
  if (digest(plan) != identity->plan) {
    throw InputError(
        fmt::format("{}: its shards are of another plan; delete {}", folder.plan().string(), folder.shards().string()));
  }
  const Json json = certificate(plan, *identity, stored_results(folder, *identity));
  const std::string text = certify::with_digest(json);
  certify::write_synced(folder.certificate(), text);
  certify::write_synced(folder.page(), html::page_of_certificate(parse_json(text, folder.certificate().string())));
  for (const Json& sweep : json["sweeps"]) print_sweep(sweep, quiet);
  const bool conforms = json["conforms"];
  print_text(stdout, "{}: {}; {}\n", identity->subject, verdict_words(plan, json), folder.certificate().string());
  return conforms ? exit_conforms : exit_fails;
}

int merge(const std::string& path, bool quiet) {
  try {
    return merge_folder(Folder(path), quiet);
  } catch (const certify::Incomplete& error) {
    print_text(stderr, "ropecheck: {}: {}\n", path, error.what());
    return exit_incomplete;
  }
}

// The lines of all journals: one a block, and two for each process that wrote it.
std::int64_t lines_in_journals(const Folder& folder) {
  std::int64_t lines = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.shards(), ignored)) {
    if (entry.path().extension() != ".journal") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    lines += std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  }
  return lines;
}

int run_jobs(const AllOptions& options, const Folder& folder, const std::string& name, const Plan& plan,
             std::size_t jobs, const Stop& stop) {
  std::vector<std::vector<std::string>> commands;
  for (std::size_t i = 1; i <= jobs; ++i) {
    std::vector<std::string> words{
        "certify", "run", name, folder.path().string(), "--shard", fmt::format("{}/{}", i, jobs)};
    for (const std::string& word : options.words()) words.push_back(word);
    commands.push_back(std::move(words));
  }
  ProgressLine progress(options.output.shows_progress());
  const auto start = std::chrono::steady_clock::now();
  const std::vector<int> codes = run_side_by_side(commands, stop, [&] {
    if (!options.output.shows_progress()) return;
    const std::int64_t done = std::min(plan.blocks(), lines_in_journals(folder));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    progress.show(fmt::format("{}  {} of {} blocks{}", name, done, plan.blocks(),
                              time_left(elapsed.count(), done, plan.blocks())));
  });
  progress.clear();
  if (stop.requested()) throw Interrupted();
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == 0) continue;
    print_text(stderr, "ropecheck: shard {} of {} ended with {}; run the same command again to go on\n", i + 1, jobs,
               codes[i]);
  }
  const auto worst = std::ranges::find_if(codes, [](int code) { return code != 0; });
  return worst == codes.end() ? int{exit_conforms} : *worst < 128 ? *worst : int{exit_incomplete};
}

int certify_all(const AllOptions& options) {
  const Stop& stop = stop_on_signal();
  OpenSubject opened = open_one(options, options.out, stop);
  const Plan plan = options.certify.plan_for(opened.subject->claims());
  if (options.dry_run) {
    const std::vector<std::int64_t> claimed = claimed_elements(plan, opened.subject->claims());
    print_plan(plan, opened.name, claimed, certify::estimated_seconds(plan, claimed, *opened.subject));
    return exit_conforms;
  }
  if (options.out.empty()) throw InputError("certify: --out is missing; name a folder for the certificate");
  const Folder folder(options.out);
  store_plan(folder, plan);
  const std::size_t jobs = options.jobs > 0 ? options.jobs : cpu_count();
  if (jobs == 1) {
    run_and_note(folder, plan, {1, 1}, opened, stop);
  } else {
    opened.subject.reset();
    if (const int code = run_jobs(options, folder, opened.name, plan, jobs, stop); code != exit_conforms) return code;
  }
  return merge(options.out, options.output.quiet());
}

int plan_only(const AllOptions& options) {
  OpenSubject opened = open_one(options, options.out, stop_on_signal());
  const Plan plan = options.certify.plan_for(opened.subject->claims());
  store_plan(Folder(options.out), plan);
  print_plan(plan, opened.name, claimed_elements(plan, opened.subject->claims()), {});
  return exit_conforms;
}

CLI::Option* add_folder(CLI::App& command, std::string& folder) {
  return command.add_option("folder", folder, "that `certify plan` made")->type_name(kinds::folder)->required();
}

}  // namespace

Action add_certify(CLI::App& app) {
  auto options = std::make_shared<AllOptions>();
  CLI::App* command = app.add_subcommand(
      "certify", "Check every element of sets that can be enumerated, such as every position; docs/certify.md");
  command->require_subcommand(0, 1);
  options->add_subject(*command);
  command->add_option("--out", options->out, "the folder for plan, shards and certificate; an interrupted run resumes")
      ->type_name(kinds::folder);
  options->certify.add_to(*command);
  command
      ->add_option("--jobs", options->jobs,
                   "how many processes; the certificate is the same for every number; default: as many as there are "
                   "CPUs")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command->add_flag("--dry-run", options->dry_run,
                    "print the sweeps, their sizes and the estimated time; write nothing");
  options->add_to(*command);
  options->output.add_to(*command);

  auto planning = std::make_shared<AllOptions>();
  CLI::App* plan = command->add_subcommand("plan", "Write plan.json, the list of all sweeps, into a new folder");
  planning->add_subject(*plan)->required();
  plan->add_option("folder", planning->out, "is made")->type_name(kinds::folder)->required();
  planning->certify.add_to(*plan);
  planning->add_to(*plan);

  auto running = std::make_shared<RunOptions>();
  CLI::App* run = command->add_subcommand("run", "Run one shard of the plan in a folder: every N-th block");
  running->add_subject(*run)->required();
  add_folder(*run, running->folder);
  run->add_option("--shard", running->shard, "I/N: the I-th of N shards")->capture_default_str()->type_name("I/N");
  running->add_to(*run);

  auto merging = std::make_shared<std::string>();
  CLI::App* join = command->add_subcommand("merge", "Make the certificate when all shards are finished");
  add_folder(*join, *merging);
  const Action submit = add_certify_submit(*command);

  return [=]() -> int {
    if (plan->parsed()) return plan_only(*planning);
    if (run->parsed()) return run_one_shard(*running);
    if (join->parsed()) return merge(*merging, false);
    if (const int code = submit(); code >= 0) return code;
    if (!command->parsed()) return -1;
    if (options->subject.empty()) throw InputError("certify: no subject was given; see `ropecheck certify --help`");
    return certify_all(*options);
  };
}

}  // namespace rope
