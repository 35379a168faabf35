"""Writes COSTS.md: what share of the time each requirement takes, and which wrong kernels no other one rejects.

The right kernel that claims everything is timed. KILL_MATRIX.md says what rejects a mutant. The wrong kernels of the
other sets are judged by every requirement.
"""

import datetime
import json
import os
import platform
import statistics
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from . import kill_matrix, matrix
from .kill_matrix import RIGHT, write
from .subjects import HERE
from .verdicts import TIME_LIMIT, Job, ids

COMMITTED = HERE / "COSTS.md"
JUDGED = ("designs",)
LEVEL = "quick"
RUNS = 5
AGAIN = "python3 tests/kernels/judge.py build/release --costs"


@dataclass
class Cost:
    requirement: str
    cases: int
    seconds: float
    rejected: list  # names of wrong kernels
    only_it: list  # of these, the ones that no other requirement rejects


def timed(runner, subject, level):
    """{requirement: (cases, median seconds)} of one kernel, with one job."""
    words = ["verify", *subject.arguments(runner.build), "--level", level, "--jobs", "1", "--json", "-"]
    told = {}
    for _ in range(RUNS):
        exit_code, out, err = runner.run(words, TIME_LIMIT[level])
        if exit_code != 0:
            raise ValueError(f"{subject.name} has to conform: exit code {exit_code}: {err.strip()[-300:]}")
        for requirement in json.loads(out)["subjects"][0]["requirements"]:
            cases, seconds = told.setdefault(requirement["id"], (requirement["cases"], []))
            seconds.append(requirement["seconds"])
    return {name: (cases, statistics.median(seconds)) for name, (cases, seconds) in told.items()}


def of_matrix(text, mutants):
    """({mutant: the requirements that reject it at level quick}, the problems), from the text of KILL_MATRIX.md."""
    _, rows = matrix.read_matrix(text)
    missing = [f"{s.kernel} has no row in {kill_matrix.COMMITTED.name}" for s in mutants if s.kernel not in rows]
    # The matrix has the verdicts of level full for what level quick accepts.
    return {s.kernel: [] if s.entry.passes else rows[s.kernel][0] for s in mutants if s.kernel in rows}, missing


def judged(runner, subject, level, kept):
    job = Job(subject, level, options=("--require", matrix.DEMANDED, "--no-diagnosis"))
    result = kept.get(job)
    if result is None:
        (result,) = runner.judge([job])
        if result:
            kept.add(job, result)
    return result


def judged_all(runner, subjects, level, kept, threads):
    """({name: the requirements that reject it}, the problems)"""
    rejections, problems = {}, []
    with ThreadPoolExecutor(threads) as pool:
        for subject, result in zip(subjects, pool.map(lambda s: judged(runner, s, level, kept), subjects)):
            if result is None or "no_verdict" in result:
                problems.append(f"{subject.name}: {result['no_verdict'] if result else 'interrupted'}")
                continue
            rejections[f"{subject.set.name}#{subject.kernel}"] = ids(result["failed"])
    return rejections, problems


def costs_of(times, rejections):
    """The costliest first."""
    found = [Cost(requirement, cases, seconds,
                  [name for name, by in rejections.items() if requirement in by],
                  [name for name, by in rejections.items() if by == [requirement]])
             for requirement, (cases, seconds) in times.items()]
    return sorted(found, key=lambda cost: -cost.seconds)


def machine():
    """"2 CPUs, AMD EPYC": of this machine."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), model)
    except OSError:
        pass
    return f"{os.cpu_count()} CPUs, {model}"


def rows(costs):
    total = sum(cost.seconds for cost in costs)
    for cost in costs:
        yield (cost.requirement, cost.cases, f"{1e3 * cost.seconds:.0f}", f"{100 * cost.seconds / total:.1f} %",
               len(cost.rejected), len(cost.only_it), ", ".join(cost.only_it))


def render(costs, rejections, where, when):
    unseen = [name for name, by in rejections.items() if not by]
    idle = [cost.requirement for cost in costs if not cost.only_it]
    total = sum(cost.seconds for cost in costs)
    return "\n".join([
        "# What each requirement costs, and what only it rejects",
        "",
        f"Written by `{AGAIN}`; not to be edited. Timed was `ropecheck verify",
        f"mutants.so#{RIGHT} --level {LEVEL} --jobs 1`. Times are medians of {RUNS} runs ({where}; {when};",
        "other work may have run beside them). What rejects a mutant is as in [KILL_MATRIX.md](KILL_MATRIX.md). The",
        f"wrong kernels of {matrix.listed(JUDGED)} were judged with `--require {matrix.DEMANDED}`.",
        "",
        f"- All requirements together: {total:.2f} s, {sum(cost.cases for cost in costs)} cases.",
        f"- {len(rejections)} wrong kernels.",
        *textwrap.wrap(f"- Rejected by no requirement at level {LEVEL}: {matrix.listed(unseen)}.", width=120,
                       subsequent_indent="  ", break_long_words=False, break_on_hyphens=False),
        f"- {len(idle)} requirements reject nothing that no other one rejects. They take"
        f" {100 * sum(c.seconds for c in costs if not c.only_it) / total:.0f} % of the time.",
        "",
        "`rejects`: how many wrong kernels. `only it`: how many that no other requirement rejects.",
        "",
        *matrix.table(["requirement", "cases", "ms", "share", "rejects", "only it", "which"], rows(costs)),
    ]) + "\n"


def write_page(runner, known, kept, output, threads):
    """Returns problems; writes the page if there are none."""
    (right,) = [s for s in known if s.name == f"mutants.so#{RIGHT}"]
    times = timed(runner, right, LEVEL)
    wrong = [s for s in known if not s.entry.right]
    text = kill_matrix.COMMITTED.read_text(encoding="utf-8")
    of_mutants, missing = of_matrix(text, [s for s in wrong if s.set.name == "mutants"])
    of_others, problems = judged_all(runner, [s for s in wrong if s.set.name in JUDGED], LEVEL, kept, threads)
    if missing or problems:
        return missing + problems
    rejections = {**of_mutants, **of_others}
    today = datetime.date.today().isoformat()
    write(output, render(costs_of(times, rejections), rejections, machine(), today))
    print(f"{output}: {len(times)} requirements, {len(rejections)} wrong kernels")
    return []
