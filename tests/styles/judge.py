#!/usr/bin/env python3
"""Does the suite tell right kernels with narrow claims from wrong ones?

    judge.py BUILD                           every kernel of styles.so, engines.so and reported.so at level quick, which
                                             is the test `styles`
    judge.py BUILD --level full              the same at level full
    judge.py BUILD --diagnosis               also whether the class that is named first is one of the kernel's
    judge.py BUILD paged tiles/f16-saturate  some, by name
    judge.py BUILD --python PYTHON           those in python/, run by an interpreter with numpy, ml_dtypes and torch
    judge.py BUILD --python PYTHON vllm      those of one convention; own_numpy and the two of onnx do without torch

kernels.txt here and in engines/, reported/ and python/ says what each is. A right kernel must conform, a wrong one must
be rejected, at level full where it conforms at level quick, and libraries and lists must have the same kernels. What
the diagnosis names is printed and decides nothing.

Exit codes: 0 all as the list says, 1 not so, 2 usage or nothing to judge.
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

LISTS = {
    "styles.so": HERE / "kernels.txt",
    "engines.so": HERE / "engines" / "kernels.txt",
    "reported.so": HERE / "reported" / "kernels.txt",
}
RIGHT = "right"
OWN = "own_"  # modules of kernels with the decorator; the others are named by their convention
TIME_LIMIT = {"quick": 300, "full": 1800}  # seconds a run; a right kernel takes 2 and 20 of one core


class Compiled:
    """The kernels of styles.so, engines.so and reported.so."""

    lists = tuple(LISTS.values())

    def __init__(self, build):
        self.libraries = {kernel: build / library for library in LISTS for kernel in Library(build / library).kernels}

    def names(self, listed):
        return list(self.libraries)

    def arguments(self, name):
        return [f"{self.libraries[name]}#{name}"]

    def belongs(self, kernel, name):
        return kernel == name


class InPython:
    """The functions and classes of python/kernels/, MODULE:NAME."""

    folder = HERE / "python"
    lists = (folder / "kernels.txt",)

    def __init__(self, interpreter):
        self.interpreter = interpreter

    def names(self, listed):
        return list(listed)  # among their helpers nothing marks them; one that is not there gets no verdict

    def arguments(self, name):
        module = name.split(":")[0]
        convention = [] if module.startswith(OWN) else ["--convention", module]
        return [f"python:kernels.{name}", "--python", self.interpreter, *convention]

    def belongs(self, kernel, name):
        return name in (kernel, kernel.split(":")[0])


def read_list(text):
    """{kernel: (its classes, what it does)}; the only class of a right one is RIGHT. Raises ValueError."""
    listed = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) != 3:
            raise ValueError(f"kernels.txt: name, class and sentence are needed: {line}")
        name, classes, sentence = words
        if name in listed:
            raise ValueError(f"kernels.txt: {name} stands there twice")
        listed[name] = (classes.replace("+", "|").split("|"), sentence)
    return listed


def listed_for(style):
    return read_list("\n".join(path.read_text() for path in style.lists))


def is_right(name, listed):
    return listed[name][0] == [RIGHT]


def problems_of_list(kernels, listed):
    problems = [f"{name} does not stand in kernels.txt; say there what it is" for name in kernels if name not in listed]
    return problems + [f"{name} stands in kernels.txt and in no library" for name in listed if name not in kernels]


def problem_of(name, exit_code, failed, listed):
    """What is not as the list says, or None. `failed`: the requirements that it failed, None without a report."""
    if exit_code not in (0, 1) or failed is None or bool(failed) != (exit_code == 1):
        return f"verify gave no verdict: exit code {exit_code}, failed {failed}"
    if is_right(name, listed):
        return f"is right and rejected by {', '.join(failed)}" if failed else None
    return None if failed else f"is wrong and conforms: {listed[name][1]}"


def named_rightly(name, found, listed):
    """Whether the class that the diagnosis names first is one of the kernel's."""
    return bool(found) and found[0]["class"] in listed[name][0]


def judge(build, arguments, level, options):
    """Exit code, the requirements that it failed, the candidates of the diagnosis, seconds."""
    command = [str(build / "ropecheck"), "verify", *arguments, "--level", level, "--json", "-", *options]
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT[level], check=False, cwd=InPython.folder
        )
        exit_code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        exit_code, out, err = "none within the time limit", "", ""
    failed, found = None, []
    try:
        told = json.loads(out)["subjects"][0]
        failed = [requirement["id"] for requirement in told["requirements"] if requirement["verdict"] == "fail"]
        found = told.get("diagnosis", {}).get("candidates", [])
    except (ValueError, LookupError):
        sys.stderr.write(err)
    return exit_code, failed, found, time.monotonic() - start


def words_of(name, failed, found, listed, diagnosis):
    if not failed:
        return "conforms"
    if not diagnosis or is_right(name, listed):
        return f"rejected first by {failed[0]}"
    if not found:
        return f"rejected by {len(failed)}, NOT NAMED"
    verdict = "rightly" if named_rightly(name, found, listed) else f"WRONGLY, it is {' or '.join(listed[name][0])}"
    return f"rejected by {len(failed)}, named {verdict}: {found[0]['class']}: {found[0]['sentence']}"


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help=f"where ropecheck, {', '.join(LISTS)} are")
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels; none: all")
    parser.add_argument("--python", metavar="PYTHON", help="judge those in Python, with this interpreter")
    parser.add_argument("--level", choices=tuple(TIME_LIMIT), default="quick")
    parser.add_argument("--diagnosis", action="store_true", help="how often the first-named class is the right one")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_intermixed_args(words)
    build = options.build.resolve()
    for program in ["ropecheck"] if options.python else ["ropecheck", *LISTS]:
        if not (build / program).is_file():
            parser.error(f"{build / program} is missing")
    # Not resolved: the interpreter of a virtual environment is a link.
    style = InPython(str(Path(options.python).absolute())) if options.python else Compiled(build)

    try:
        listed = listed_for(style)
    except ValueError as error:
        parser.error(str(error))
    kernels = style.names(listed)
    unknown = [name for name in options.names if not any(style.belongs(kernel, name) for kernel in kernels)]
    if unknown:
        parser.error(f"no kernel of that name: {', '.join(unknown)}")
    problems = problems_of_list(kernels, listed)
    named = options.names
    chosen = [k for k in kernels if k in listed and (not named or any(style.belongs(k, name) for name in named))]

    def one(name):
        wrong = not is_right(name, listed)
        flags = ["--no-diagnosis", "--fail-fast"] if wrong and not options.diagnosis else []
        judged = judge(build, style.arguments(name), options.level, flags)
        if wrong and judged[0] == 0 and options.level == "quick":
            return judge(build, style.arguments(name), "full", flags)
        return judged

    rightly = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, (exit_code, failed, found, seconds) in zip(chosen, pool.map(one, chosen)):
            problem = problem_of(name, exit_code, failed, listed)
            words = problem or words_of(name, failed, found, listed, options.diagnosis)
            print(f"{name:<42} {seconds:5.1f} s  {words}", flush=True)
            if problem:
                problems.append(f"{name}: {problem}")
            if not is_right(name, listed):
                rightly.append(named_rightly(name, found, listed))

    for problem in problems:
        print(f"judge.py: {problem}", file=sys.stderr)
    if options.diagnosis and rightly:
        print(f"named rightly: {sum(rightly)} of {len(rightly)} ({100 * sum(rightly) / len(rightly):.1f} %)")
    judged = f"{len(chosen)} of {len(kernels)} kernels judged at level {options.level}"
    print(f"{judged}, {len(problems)} not as the list says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
