"""Everything that the suite says, as one JSON file: comparing two shows whether a change moved a verdict.

Each kernel is judged at level quick, seed 1, with the diagnosis. Its record has the exit code, the number
of cases and the grades. It also has what failed, was noted or was not claimed, the bug classes of the diagnosis, and
the first cause's sentence with its condition.
"""

import json
import os
from concurrent.futures import ThreadPoolExecutor

from .subjects import PYTHON
from .verdicts import condensed

LIBRARIES = ("mutants.so", "legal_o3.so", "drawn_o3.so", "designs.so")
BUILTINS = ("naive_matrix", "half_split", "interleaved", "complex", "cuda-on-cpu")
TIME_LIMIT = 900  # seconds per run


def key_of(subject):
    return f"{subject.library}/{subject.kernel}"


def work_of(runner, subjects):
    """{key: what makes its record}: the command's own kernels, the libraries' kernels, golden verify."""
    work = {f"builtin/{name}": lambda words=(name,): verdict(runner, words) for name in BUILTINS}
    for subject in subjects:
        if subject.library in LIBRARIES or subject.set is PYTHON:
            words = [*subject.arguments(runner.build, runner.interpreter), *subject.entry.demands]
            work[key_of(subject)] = lambda words=words: verdict(runner, words)
    return work | {f"golden/{name}": lambda name=name: golden(runner, name) for name in BUILTINS}


def verdict(runner, words):
    exit_code, out, _ = runner.run(["verify", *words, "--level", "quick", "--seed", "1", "--jobs", "1", "--json",
                                   "-"], TIME_LIMIT)
    try:
        subject = json.loads(out)["subjects"][0]
    except (ValueError, LookupError):
        return {"exit_code": exit_code}
    return told(condensed(exit_code, subject))


def told(result):
    if "cases" not in result:
        return {"exit_code": result["exit_code"]}
    record = {"exit_code": result["exit_code"], "cases": result["cases"]}
    for kind in ("fail", "note", "not_claimed"):
        record[kind] = [requirement for requirement, said in result["verdicts"].items() if said == kind]
    record["grades"] = {dtype: None if grade == "none" else grade for dtype, grade in result["grades"].items()}
    if "candidates" in result:
        record["classes"] = [candidate["class"] for candidate in result["candidates"]]
        record["sentence"] = ", ".join(filter(None, sentence_of(result["candidates"][:1])))
        record["certain"] = result["certain"]
    return record


def sentence_of(candidates):
    return [text for candidate in candidates for text in (candidate["sentence"], candidate["condition"])]


def golden(runner, kernel):
    exit_code, out, _ = runner.run(["golden", "verify", kernel], TIME_LIMIT)
    return {"exit_code": exit_code, "said": out.splitlines()[-1:]}


def write(path, records):
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n")
    os.replace(temporary, path)


def record(runner, work, path, threads):
    """Adds missing records to the file; an interrupted run resumes."""
    records = json.loads(path.read_text()) if path.exists() else {}
    todo = [key for key in work if key not in records]
    with ThreadPoolExecutor(threads) as pool:
        for n, (key, result) in enumerate(zip(todo, pool.map(lambda key: work[key](), todo)), 1):
            if runner.stopped:
                break
            records[key] = result
            print(f"{n} of {len(todo)}  {key}  {result.get('fail', result['exit_code'])}", flush=True)
            if n % 20 == 0 or n == len(todo):
                write(path, records)


def compare(before, after):
    """Prints the differences of two records; returns how many differ."""
    differences = 0
    for key in sorted({*before, *after}):
        one, other = before.get(key), after.get(key)
        if one == other:
            continue
        differences += 1
        if one is None or other is None:
            print(f"{key}: only in the {'second' if one is None else 'first'}")
            continue
        for field in sorted({*one, *other}):
            if one.get(field) != other.get(field):
                print(f"{key}: {field}: {one.get(field)} -> {other.get(field)}")
    print(f"{len({*before, *after})} subjects, {differences} differ")
    return differences
