#include "tools/engines/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "reference/input_error.hpp"
#include "tools/engines/program_output.hpp"
#include "tools/judge/run/shell_word.hpp"

namespace rope::engines {
namespace {

namespace fs = std::filesystem;

std::string line_of(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

// "time=01:00:00" or "--time=01:00:00"
std::string sbatch_word(const std::string& option) {
  const std::string given = option.substr(std::min(option.size(), option.find_first_not_of('-')));
  const std::string name = given.substr(0, given.find('='));
  if (name.size() < 2 || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") != name.npos ||
      given.find('\n') != given.npos) {
    throw InputError(
        fmt::format("--sbatch-option {}: expected a long option of sbatch, NAME or NAME=VALUE, as in "
                    "--sbatch-option time=01:00:00",
                    option));
  }
  if (name == "array" || name == "dependency") {
    throw InputError(fmt::format(
        "--sbatch-option {}: ropecheck sets --{} itself; --array-size says how many shards there are", option, name));
  }
  return "--" + given;
}

// In a name of a log, sbatch replaces % and a letter.
std::string literal(const fs::path& path) {
  std::string text;
  for (const char c : path.string()) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

void write(const Script& script) {
  std::error_code error;
  fs::create_directories(script.path.parent_path(), error);
  std::ofstream file(script.path, std::ios::binary);
  file << script.text;
  file.close();
  if (!file) throw InputError(fmt::format("{}: cannot be written: {}", script.path.string(), std::strerror(errno)));
}

std::string in_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, "; ");
  return text;
}

// The number of the job. sbatch prints "17" or "17;cluster".
std::string submitted(const Words& command) {
  const ProgramOutput said = output_of(command);
  if (said.start_error != 0) {
    throw NotSubmitted(fmt::format("sbatch cannot be started: {}; is Slurm installed on this machine?",
                                   std::strerror(said.start_error)));
  }
  const std::string number = said.out.substr(0, said.out.find_first_not_of("0123456789"));
  if (said.exit_code != 0 || number.empty()) {
    const std::string words = in_one_line(said.err.empty() ? said.out : said.err);
    throw NotSubmitted(fmt::format("sbatch did not take {}, exit code {}: {}", command.back(), said.exit_code,
                                   words.empty() ? "it printed nothing" : words));
  }
  return number;
}

}  // namespace

Slurm::Slurm(Work work, const SlurmOptions& options) : work_(std::move(work)) {
  if (!options.partition.empty()) options_.push_back(sbatch_word("partition=" + options.partition));
  for (const std::string& option : options.sbatch) options_.push_back(sbatch_word(option));
}

std::string Slurm::array_words() const {
  std::string text;
  const std::vector<std::int64_t>& all = work_.shards;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last + 1) {
    last = first;
    while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", all[first]);
    if (last > first) text += fmt::format("-{}", all[last]);
  }
  return text;
}

std::string Slurm::log_words() const { return (work_.folder / "*.log").string(); }

Script Slurm::script(const char* name, const char* log, const Words& directives, const std::string& command) const {
  Words all{fmt::format("--job-name=ropecheck-{}", name), "--chdir=" + work_.working_folder.string(),
            "--output=" + literal(work_.folder) + "/" + log,
            // A job that is started again keeps what its first run printed.
            "--open-mode=append"};
  all.insert(all.end(), directives.begin(), directives.end());
  all.insert(all.end(), options_.begin(), options_.end());
  std::string text = "#!/bin/sh\n";
  for (const std::string& word : all) text += fmt::format("#SBATCH {}\n", shell_word(word));
  return {work_.folder / fmt::format("{}.sh", name), text + "exec " + command + "\n"};
}

// N stands in the script: Slurm's SLURM_ARRAY_TASK_COUNT is the number of tasks that were submitted, which is smaller
// if only some shards are missing.
Script Slurm::array_script() const {
  return script("shards", "shard-%a-%A.log", {"--array=" + array_words()},
                fmt::format("{} --shard \"$SLURM_ARRAY_TASK_ID/{}\"", line_of(work_.run), work_.of));
}

Script Slurm::merge_script() const { return script("merge", "merge-%j.log", {}, line_of(work_.merge)); }

std::vector<Script> Slurm::scripts() const {
  if (work_.shards.empty()) return {merge_script()};
  return {array_script(), merge_script()};
}

Words Slurm::array_command() const { return {"sbatch", "--parsable", array_script().path.string()}; }

// afterany: with afterok the merge would wait for ever if a shard failed. The merge says what is missing.
Words Slurm::merge_command(const std::string& array) const {
  Words words{"sbatch", "--parsable"};
  if (!array.empty()) words.push_back("--dependency=afterany:" + array);
  words.push_back(merge_script().path.string());
  return words;
}

std::string Slurm::commands() const {
  if (work_.shards.empty()) return line_of(merge_command("")) + "\n";
  return fmt::format("{}\n{}\n", line_of(array_command()), line_of(merge_command("NUMBER")));
}

SlurmJobs Slurm::submit() const {
  for (const Script& one : scripts()) write(one);
  SlurmJobs jobs;
  if (!work_.shards.empty()) jobs.array = submitted(array_command());
  try {
    jobs.merge = submitted(merge_command(jobs.array));
  } catch (const NotSubmitted& error) {
    if (jobs.array.empty()) throw;
    throw NotSubmitted(fmt::format("{}; array job {} was submitted: when it has ended, run the same command again",
                                   error.what(), jobs.array));
  }
  return jobs;
}

}  // namespace rope::engines
