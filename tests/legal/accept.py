#!/usr/bin/env python3
"""Does the suite accept every right kernel?

    accept.py BUILD                        every kernel of legal_*.so and builtin_*.so, level full, seed 1
    accept.py BUILD --seeds 20 --jobs 4    seeds 1 to 20
    accept.py BUILD --seeds 50 --in-turn   seeds 1 to 50, each in one of the three builds of a kernel
    accept.py BUILD --level quick legal_o3.so builtin_o3.so    the test `legal` of tools/test
    accept.py BUILD exact legal_native.so#ftz    kernels by name, in every library or in one
    accept.py BUILD --level quick 'drawn_o3.so#*-1??'    of the kernels with drawn claims, a hundred

Each is judged whole, by `ropecheck verify LIB#NAME --level LEVEL --seed SEED`. A verdict `fail` is a rejection, and a
`note` that grades.txt does not allow is as bad: with --require it would be one. At level full the grade, the worst over
all seeds, must be the one that grades.txt declares, no better and no worse; at level quick it must not be worse. With
drawn claims a grade may be better in one letter and worse in the other. Results are kept in BUILD/legal-results.json
until the binaries change, so that an interrupted run goes on where it stopped.

Exit codes: 0 all accepted and of their grades, 1 not so, 2 usage or nothing to judge, 4 interrupted.
"""

import argparse
import fnmatch
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "impls"))
from rope_kernel import Library  # noqa: E402

TIME_LIMIT = {"quick": 300, "full": 1800}  # seconds a run; a kernel takes 3 and 15 on an idle machine
DTYPES = ("f64", "f32", "f16", "bf16")


def read_grades(text):
    """{kernel: {dtype: grade, or grades with / between; "notes": ids with commas between}}"""
    grades = {}
    for line in text.splitlines():
        kernel, *words = line.split("#")[0].split() or [""]
        if kernel:
            grades[kernel] = dict(word.split("=") for word in words)
    return grades


def choose(libraries, names):
    """The subjects that were asked for, of {library: [kernel]}; without names all but those with drawn claims.

    Raises LookupError for a name that fits nothing.
    """
    everything = [(library, kernel) for library, kernels in libraries.items() for kernel in kernels]
    chosen = []
    for name in names:
        fitting = [
            (lib, kernel)
            for lib, kernel in everything
            if any(fnmatch.fnmatchcase(text, name) for text in (lib, kernel, f"{lib}#{kernel}"))
        ]
        if not fitting:
            raise LookupError(f"{name}: no library or kernel of that name; there are {', '.join(libraries)}")
        chosen += [subject for subject in fitting if subject not in chosen]
    return chosen if names else [(lib, kernel) for lib, kernel in everything if not has_drawn_claims(lib)]


def has_drawn_claims(library):
    return library.startswith("drawn_")


def in_turn(subjects, seed):
    """Of each kernel's builds the one that it is this seed's turn for."""
    builds = {}
    for library, kernel in subjects:
        builds.setdefault((library.rsplit("_", 1)[0], kernel), []).append(library)
    return [(libraries[seed % len(libraries)], kernel) for (_, kernel), libraries in builds.items()]


def condensed(exit_code, report):
    """What is kept of one run. `report` is the parsed JSON, None where there was none."""
    result = {"failed": [], "noted": [], "grades": {}, "use": 0.0, "where": "", "seconds": 0.0}
    try:
        subject = report["subjects"][0]
        for requirement in subject["requirements"]:
            kept = {"fail": "failed", "note": "noted"}.get(requirement["verdict"])
            if kept:
                failure = requirement["failure"]
                result[kept].append([requirement["id"], failure["message"], failure["replay"]])
            use = float(requirement.get("worst", {}).get("use", 0))
            if use > result["use"]:
                result["use"], result["where"] = use, requirement["id"]
        result["grades"] = {grade["dtype"]: grade["grade"] or "none" for grade in subject["grades"]}
        result["seconds"] = subject["seconds"]
        decided = subject["cases"] > 0 and not subject["interrupted"]
    except (TypeError, LookupError):
        decided = False
    if not decided or exit_code != (1 if result["failed"] else 0):
        result["no_verdict"] = f"verify gave no verdict: exit code {exit_code}"
    return result


def grade_problems(level, measured, declared):
    """What is wrong with the worst grades of a kernel. Grades compare as text: A1 .. C3."""
    problems = []
    for dtype in DTYPES:
        got, want = measured.get(dtype), declared.get(dtype)
        if got == want or (got and want and got in want.split("/")):
            continue
        if got is None or want is None:
            problems.append(f"{dtype}: measured {got or 'nothing'}, declared {want or 'nothing'}")
        elif not allowed(got, want.split("/")[0], level):
            problems.append(f"{dtype}: measured {got}, declared {want}")
    return problems


