#!/usr/bin/env python3
"""Judges the real kernels and writes the matrix into README.md.

    python3 tools/adapters/matrix.py                 judges what has changed, then writes the page
    python3 tools/adapters/matrix.py --again NAME    judges this kernel again, or `all`

Needs build/release/ropecheck, or --program. Makes build/kernels-venv if it is missing. Each report is kept in reports/,
so an interrupted run resumes; build/matrix/ says what each was made with. Exit codes: 0 written; 1 a kernel could not
be judged; 3 the packages are not available.
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
import stored
from kernels import BUILT_IN, KERNELS, RealKernel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = HERE / "README.md"
PROGRAM = ROOT / "build" / "release" / "ropecheck"
STATES = ROOT / "build" / "matrix"
BEGIN, END = "<!-- written by matrix.py -->", "<!-- end -->"
LEVEL = "quick"
LONGEST = 900  # seconds that one kernel may take
CONFORMS, DOES_NOT, NOTHING_ASKED, CANNOT_START = 0, 1, 2, 3  # exit codes
LONGEST_MESSAGE = 320
NOT_OK = "the kernel claims this case and answered failed: "  # the raised message follows


def say(text: str) -> None:
    print(f"matrix: {text}", file=sys.stderr, flush=True)


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def version_of(kernel: RealKernel, program: Path) -> str:
    if kernel in BUILT_IN:
        return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return importlib.metadata.version(kernel.package)


def state_of(kernel: RealKernel, program: Path) -> str:
    """A new state makes a stored report stale: the package, the options, our program and package."""
    digest = hashlib.sha256(f"{kernel} {version_of(kernel, program)} {LEVEL}".encode())
    for file in (program, *sorted((ROOT / "tools" / "python" / "ropecheck").rglob("*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def judge(kernel: RealKernel, program: Path, options: tuple[str, ...], permitted: tuple[int, ...] = ()) -> dict:
    """One kernel's report. Raises RuntimeError if there is none."""
    STATES.mkdir(parents=True, exist_ok=True)
    report = STATES / f"{kernel.name}.unfinished.json"
    report.unlink(missing_ok=True)
    command = [str(program), "verify", *kernel.words, "--level", LEVEL, "--json", str(report), *options]
    # A program outside of build/ does not find the package of this repository by itself.
    variables = {**os.environ, "ROPECHECK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "tools" / "python"),
                 "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=HERE, env=variables, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{kernel.name}: no verdict after {LONGEST} seconds") from None
    if done.returncode not in (CONFORMS, DOES_NOT, *permitted) or not report.is_file():
        raise RuntimeError(f"{kernel.name}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    made = json.loads(report.read_text())
    report.unlink()
    return made


def without(options: tuple[str, ...], *names: str) -> list[str]:
    """The options without these, each of which has a value."""
    return [word for i, word in enumerate(options)
            if word not in names and (i == 0 or options[i - 1] not in names)]


def fails_in(kernel: RealKernel, program: Path, report: dict) -> dict[str, list[str]]:
    """{dtype: the requirements that fail in it}. Those that failed are judged again in each dtype by itself: a report
    has only the smallest failing case of each."""
    (subject,) = report["subjects"]
    failed = {one["id"]: one["failure"]["case"] for one in subject["requirements"] if one["verdict"] == "fail"}
    dtypes = [one["dtype"] for one in subject["grades"]]
    if not failed or len(dtypes) < 2:
        return {dtype: sorted(failed) for dtype in dtypes if failed}
    found = {dtype: {id for id, case in failed.items() if f",dtype={dtype}," in f"{case},"} for dtype in dtypes}
    for id, case in failed.items():
        if ",dtype=" not in case and "f32" in found:  # f32 is not written into a case
            found["f32"].add(id)
    again = without(kernel.options, "--dtype", "--only")
    for dtype in dtypes:
        words = (*again, "--dtype", dtype, "--only", ",".join(failed), "--no-diagnosis")
        (one,) = judge(kernel, program, words, (NOTHING_ASKED,))["subjects"]  # perhaps no case has this dtype
        found[dtype] |= {each["id"] for each in one["requirements"] if each["verdict"] == "fail"}
    return {dtype: sorted(ids, key=list(failed).index) for dtype, ids in found.items() if ids}


def is_current(kernel: RealKernel, state: str) -> bool:
    mark = STATES / f"{kernel.name}.state"
    return (mark.is_file() and mark.read_text() == state and kernel.name in stored.index()
            and (stored.REPORTS / f"{kernel.name}.json").is_file())


def judge_all(kernels: list[RealKernel], program: Path, again: str | None) -> bool:
    """Judges what is not current. Whether each kernel could be judged."""
    complete = True
    for number, kernel in enumerate(kernels, 1):
        state = state_of(kernel, program)
        if is_current(kernel, state) and again not in (kernel.name, "all"):
            continue
        progress(f"{number} of {len(kernels)}: {kernel.name}")
        started = time.monotonic()
        try:
            report = judge(kernel, program, kernel.options)
            failing = fails_in(kernel, program, report)
        except RuntimeError as error:
            progress("")
            say(str(error))
            complete = False
            continue
        stored.keep(kernel.name, report, version_of(kernel, program), failing)
        stored.write(STATES / f"{kernel.name}.state", state)
        progress(f"{kernel.name}: {time.monotonic() - started:.0f} s")
    progress("")
    return complete


def claims_of(report: dict) -> str:
    """The claims in short: where angles come from, the pairing if there is one, and the features."""
    claimed = {each["kind"]: [*each["asked"], *each["not_asked"]] for each in report["claims"]}
    pairing = claimed["pairings"] if len(claimed["pairings"]) == 1 else []
    return ", ".join([*claimed["angles from"], *pairing, *claimed.get("features", [])]).replace("_", "-")


def horizon_of(report: dict) -> str:
    """Only for computed angles: with tables the horizon belongs to the tables."""
    lines = [f"{one['dtype']} {one['position']}" for one in report["horizons"] if one["source"] == "computed"]
    return "<br>".join(lines) or "-"


def row(kernel: RealKernel, version: str, report: dict) -> str:
    failed = [one["id"] for one in report["requirements"] if one["verdict"] == "fail"]
    notes = sum(one["verdict"] == "note" for one in report["requirements"])
    cells = [
        f"{kernel.package} {version}: {kernel.shown}" + (f" (`{' '.join(kernel.options)}`)"
                                                                     if kernel.options else ""),
        claims_of(report),
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
    """Empty without a diagnosis. If the sentence only repeats what was raised, only what it hangs on is told."""
    found = report.get("diagnosis", {})
    if not found.get("candidates"):
        return ""
    first = found["candidates"][0]
    words = "" if found["certain"] else "not certain, most likely "
    repeats = first["class"] == "exception" or first["sentence"].startswith(NOT_OK)
    told = "" if repeats else f"{words}{first['class']}: {shortened(first['sentence'])}"
    trigger = f"fails with: {found['trigger']}" if found["trigger"] else ""
    parts = [part for part in (told, trigger or first["condition"]) if part]
    return f"- diagnosis: {'; '.join(parts)}" if parts else ""


def details(kernel: RealKernel, report: dict) -> list[str]:
    """What failed, each with a case that shows it."""
    failed = [one for one in report["requirements"] if one["verdict"] == "fail"]
    if not failed:
        return []
    lines = ["", f"**{kernel.package}: {kernel.shown}** (`{kernel.name}`),"
             f" `--subject '{' '.join(kernel.words)}'`", ""]
    for one in failed:
        lines.append(f"- {one['id']}, {one['failed']} of {one['cases']} cases: {shortened(one['failure']['message'])}")
        lines.append(f"  `ropecheck replay '{one['failure']['case']}'`")
    return lines + [line for line in (diagnosis_of(report),) if line]


def page() -> str:
    lines = [
        f"Level {LEVEL}, seed 1. Horizon: the largest position up to which scores are shift-invariant to 0.001 (f32) or"
        " 0.0156 (16 bit), where the kernel computes the angles itself. To replay a case, go to this folder and add the"
        " subject of its heading and `--python ../../build/kernels-venv/bin/python`.",
        "",
        "| kernel | claims | verdict | grades | horizon | failed | notes | cases, time |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    versions = stored.index()
    judged = [(kernel, stored.report_of(kernel.name)["subjects"][0]) for kernel in KERNELS if kernel.name in versions]
    lines += [row(kernel, versions[kernel.name]["version"], report) for kernel, report in judged]
    for kernel, report in judged:
        lines += details(kernel, report)
    return "\n".join(lines)


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [kernel.name for kernel in (*KERNELS, *BUILT_IN)]
    parser.add_argument("--again", choices=["all", *names])
    parser.add_argument("--only", choices=names, nargs="+", help="judges only these")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="default: build/release/ropecheck")
    return parser.parse_args(words)


def main() -> int:
    arguments = arguments_of(sys.argv[1:])
    program = arguments.program.resolve()
    if not program.is_file():
        say(f"{program} is not there; `tools/run --version` builds it")
        return CANNOT_START
    if Path(sys.prefix) != packages.EVERY:
        try:
            python = packages.every_python(say)
        except pinned_environment.Unavailable as error:
            say(str(error))
            return CANNOT_START
        os.execv(python, [str(python), "-B", *sys.argv])
    chosen = [kernel for kernel in (*KERNELS, *BUILT_IN) if not arguments.only or kernel.name in arguments.only]
    complete = judge_all(chosen, program, arguments.again)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    stored.write(PAGE, f"{before}{BEGIN}\n\n{page()}\n\n{END}{rest.partition(END)[2]}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
