#!/usr/bin/env python3
"""Does the suite still reject every wrong kernel?

    kill.py BUILD_FOLDER                      the mutants marked `smoke`, by the requirements named; half a minute
    kill.py BUILD_FOLDER --all                every mutant at level full, each as far as the first that rejects it; eight
                                              minutes on two cores
    kill.py BUILD_FOLDER --all --level quick  every mutant, by the requirements named

Every mutant of rejected.txt has to be rejected, at level quick by every requirement that its line names. not_yet.txt
says which mutants are not rejected and why, some of them at level quick only; `none` must conform, bit for bit. Every
kernel of the library has to stand in one of the lists, and every requirement in rejected.txt. Exit codes: 0 all as the
lists say, 1 not so.
"""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "impls"))
from rope_kernel import Library  # noqa: E402

RIGHT = "none"  # the kernel without a bug
# What a word of rejected.txt adds to the command line.
OPTIONS = {"smoke": [], "bitwise": ["--require", "bitwise,batch-invariant"]}
OPTIONS |= {dtype: ["--dtype", dtype] for dtype in ("f64", "f32", "f16", "bf16")}
QUICK_ONLY = "at level quick only"  # begins a reason of not_yet.txt: level full has to reject it
# Whose wrong kernels no library for a CPU can hold, and the file that has them.
ELSEWHERE = {"MEM-07": "tests/unit/worker/device_kernels.cpp"}
TIME_LIMIT = 600  # seconds; judging a right kernel at level full takes 20 of one core


def lines_of(text):
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def read_lists(rejected_text, not_yet_text):
    """The requirements that must reject each mutant, the mutants of every run, and why others are not rejected."""
    rejected, smoke, not_yet = {}, [], {}
    for mutant, *words in lines_of(rejected_text):
        rejected[mutant] = [word for word in words if word not in OPTIONS]
        if "smoke" in words:
            smoke.append(mutant)
    for mutant, *reason in lines_of(not_yet_text):
        not_yet[mutant] = " ".join(reason)
    return rejected, smoke, not_yet


def options_of(rejected_text):
    """What verify is told for each mutant, beyond the level."""
    result = {RIGHT: OPTIONS["bitwise"]}
    for mutant, *words in lines_of(rejected_text):
        result[mutant] = [option for word in words for option in OPTIONS.get(word, [])]
    return result


def problems_of_lists(kernels, rejected, not_yet, requirements=()):
    problems = []
    mutants = [kernel for kernel in kernels if kernel != RIGHT]
    for mutant in mutants:
        if mutant not in rejected and mutant not in not_yet:
            problems.append(f"{mutant} stands in neither list; add it to rejected.txt, or to not_yet.txt with why")
    for mutant in [*rejected, *not_yet]:
        if mutant not in mutants:
            problems.append(f"{mutant} stands in a list and not in mutants.so; remove its line")
    for mutant, line in rejected.items():
        if mutant in not_yet:
            problems.append(f"{mutant} stands in both lists; remove it from one")
        if not line:
            problems.append(f"{mutant} in rejected.txt names no requirement; name what must reject it")
    for mutant, reason in not_yet.items():
        if not reason:
            problems.append(f"{mutant} in not_yet.txt gives no reason; say what would have to see it")
    named = {requirement for line in rejected.values() for requirement in line}
    for requirement in requirements:
        if requirement not in named and requirement not in ELSEWHERE:
            problems.append(f"{requirement} stands in no line of rejected.txt; plant a mutant that it rejects")
    for requirement in sorted(named - set(requirements)) if requirements else []:
        problems.append(f"{requirement} in rejected.txt is no requirement; ropecheck list requirements has them")
    return problems


def problem_of(mutant, exit_code, failed, rejected, not_yet, level="quick"):
    """What is not as the lists say, or None. `failed`: the requirements that it failed, None without a report."""
    if exit_code not in (0, 1) or failed is None or bool(failed) != (exit_code == 1):
        return f"verify gave no verdict: exit code {exit_code}, failed {failed}"
    if mutant == RIGHT:
        return f"the right kernel is rejected by {', '.join(failed)}" if failed else None
    if mutant in not_yet:
        if level == "full" and not_yet[mutant].startswith(QUICK_ONLY):
            return None if failed else f"passes at level full too; its reason must not begin with '{QUICK_ONLY}'"
        return f"is rejected now, by {', '.join(failed)}; move it to rejected.txt" if failed else None
    if level == "full":  # up to the first that rejects it, whichever that is: random cases move it
        return None if failed else "is not rejected"
    missing = [requirement for requirement in rejected[mutant] if requirement not in failed]
    return f"{', '.join(missing)} should reject it; {seen(failed)}" if missing else None


def seen(failed):
    return f"only {', '.join(failed)} did" if failed else "it conforms"


def requirements_of(build):
    command = [str(build / "ropecheck"), "list", "requirements"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if not line.startswith(" ")]


def judge(build, mutant, level="quick", options=()):
    """Exit code, the requirements that it failed, seconds. At level full only up to the first of those."""
    subject = f"{build / 'mutants.so'}#{mutant}"
    command = [str(build / "ropecheck"), "verify", subject, "--level", level, "--no-diagnosis", "--json", "-"]
    command += [*options, *(["--fail-fast"] if level == "full" else [])]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        exit_code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        exit_code, out, err = "none within the time limit", "", ""
    failed = None
    try:
        requirements = json.loads(out)["subjects"][0]["requirements"]
        failed = [requirement["id"] for requirement in requirements if requirement["verdict"] == "fail"]
    except (ValueError, LookupError):
        sys.stderr.write(err)
    return exit_code, failed, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="where ropecheck and mutants.so are")
    parser.add_argument("--all", action="store_true", help="every mutant, not only those marked smoke")
    parser.add_argument("--level", choices=("quick", "full"), help="default: full with --all, else quick")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    build = options.build.resolve()
    level = options.level or ("full" if options.all else "quick")

    rejected_text = (HERE / "rejected.txt").read_text()
    rejected, smoke, not_yet = read_lists(rejected_text, (HERE / "not_yet.txt").read_text())
    told = options_of(rejected_text)
    if level == "quick":  # what the lists do not name would be judged for nothing
        for mutant in rejected:
            told[mutant] += ["--only", ",".join(rejected[mutant])]
    kernels = list(Library(build / "mutants.so").kernels)
    problems = problems_of_lists(kernels, rejected, not_yet, requirements_of(build))
    listed = [kernel for kernel in kernels if kernel == RIGHT or rejected.get(kernel) or kernel in not_yet]
    chosen = [kernel for kernel in listed if options.all or kernel == RIGHT or kernel in smoke]

    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda mutant: judge(build, mutant, level, told.get(mutant, ())), chosen)
        for mutant, (exit_code, failed, seconds) in zip(chosen, results):
            problem = problem_of(mutant, exit_code, failed, rejected, not_yet, level)
            print(f"{mutant:<24} {seconds:5.1f} s  {problem or verdict_of(failed, level)}", flush=True)
            if problem:
                problems.append(f"{mutant}: {problem}")

    for problem in problems:
        print(f"kill.py: {problem}", file=sys.stderr)
    print(f"{len(chosen)} of {len(kernels)} kernels judged at level {level}, {len(problems)} not as the lists say")
    return 1 if problems else 0


def verdict_of(failed, level):
    if not failed:
        return "conforms"
    return f"rejected first by {failed[0]}" if level == "full" else f"rejected by {len(failed)}"


if __name__ == "__main__":
    sys.exit(main())
