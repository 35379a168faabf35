#!/usr/bin/env python3
"""Judges the test kernels, and compares each verdict with kernels.txt.

    judge.py BUILD                            every kernel except cheaters, device, drawn and python, level quick
    judge.py BUILD --level full mutants       the wrong kernels of mutants.so, each until a requirement rejects it
    judge.py BUILD --smoke mutants            the mutants marked smoke: half a minute
    judge.py BUILD designs.so 'designs.so#tiles/*' exact legal_o3.so     some: by set, library, kernel or LIBRARY#KERNEL
    judge.py BUILD --level full --seeds 50 --in-turn legal builtin      right kernels with other random cases; each
                                              seed uses one of the three builds
    judge.py BUILD drawn --in-turn            right kernels with claims drawn at random
    judge.py BUILD --python PYTHON python     kernels in numpy and torch; needs ml_dtypes too; a module is a name too

    judge.py BUILD --diagnosis                how often the diagnosis names the right class first
    judge.py BUILD --diagnosis --pairs 40     the same for random combinations of two mutants
    judge.py BUILD --kill-matrix              writes KILL_MATRIX.md; half an hour on two idle cores
    judge.py BUILD --costs                    writes COSTS.md: what each requirement takes and rejects; 2 minutes
    judge.py BUILD --minimal                  writes kept.txt: the wrong kernels that are needed; 10 minutes
    judge.py BUILD NAME --minimal             says whether this one is needed next to the others
    judge.py BUILD --record before.json       writes all verdicts, with the diagnosis, to a file
    judge.py --compare before.json after.json     prints the differences of two such files

A right kernel must be accepted with the grades and notes that kernels.txt declares; level quick also accepts better
grades. A wrong kernel must be rejected at level quick by each requirement that its line names. If its line names none,
any requirement may reject it, at level full if need be. Every kernel of a library must be in kernels.txt, and every
requirement must reject some kernel. BUILD/judged keeps results until a binary changes: an interrupted run resumes.

Exit codes: 0 all as the lists say, or no difference; 1 not so; 2 usage error or nothing to judge; 4 interrupted.
"""

import argparse
import fnmatch
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from judging import acceptance, blocks, costs, diagnosis, kill_matrix, manifest, minimal, record, subjects
from judging.verdicts import TIME_LIMIT, Kept, Runner

USAGE, INTERRUPTED = 2, 4


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, nargs="?", help="where ropecheck and the libraries are")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all but cheaters, device, drawn and python")
    parser.add_argument("--level", choices=tuple(TIME_LIMIT), default="quick")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fresh", action="store_true", help="neither use nor keep results")
    parser.add_argument("--python", metavar="PYTHON", help="judges the kernels in Python, and runs the published rules")
    parser.add_argument("--smoke", action="store_true", help="of the mutants only those marked smoke")
    right = parser.add_argument_group("right kernels")
    right.add_argument("--seeds", type=int, default=1)
    right.add_argument("--first-seed", type=int, default=1)
    right.add_argument("--in-turn", action="store_true", help="each seed in one build of a kernel only")
    named = parser.add_argument_group("diagnosis")
    named.add_argument("--diagnosis", action="store_true", help="wrong kernels: is the right class named?")
    named.add_argument("--dtype", choices=manifest.DTYPES, help="as they show in this dtype; others are left out")
    named.add_argument("--whole", action="store_true", help="every requirement, not only the ones in kernels.txt")
    named.add_argument("--held-out", choices=("with", "without", "alone"), default="with")
    named.add_argument("--pairs", type=int, default=0, help="random combinations of two mutants in place of each")
    named.add_argument("--pairs-seed", type=int, default=1)
    named.add_argument("--at-least", type=float, default=0, help="percent; fewer right ones are exit code 1")
    pages = parser.add_argument_group("pages and records")
    pages.add_argument("--kill-matrix", type=Path, nargs="?", const=kill_matrix.COMMITTED, metavar="FILE")
    pages.add_argument("--costs", type=Path, nargs="?", const=costs.COMMITTED, metavar="FILE")
    pages.add_argument("--minimal", type=Path, nargs="?", const=minimal.COMMITTED, metavar="FILE")
    pages.add_argument("--pending", default="", help="ids, separated by commas: planted since BUILD, not judged yet")
    pages.add_argument("--record", type=Path, metavar="JSON")
    pages.add_argument("--compare", type=Path, nargs=2, metavar="JSON")
    options = parser.parse_intermixed_args(words)
    if not options.compare and not options.build:
        parser.error("BUILD is needed")
    if options.seeds < 1 or options.jobs < 1:
        parser.error("--seeds and --jobs start at 1")
    return options


def requirements_of(build):
    command = [str(build / "ropecheck"), "list", "requirements"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line and not line.startswith(" ")]


def problems_of_lists(build, chosen, wrong):
    """Problems of the libraries that are judged; with mutants.so also requirements without a kernel."""
    libraries = {s.library for s in chosen}
    found = [problem for problem in wrong if problem.split(":")[0] in libraries]
    if diagnosis.MUTANTS in libraries:
        entries = [entry for of in subjects.SETS.values() for entry in of.entries().values()]
        found += manifest.unanswered(entries, requirements_of(build))
    return found