def allowed(got, want, level):
    """Whether a grade that is not the declared one is no worse, which is no problem at level quick.

    With "drawn" claims it may be better in one letter and worse in the other: where little is claimed, an error of the
    angle may pass for one of the arithmetic.
    """
    better = [a < b for a, b in zip(got, want)]
    worse = [a > b for a, b in zip(got, want)]
    return got != "none" and (not any(worse) if level == "quick" else level == "drawn" and any(better))


def worst_grade(grades):
    """Letter by letter: one seed may show the worse angles and another the worse arithmetic."""
    if "none" in grades:
        return "none"
    return max(grade[0] for grade in grades) + max(grade[1] for grade in grades)


class Summary:
    """All seeds of one kernel of one library."""

    def __init__(self):
        self.seeds = 0
        self.rejections = []  # (seed, requirement, message, replay)
        self.notes = []  # the same
        self.grades = {}
        self.use = 0.0
        self.where = ""

    def add(self, seed, result):
        self.seeds += 1
        if "no_verdict" in result:
            self.rejections.append((seed, "-", result["no_verdict"], ""))
        self.rejections += [(seed, *failure) for failure in result["failed"]]
        self.notes += [(seed, *failure) for failure in result["noted"]]
        for dtype, grade in result["grades"].items():
            self.grades[dtype] = worst_grade([grade, self.grades.get(dtype, grade)])
        if result["use"] > self.use:
            self.use, self.where = result["use"], result["where"]

    @property
    def rejected(self):
        return len({seed for seed, *_ in self.rejections})


class Cache:
    """Results by (binaries, kernel, level, seed), written as they come."""

    def __init__(self, path, fresh=False):
        self.path = path
        self.lock = threading.Lock()
        self.results = {}
        try:
            self.kept = json.loads(path.read_text())
        except (OSError, ValueError):
            self.kept = {}
        if not fresh:
            self.results = dict(self.kept)

    def add(self, key, result):
        with self.lock:
            self.results[key] = result
            if "no_verdict" in result:
                return  # a machine too busy, perhaps: to be tried again
            self.kept[key] = result
            temporary = self.path.with_suffix(f".{os.getpid()}")
            temporary.write_text(json.dumps(self.kept, indent=0))
            temporary.replace(self.path)


def fingerprint(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes() if path.is_file() else b"absent")
    return digest.hexdigest()[:16]


