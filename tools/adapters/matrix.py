#!/usr/bin/env python3
"""Judges the real kernels and writes the matrix into README.md.

    python3 tools/adapters/matrix.py                 judges what has changed, then writes the page
    python3 tools/adapters/matrix.py --again NAME    judges this kernel again, or `all`

Needs build/release/ropecheck. Makes build/adapters-venv if it is missing. Each report is kept in build/matrix/, so an
interrupted run resumes. Exit codes: 0 written; 1 a kernel could not be judged; 3 the packages are not
available.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import packages
import pinned_environment
from kernels import KERNELS, RealKernel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = HERE / "README.md"
PROGRAM = ROOT / "build" / "release" / "ropecheck"
REPORTS = ROOT / "build" / "matrix"
BEGIN, END = "<!-- written by matrix.py -->", "<!-- end -->"
LEVEL = "quick"
LONGEST = 900  # seconds that one kernel may take
CANNOT_START = 3
LONGEST_MESSAGE = 320
NOT_OK = "the kernel claims this case and answered failed: "  # the raised message follows


def say(text: str) -> None:
    print(f"matrix: {text}", file=sys.stderr, flush=True)


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def write(path: Path, text: str) -> None:
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(text)
    unfinished.rename(path)


def version_of(kernel: RealKernel) -> str:
    return importlib.metadata.version(kernel.package)


def state_of(kernel: RealKernel) -> str:
    """A new state makes a stored report stale: the package, the options, our program and package."""
    digest = hashlib.sha256(f"{kernel} {version_of(kernel)} {LEVEL}".encode())
    for file in (PROGRAM, *sorted((ROOT / "tools" / "python" / "ropecheck").rglob("*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def judge(kernel: RealKernel) -> dict:
    """One kernel's report. Raises RuntimeError if there is none."""
    report = REPORTS / f"{kernel.name}.unfinished.json"
    report.unlink(missing_ok=True)
    command = [str(PROGRAM), "verify", f"python:{kernel.subject}", "--convention", kernel.convention, "--level", LEVEL,
               "--json", str(report), *kernel.options]
    variables = {**os.environ, "ROPECHECK_PYTHON": sys.executable}
    try:
        done = subprocess.run(command, cwd=HERE, env=variables, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{kernel.name}: no verdict after {LONGEST} seconds") from None
    if done.returncode not in (0, 1) or not report.is_file():
        raise RuntimeError(f"{kernel.name}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    subject = json.loads(report.read_text())["subjects"][0]
    report.unlink()
    return subject


def reports(again: str | None) -> dict[str, dict]:
    """The reports of all kernels that can be judged. A stored, current report is used again."""
    found = {}
    REPORTS.mkdir(parents=True, exist_ok=True)
    for number, kernel in enumerate(KERNELS, 1):
        stored = REPORTS / f"{kernel.name}.json"
        state = state_of(kernel)
        if stored.is_file() and again not in (kernel.name, "all"):
            kept = json.loads(stored.read_text())
            if kept["state"] == state:
                found[kernel.name] = kept["report"]
                continue
        progress(f"{number} of {len(KERNELS)}: {kernel.name}")
        started = time.monotonic()
        try:
            found[kernel.name] = judge(kernel)
        except RuntimeError as error:
            progress("")
            say(str(error))
            continue
        write(stored, json.dumps({"state": state, "report": found[kernel.name]}))
        progress(f"{kernel.name}: {time.monotonic() - started:.0f} s")
    progress("")
    return found


def claims_of(kernel: RealKernel) -> str:
    """The claims in short, from the convention itself."""
    sys.path.insert(0, str(ROOT / "tools" / "python"))
    from ropecheck.capabilities import capabilities_of
    from ropecheck.conventions import adapt
    from ropecheck.names import FEATURES

    claimed = capabilities_of(adapt(lambda *_: None, kernel.convention))
    words = [*claimed.sources, *claimed.pairings] if len(claimed.pairings) == 1 else [*claimed.sources]
    words += [feature for feature in FEATURES if feature in (claimed.features or ())]
    return ", ".join(words).replace("_", " ")


def horizon_of(report: dict) -> str:
    """Only for computed angles: with tables the horizon belongs to the tables."""
    lines = [f"{one['dtype']} {one['position']}" for one in report["horizons"] if one["source"] == "computed"]
    return "<br>".join(lines) or "-"


def row(kernel: RealKernel, report: dict) -> str:
    failed = [one["id"] for one in report["requirements"] if one["verdict"] == "fail"]
    notes = sum(one["verdict"] == "note" for one in report["requirements"])
    cells = [
        f"{kernel.package} {version_of(kernel)}: {kernel.shown}" + (f" (`{' '.join(kernel.options)}`)"
                                                                     if kernel.options else ""),
        claims_of(kernel),
        "conforms" if report["conforms"] else "**does not conform**",
        "<br>".join(f"{one['dtype']} {one['grade'] or 'none'}" for one in report["grades"]),
        horizon_of(report),
        ", ".join(failed) or "-",
        str(notes),
        f"{report['cases']}, {report['seconds']:.0f} s",
    ]
    return f"| {' | '.join(cells)} |"


def shortened(message: str) -> str:
    first = message.split("\n")[0].split("; it printed last")[0].removeprefix(NOT_OK)
    return first if len(first) <= LONGEST_MESSAGE else first[:LONGEST_MESSAGE].rstrip() + " .."


def diagnosis_of(report: dict) -> str:
    """Empty without a diagnosis. If the sentence only repeats what was raised, only the trigger is told."""
    found = report.get("diagnosis", {})
    if not found.get("candidates"):
        return ""
    first = found["candidates"][0]
    words = "" if found["certain"] else "not certain, most likely "
    repeats = first["class"] == "exception" or first["sentence"].startswith(NOT_OK)
    told = "" if repeats else f"{words}{first['class']}: {shortened(first['sentence'])}; "
    return f"- diagnosis: {told}fails with: {found['trigger']}"


def details(kernel: RealKernel, report: dict) -> list[str]:
    """What failed, each with a case that shows it."""
    failed = [one for one in report["requirements"] if one["verdict"] == "fail"]
    if not failed:
        return []
    lines = ["", f"**{kernel.package}: {kernel.shown}** (`{kernel.name}`),"
             f" `--subject 'python:{kernel.subject} --convention {kernel.convention}'`", ""]
    for one in failed:
        lines.append(f"- {one['id']}, {one['failed']} of {one['cases']} cases: {shortened(one['failure']['message'])}")
        lines.append(f"  `ropecheck replay '{one['failure']['case']}'`")
    return lines + [line for line in (diagnosis_of(report),) if line]


def page(found: dict[str, dict]) -> str:
    lines = [
        f"Level {LEVEL}, seed 1. Horizon: the largest position up to which scores are shift-invariant to 0.001 (f32) or"
        " 0.0156 (16 bit), where the kernel computes the angles itself. To replay a case, go to this folder and add the"
        " subject of its heading and `--python ../../build/adapters-venv/bin/python`.",
        "",
        "| kernel | claims | verdict | grades | horizon | failed | notes | cases, time |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    judged = [(kernel, found[kernel.name]) for kernel in KERNELS if kernel.name in found]
    lines += [row(kernel, report) for kernel, report in judged]
    for kernel, report in judged:
        lines += details(kernel, report)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", choices=["all", *(kernel.name for kernel in KERNELS)])
    arguments = parser.parse_args()
    if not PROGRAM.is_file():
        say(f"{PROGRAM} is not there; `tools/run --version` builds it")
        return CANNOT_START
    if Path(sys.prefix) != packages.VENV:
        try:
            python = packages.python(say)
        except pinned_environment.Unavailable as error:
            say(str(error))
            return CANNOT_START
        os.execv(python, [str(python), "-B", *sys.argv])
    found = reports(arguments.again)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    write(PAGE, f"{before}{BEGIN}\n\n{page(found)}\n\n{END}{rest.partition(END)[2]}")
    return 0 if len(found) == len(KERNELS) else 1


if __name__ == "__main__":
    sys.exit(main())
