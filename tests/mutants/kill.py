#!/usr/bin/env python3
"""Does the suite still reject every wrong kernel?

    kill.py BUILD_FOLDER          the mutants marked `smoke` in rejected.txt; under a minute on two cores
    kill.py BUILD_FOLDER --all    every mutant; some minutes

Each is judged whole, by `ropecheck verify mutants.so#ID --level quick`. rejected.txt says which requirements must
reject it, not_yet.txt which mutants are not rejected and why; `none` must conform. Every kernel of the library has to
stand in one of the lists. Exit codes: 0 all as the lists say, 1 not so.
"""

import argparse
import ctypes
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
RIGHT = "none"  # the kernel without a bug
TIME_LIMIT = 300  # seconds; a mutant that kills its worker in every requirement takes 30


class Kernel(ctypes.Structure):
    """The beginning of rope_kernel, impls/rope_kernel.h."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("abi", ctypes.c_uint32), ("name", ctypes.c_char_p)]


def kernels_in(library):
    loaded = ctypes.CDLL(str(library))
    loaded.rope_kernel_get.restype = ctypes.POINTER(Kernel)
    return [loaded.rope_kernel_get(i).contents.name.decode() for i in range(loaded.rope_kernel_count())]


def lines_of(text):
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def read_lists(rejected_text, not_yet_text):
    """The requirements that must reject each mutant, the mutants of every run, and why others are not rejected."""
    rejected, smoke, not_yet = {}, [], {}
    for mutant, *words in lines_of(rejected_text):
        if "smoke" in words:
            words.remove("smoke")
            smoke.append(mutant)
        rejected[mutant] = words
    for mutant, *reason in lines_of(not_yet_text):
        not_yet[mutant] = " ".join(reason)
    return rejected, smoke, not_yet


def problems_of_lists(kernels, rejected, not_yet):
    problems = []
    mutants = [kernel for kernel in kernels if kernel != RIGHT]
    for mutant in mutants:
        if mutant not in rejected and mutant not in not_yet:
            problems.append(f"{mutant} stands in neither list; add it to rejected.txt, or to not_yet.txt with why")
    for mutant in [*rejected, *not_yet]:
        if mutant not in mutants:
            problems.append(f"{mutant} stands in a list and not in mutants.so; remove its line")
    for mutant, requirements in rejected.items():
        if mutant in not_yet:
            problems.append(f"{mutant} stands in both lists; remove it from one")
        if not requirements:
            problems.append(f"{mutant} in rejected.txt names no requirement; name what must reject it")
    for mutant, reason in not_yet.items():
        if not reason:
            problems.append(f"{mutant} in not_yet.txt gives no reason; say what would have to see it")
    return problems


def problem_of(mutant, exit_code, failed, rejected, not_yet):
    """What is not as the lists say, or None. `failed`: the requirements that it failed, None without a report."""
    if exit_code not in (0, 1) or failed is None or bool(failed) != (exit_code == 1):
        return f"verify gave no verdict: exit code {exit_code}, failed {failed}"
    if mutant == RIGHT:
        return f"the right kernel is rejected by {', '.join(failed)}" if failed else None
    if mutant in not_yet:
        return f"is rejected now, by {', '.join(failed)}; move it to rejected.txt" if failed else None
    missing = [requirement for requirement in rejected[mutant] if requirement not in failed]
    if not missing:
        return None
    seen = f"only {', '.join(failed)} did" if failed else "it conforms"
    return f"{', '.join(missing)} should reject it; {seen}"


def judge(build, mutant):
    subject = f"{build / 'mutants.so'}#{mutant}"
    command = [str(build / "ropecheck"), "verify", subject, "--level", "quick", "--json", "-"]
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
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    build = options.build.resolve()

    rejected, smoke, not_yet = read_lists((HERE / "rejected.txt").read_text(), (HERE / "not_yet.txt").read_text())
    kernels = kernels_in(build / "mutants.so")
    problems = problems_of_lists(kernels, rejected, not_yet)
    listed = [kernel for kernel in kernels if kernel == RIGHT or kernel in rejected or kernel in not_yet]
    chosen = [kernel for kernel in listed if options.all or kernel == RIGHT or kernel in smoke]

    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, (exit_code, failed, seconds) in zip(chosen, pool.map(lambda m: judge(build, m), chosen)):
            problem = problem_of(mutant, exit_code, failed, rejected, not_yet)
            verdict = f"rejected by {len(failed)}" if failed else "conforms"
            print(f"{mutant:<24} {seconds:5.1f} s  {problem or verdict}", flush=True)
            if problem:
                problems.append(f"{mutant}: {problem}")

    for problem in problems:
        print(f"kill.py: {problem}", file=sys.stderr)
    print(f"{len(chosen)} of {len(kernels)} kernels judged, {len(problems)} not as the lists say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