class Runner:
    def __init__(self, build, level):
        self.build = build
        self.level = level
        self.running = set()
        self.lock = threading.Lock()
        self.stopped = False

    def judge(self, library, kernel, seed):
        """None if the run was stopped."""
        subject = f"{self.build / library}#{kernel}"
        command = [str(self.build / "ropecheck"), "verify", subject, "--level", self.level, "--seed", str(seed)]
        with self.lock:
            if self.stopped:
                return None
            child = subprocess.Popen([*command, "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.running.add(child)
        report = None
        try:
            report = json.loads(child.communicate(timeout=TIME_LIMIT[self.level])[0])
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        except ValueError:
            pass  # condensed() says that there was no verdict
        with self.lock:
            self.running.discard(child)
            return None if self.stopped else condensed(child.returncode, report)

    def stop(self):
        with self.lock:
            self.stopped = True
            for child in self.running:
                child.terminate()


def show_progress(done, total, seconds, cost_done, cost_total):
    if not sys.stderr.isatty():
        return
    left = seconds * (cost_total - cost_done) / cost_done if cost_done else math.nan
    words = "" if math.isnan(left) else f", about {left / 60:.0f} min left" if left > 90 else f", {left:.0f} s left"
    sys.stderr.write(f"\r\x1b[K{done}/{total} runs{words}")
    sys.stderr.flush()


def clear_progress():
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def run_all(runner, cache, jobs, threads):
    """Runs what the cache does not hold; jobs: [(key, library, kernel, seed)]. False if interrupted."""
    missing = [job for job in jobs if job[0] not in cache.results]
    start = time.monotonic()
    pool = ThreadPoolExecutor(threads)
    futures = {pool.submit(runner.judge, library, kernel, seed): key for key, library, kernel, seed in missing}
    done = 0
    try:
        show_progress(0, len(missing), 0, 0, len(missing))
        for future in as_completed(futures):
            cache.add(futures[future], future.result())
            done += 1
            show_progress(done, len(missing), time.monotonic() - start, done, len(missing))
        return True
    except KeyboardInterrupt:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it often comes twice
        runner.stop()
        return False
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        clear_progress()


def print_table(summaries):
    print(f"{'kernel':<36} {'seeds':>5} {'rejected':>8}  {'f64':<4} {'f32':<4} {'f16':<4} {'bf16':<4}  worst use")
    for (library, kernel), summary in summaries.items():
        grades = " ".join(f"{summary.grades.get(dtype, '-'):<4}" for dtype in DTYPES)
        row = f"{f'{library}#{kernel}':<36} {summary.seeds:>5} {summary.rejected:>8}  {grades}"
        print(f"{row}  {summary.use:.3f} {summary.where}")


def allowed_notes(kernel, declared):
    return {id for name in ("*", kernel) for id in declared.get(name, {}).get("notes", "").split(",")}


def problems_of(summaries, level, declared, library_is_ours):
    problems = []
    for (library, kernel), summary in summaries.items():
        subject = f"{library}#{kernel}"
        for seed, requirement, message, replay in summary.rejections:
            problems.append(f"{subject}, seed {seed}: rejected by {requirement}: {message}")
            if replay:
                problems.append(f"  {replay}")
        if not library_is_ours(library) or summary.seeds == 0:
            continue
        if has_drawn_claims(library):  # as few of the dtypes and sources as the claims hold, so perhaps better
            kernel = kernel.rpartition("-")[0]
            grades = {dtype: grade for dtype, grade in declared.get(kernel, {}).items() if dtype in summary.grades}
            problems += [f"{subject}: {p}" for p in grade_problems("drawn", summary.grades, grades)]
        elif kernel not in declared:
            problems.append(f"{subject} stands not in grades.txt; add the grades that follow from what it does")
        else:
            problems += [f"{subject}: {p}" for p in grade_problems(level, summary.grades, declared[kernel])]
        allowed = allowed_notes(kernel, declared)
        for seed, requirement, message, replay in summary.notes:
            if requirement not in allowed:
                problems += [f"{subject}, seed {seed}: noted by {requirement}: {message}", f"  {replay}"]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="where ropecheck and the libraries are")
    parser.add_argument("names", nargs="*", metavar="NAME", help="LIB.so, KERNEL or LIB.so#KERNEL; default: all")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--in-turn", action="store_true", help="each seed in one build of a kernel only")
    parser.add_argument("--level", choices=("quick", "full"), default="full")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fresh", action="store_true", help="run again what earlier runs have kept")
    options = parser.parse_intermixed_args()
    build = options.build.resolve()

    def is_ours(library):
        return library.startswith(("legal_", "builtin_", "drawn_"))

    found = {path.name for path in build.glob("*.so") if is_ours(path.name)}
    found |= {name.split("#")[0] for name in options.names if ".so" in name and "*" not in name.split("#")[0]}
    try:
        libraries = {name: list(Library(build / name).kernels) for name in sorted(found)}
        subjects = choose(libraries, options.names)
    except (OSError, LookupError) as error:
        print(f"accept.py: {error}", file=sys.stderr)
        return 2
    if not subjects or options.seeds < 1 or options.jobs < 1:
        print(f"accept.py: nothing to judge in {build}; build it with tools/test", file=sys.stderr)
        return 2

    seeds = range(options.first_seed, options.first_seed + options.seeds)
    tool = [build / "ropecheck", build / "ropecheck_host", HERE.parents[1] / "golden" / "manifest.json"]
    prints = {library: fingerprint([*tool, build / library]) for library, _ in subjects}
    # Seed by seed, so that an interrupted run has looked at every kernel.
    jobs = [
        (f"{library}#{kernel} {options.level} {seed} {prints[library]}", library, kernel, seed)
        for seed in seeds
        for library, kernel in (in_turn(subjects, seed) if options.in_turn else subjects)
    ]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no run is left behind
    cache = Cache(build / "legal-results.json", options.fresh)
    start = time.monotonic()
    finished = run_all(Runner(build, options.level), cache, jobs, options.jobs)

    summaries = {subject: Summary() for subject in subjects}
    for key, library, kernel, seed in jobs:
        if key in cache.results:
            summaries[library, kernel].add(seed, cache.results[key])
    print_table(summaries)
    declared = read_grades((HERE / "grades.txt").read_text())
    problems = problems_of(summaries, options.level, declared, is_ours)
    for problem in problems:
        print(f"accept.py: {problem}" if not problem.startswith(" ") else problem, file=sys.stderr)
    runs = sum(summary.seeds for summary in summaries.values())
    rejected = sum(summary.rejected for summary in summaries.values())
    seconds = time.monotonic() - start
    print(f"{runs} of {len(jobs)} runs at level {options.level}, {rejected} rejected, {seconds:.0f} s")
    if problems:
        return 1
    return 0 if finished else 4


if __name__ == "__main__":
    sys.exit(main())
