"""How often is the class that `ropecheck verify` names first the right one?"""

import os
import random
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from .expectations import is_to_be_judged_in_full, problem_of_wrong
from .minimal import ROWS
from .subjects import ROOT
from .verdicts import Job

PAIR = "MUTANT_PAIR"  # mutants/combined.cpp
MUTANTS = "mutants.so"


# Rows of the table of bugs that the diagnosis calls otherwise, and why.
SAME_FUNCTION = "the other words say the same of all these calls"
LARGEST_CALLS = "it shows only in the largest calls, of which the diagnosis tries none"
CALLED_OTHERWISE = {
    "PREC-TF32": SAME_FUNCTION, "PART-03": SAME_FUNCTION, "BWD-KEY": SAME_FUNCTION, "MEM-KEY-DENSE": SAME_FUNCTION,
    "HEAD-FAST-DECODE": "its guard has five parts, and a condition three: heads in tiles need one less",
    "MEM-EXPANDED": "most calls end outside, where another stride leaves the tensor, too",
    "PART-TAIL-VECTORS": "the condition says which features are meant",
    "LIM-01": LARGEST_CALLS, "LIM-BATCHES": LARGEST_CALLS, "LIM-HEADS": LARGEST_CALLS, "LIM-ROWS": LARGEST_CALLS,
    "LIM-KEY-TOKENS": LARGEST_CALLS, "LIM-GRADIENT-TOKENS": LARGEST_CALLS, "LIM-HALF-TOKENS": LARGEST_CALLS,
}


def problem_of_row(subject, result):
    """A mutant that is a row must be called by the row's words: its description begins with them."""
    name = subject.kernel
    if subject.library != MUTANTS or name not in ROWS or not result["failed"]:
        return None
    said = (result.get("candidates") or [{"sentence": "nothing"}])[0]["sentence"]
    is_called = subject.entry.sentence.startswith(said)
    if is_called == (name not in CALLED_OTHERWISE):
        return None
    if is_called:
        return "is called by its row; take it out of CALLED_OTHERWISE"
    return f"is not called by its row, \"{subject.entry.sentence}\", but: {said}"


def held_out(name):
    """Whether the mutant is in the third that nobody looked at while writing the diagnosis."""
    return zlib.crc32(name.encode()) % 3 == 0


def is_named(subject, result):
    """Whether the first cause is of a right class. Where there is none: whether the claim that is not supported is one."""
    claims = result.get("unsupported", [])
    return any(claim in subject.entry.classes for claim in claims) or is_right(subject.entry.classes, result.get("candidates"))


def is_right(classes, candidates):
    """Whether the first-named class is one of the kernel's classes."""
    return bool(candidates) and candidates[0]["class"] in classes


def options_of(entry, dtype=None, whole=False):
    """Options for verify: the named requirements, if any, and ROT-01, which most kernels share."""
    only = [] if whole or not entry.requirements else ["--only", ",".join(sorted({*entry.requirements, "ROT-01"}))]
    return (*only, *entry.demands, *(["--dtype", dtype] if dtype else []))


def joined(first, second):
    """Two mutants as one kernel: it has the classes of both, and the requirements of both reject it."""
    one, other = first.entry, second.entry
    entry = replace(
        one, name=f"{one.name}+{other.name}", classes=one.classes + other.classes,
        requirements=one.requirements + other.requirements, bitwise=one.bitwise or other.bitwise,
        sentence=f"{one.sentence}; {other.sentence}")
    return replace(first, kernel=entry.name, entry=entry)


def can_be_joined(build, pair):
    """Whether mutants.so can combine both: they must override different stages."""
    program = f"import rope_kernel; print({pair!r} in rope_kernel.Library({str(build / MUTANTS)!r}).kernels)"
    environment = {**os.environ, PAIR: pair, "PYTHONPATH": str(ROOT / "tools" / "python")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip() == "True"


def pairs_of(build, subjects, count, seed):
    """Random combinations of two mutants, as subjects."""
    mutants = [s for s in subjects if s.library == MUTANTS and s.entry.requirements]
    generator = random.Random(seed)
    pairs = {}
    while len(pairs) < count:
        pair = joined(*generator.sample(mutants, 2))
        if pair.kernel not in pairs and can_be_joined(build, pair.kernel):
            pairs[pair.kernel] = pair
    return list(pairs.values())


def share(rows):
    good = sum(1 for row in rows if row)
    return f"{good} of {len(rows)} ({100 * good / max(len(rows), 1):.1f} %)"


def words_of(subject, result):
    candidates = result.get("candidates")
    if "unsupported" in result:
        verdict = "rightly" if is_named(subject, result) else "WRONGLY"
        return f"named {verdict}: does not support what it claims: {', '.join(result['unsupported'])}"
    if not candidates:
        return "is NOT NAMED"
    right = is_right(subject.entry.classes, candidates)
    verdict = "rightly" if right else f"WRONGLY, it is {' or '.join(subject.entry.classes)}"
    first = candidates[0]
    return f"named {verdict}: {first['class']}: {first['sentence']}; {first['condition']} ({first['fit']:.2f})"


def measure(runner, subjects, level, dtype=None, whole=False, threads=2):
    """Judges with the diagnosis and prints a line for each kernel. Returns ({name: whether named rightly}, problems). A
    kernel that is not rejected does not count: in one dtype, or as a part of two, it need not be."""

    def judge(subject):
        environment = {PAIR: subject.kernel} if subject.library == MUTANTS and "+" in subject.kernel else None
        job = Job(subject, level, options=options_of(subject.entry, dtype, whole))
        (result,) = runner.judge([job], environment)
        if result and not dtype and is_to_be_judged_in_full(subject.entry, level, result):
            (result,) = runner.judge([replace(job, level="full")], environment)
        return result

    named, problems = {}, []
    with ThreadPoolExecutor(threads) as pool:
        for subject, result in zip(subjects, pool.map(judge, subjects)):
            if result is None:
                continue
            shows = bool(result["failed"])
            problem = None
            if "no_verdict" in result:
                problem = result["no_verdict"]
            elif not shows and not dtype and "+" not in subject.kernel:
                problem = problem_of_wrong(replace(subject.entry, requirements=()), level, result)
            if not dtype:
                problem = problem or problem_of_row(subject, result)
            words = problem or (words_of(subject, result) if shows else "does not show")
            print(f"{subject.name:<44} {result['seconds']:6.1f} s  {words}", flush=True)
            if problem:
                problems.append(f"{subject.name}: {problem}")
            if shows or "no_verdict" in result:
                named[subject.name] = shows and is_named(subject, result)
    return named, problems


def print_shares(named):
    print(f"named rightly: {share(list(named.values()))}")
    mutants = {name.partition("#")[2]: good for name, good in named.items() if name.startswith(MUTANTS)}
    if mutants and not any("+" in name for name in mutants):
        for words, is_held in (("held out", True), ("looked at", False)):
            print(f"  of the mutants that were {words}: "
                  f"{share([good for name, good in mutants.items() if held_out(name) == is_held])}")
