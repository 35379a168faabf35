// Slurm: the missing shards are one job array, and the merge is a job that waits for it.
#pragma once

#include "tools/engines/work.hpp"

namespace rope::engines {

struct SlurmOptions {
  std::string partition;  // empty: the cluster's default
  Words sbatch;           // more options of sbatch, "time=01:00:00"; throws InputError if one cannot be passed on
};

struct SlurmJobs {
  std::string array;  // its number; empty if no shard is missing
  std::string merge;
};

class Slurm {
 public:
  Slurm(Work work, const SlurmOptions& options);  // throws InputError

  std::vector<Script> scripts() const;  // of the array, if a shard is missing; of the merge
  std::string commands() const;         // that would submit them, as a person types them
  std::string array_words() const;      // "1,3-5,16"
  std::string log_words() const;        // where the jobs print to

  // Writes the scripts and submits both. Throws NotSubmitted with sbatch's own words, InputError if a file cannot be
  // written.
  SlurmJobs submit() const;

 private:
  Words array_command() const;
  Words merge_command(const std::string& array) const;
  Script array_script() const;
  Script merge_script() const;
  Script script(const char* name, const char* log, const Words& directives, const std::string& command) const;

  Work work_;
  Words options_;  // as words of sbatch
};

}  // namespace rope::engines
