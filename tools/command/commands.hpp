// The commands of ropecheck. Each adds itself to the parser and returns the exit code when it runs.
#pragma once

#include <functional>

#include "tools/command/cli_fwd.hpp"

namespace rope {

// design: 0 conforms; 1 does not conform; 2 usage or bad input; 3 the subject could not be started; 4 incomplete.
enum ExitCode { exit_conforms = 0, exit_fails = 1, exit_bad_input = 2, exit_no_subject = 3, exit_incomplete = 4 };

using Action = std::function<int()>;

Action add_verify(CLI::App& app);
Action add_identify(CLI::App& app);
Action add_plan(CLI::App& app);
Action add_replay(CLI::App& app);
Action add_golden(CLI::App& app);
Action add_vectors(CLI::App& app);
Action add_report(CLI::App& app);
Action add_compare(CLI::App& app);
Action add_certify(CLI::App& app);
Action add_certify_submit(CLI::App& certify);  // -1 if another command was given
Action add_certificate(CLI::App& app);
Action add_list(CLI::App& app);
Action add_help(CLI::App& app);
Action add_completion(CLI::App& app);
Action add_man(CLI::App& app);

}  // namespace rope