def judge(options, runner, chosen, wrong):
    jobs = acceptance.jobs_for(chosen, options.level, range(options.first_seed, options.first_seed + options.seeds),
                               options.in_turn)
    judging = acceptance.Acceptance(runner, Kept(runner.build, options.fresh))
    start = time.monotonic()
    finished = judging.run(jobs, options.jobs)
    problems = problems_of_lists(runner.build, chosen, wrong) + judging.problems
    tell(problems)
    print(f"{len(judging.judged)} of {len({job.subject.name for job in jobs})} kernels judged at level {options.level}, "
          f"{sum(not p.startswith(' ') for p in problems)} not as kernels.txt says, {time.monotonic() - start:.0f} s")
    return 1 if problems else 0 if finished else INTERRUPTED


def measure_diagnosis(options, runner, chosen):
    wrong = [s for s in chosen if not s.entry.right]
    if options.held_out != "with":
        wrong = [s for s in wrong if diagnosis.held_out(s.kernel) == (options.held_out == "alone")]
    if options.pairs:
        wrong = diagnosis.pairs_of(runner.build, wrong, options.pairs, options.pairs_seed)
    named, problems = diagnosis.measure(runner, wrong, options.level, options.dtype, options.whole, options.jobs)
    tell(problems)
    diagnosis.print_shares(named)
    enough = named and 100 * sum(named.values()) / len(named) >= options.at_least
    return 0 if enough and not problems else 1


def write_kill_matrix(options, runner, known):
    mutants = [s for s in known if s.library == diagnosis.MUTANTS]
    chosen = [s for s in subjects.choose(mutants, options.names or ["*"]) if not s.entry.right]
    if len(chosen) + 1 < len(mutants) and options.kill_matrix == kill_matrix.COMMITTED:
        raise LookupError(f"a part of the mutants would replace the whole of {options.kill_matrix.name}; name a file")
    python = kill_matrix.python_with_numpy(options.python)
    if not python:
        raise LookupError("no Python with numpy; install python3-numpy, or give --python")
    right = [s for s in mutants if s.kernel == kill_matrix.RIGHT]
    problems = kill_matrix.write_page(
        runner, [*right, *chosen], options.level, Kept(runner.build, options.fresh), options.kill_matrix, python,
        [name for name in options.pending.split(",") if name], options.jobs)
    tell([*problems, f"{options.kill_matrix.name} is not written; what was judged is kept"] if problems else [])
    return 1 if problems else 0


def write_costs(options, runner, known):
    problems = costs.write_page(runner, known, Kept(runner.build, options.fresh), options.costs, options.jobs)
    tell([*problems, f"{options.costs.name} is not written; what was judged is kept"] if problems else [])
    return 1 if problems else 0


def find_minimal(options, runner, known):
    if not (runner.build / blocks.PROGRAM).is_file():
        raise LookupError(f"{runner.build / blocks.PROGRAM} is missing; build its target, {blocks.PROGRAM}")
    kept = Kept(runner.build, options.fresh, blocks.PROGRAM)
    if options.names:
        problems = minimal.compare(runner, subjects.choose(known, options.names), kept, options.jobs)
    else:
        problems = minimal.write_page(runner, known, kept, options.minimal, options.jobs)
    tell(problems)
    return 1 if problems else INTERRUPTED if runner.stopped else 0


def write_record(options, runner, known):
    work = record.work_of(runner, known)
    if options.names:  # names in a record, builtin/half_split, golden/.., or as everywhere
        named = {record.key_of(s) for s in known if any(s.is_called(name) for name in options.names)}
        work = {key: make for key, make in work.items()
                if key in named or any(fnmatch.fnmatchcase(key, name) for name in options.names)}
        if not work:
            raise LookupError(f"{', '.join(options.names)}: nothing of that name is recorded")
    record.record(runner, work, options.record, options.jobs)
    return INTERRUPTED if runner.stopped else 0


def tell(problems):
    for problem in problems:
        print(problem if problem.startswith(" ") else f"judge.py: {problem}", file=sys.stderr)


def main(words=None):
    options = arguments(words)
    if options.compare:
        return 1 if record.compare(*(json.loads(path.read_text()) for path in options.compare)) else 0
    build = options.build.resolve()
    # Not resolved: in a virtual environment the interpreter is a link.
    runner = Runner(build, str(Path(options.python).absolute()) if options.python else None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: leaves no run behind
    try:
        if not (build / "ropecheck").is_file():
            raise LookupError(f"{build / 'ropecheck'} is missing; build it with tools/test")
        known, wrong = subjects.collect(build, bool(options.python))
        if options.kill_matrix:
            return write_kill_matrix(options, runner, known)
        if options.costs:
            return write_costs(options, runner, known)
        if options.minimal:
            return find_minimal(options, runner, known)
        if options.record:
            return write_record(options, runner, known)
        chosen = subjects.choose(known, options.names)
        if options.smoke:
            chosen = [s for s in chosen if s.entry.smoke]
        if not chosen:
            raise LookupError(f"nothing to judge in {build}; build it with tools/test")
        return measure_diagnosis(options, runner, chosen) if options.diagnosis else judge(options, runner, chosen, wrong)
    except (LookupError, OSError, ValueError) as error:
        print(f"judge.py: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        runner.stop()
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
