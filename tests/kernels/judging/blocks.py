"""Which blocks of cases reject a wrong kernel.

A block is what one line of the standard proposes for one requirement. Its name has the line's function and the number
of the line there: "ROT-01 accuracy_cases 2".
"""

import functools
import json
import re
from concurrent.futures import ThreadPoolExecutor

from .subjects import PYTHON, ROOT
from .verdicts import TIME_LIMIT, Job

PROGRAM = "rejecting_blocks"  # rejecting_blocks.cpp
STANDARD = ROOT / "tests" / "conformance"
FUNCTION = re.compile(r"[a-zA-Z].*[ &*](\w+)\(")
PROPOSAL = re.compile(r"\blist\.add\w*\(")


@functools.cache
def names_in(path):
    """{line: the block's name} of a file of the standard."""
    names, function, count = {}, "", 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if begin := FUNCTION.match(line):
            function, count = begin.group(1), 0
        if PROPOSAL.search(line):
            count += 1
            names[number] = f"{function} {count}"
    return names


def name_of(requirement, at):
    """`at`: FILE:LINE, or words."""
    file, _, line = at.partition(":")
    return f"{requirement} {names_in(STANDARD / file)[int(line)] if line else at}"


def job_of(subject):
    return Job(subject, "full" if subject.entry.passes == "full" else "quick", 1, subject.entry.demands)


def is_recorded(subject):
    """A block rejects only what some level rejects. The program opens libraries."""
    return not subject.entry.right and subject.entry.passes != "unseen" and subject.set is not PYTHON


def run(runner, job):
    subject = job.subject
    demands = [word for words in subject.entry.demands[1:] for word in words.split(",")]
    words = [str(runner.build / subject.library), subject.kernel, job.level, *demands]
    exit_code, out, said = runner.run(words, TIME_LIMIT[job.level], subject.environment(runner.build), PROGRAM)
    if exit_code != 0:
        return {"no_verdict": f"{PROGRAM}: exit code {exit_code}: {said[-400:]}"}
    return {"blocks": json.loads(out)}


def record(runner, subjects, kept, threads):
    """({kernel: its blocks}, problems). An interrupted run resumes."""
    blocks, problems = {}, []
    jobs = [job_of(s) for s in subjects if is_recorded(s)]

    def judged(job):
        return kept.get(job) or run(runner, job)

    with ThreadPoolExecutor(threads) as pool:
        for n, (job, result) in enumerate(zip(jobs, pool.map(judged, jobs)), 1):
            if runner.stopped:
                break
            if "no_verdict" in result:
                problems.append(f"{job.subject.name}: {result['no_verdict']}")
                continue
            if kept.get(job) is None:
                kept.add(job, result)
                print(f"{n} of {len(jobs)}  {job.subject.name}", flush=True)
            failing = [name_of(requirement, at) for requirement, lines in result["blocks"].items() for at in lines]
            blocks[job.subject.name] = frozenset(failing)
    return blocks, problems
