#!/usr/bin/env python3
"""Would the rope tests of other projects reject the real kernels of tools/adapters?

    published_real.py [KERNEL...]       judges these, default all; writes tools/adapters/published.json

Each kernel is asked the calls that it claims, see published/python_kernel.py. Makes build/kernels-venv if it is
missing. Exit codes: 0 written; 2 bad arguments; 3 the packages are not available.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads would not survive the forks
ROOT = Path(__file__).resolve().parents[2]
ADAPTERS = ROOT / "tools" / "adapters"
sys.path.insert(0, str(ADAPTERS))

import packages  # noqa: E402
import pinned_environment  # noqa: E402
import stored  # noqa: E402
from kernels import KERNELS  # noqa: E402

PAGE = ADAPTERS / "published.json"
LONGEST = 1200  # seconds per process: some kernels are compiled or interpreted anew for each shape
CANNOT_START = 3


def say(text: str) -> None:
    print(f"published_real.py: {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class EveryDraw:
    """A column's cases, made where they are judged."""

    rule: object
    dtype: str
    draws: int

    def __iter__(self):
        for draw in range(self.draws):
            yield from self.rule.cases(self.dtype, draw)


def judged(kernels):
    """{kernel: {column: {"cases": .., "wrong": ..}}}; a column that the kernel is asked nothing by has 0 cases."""
    from published.children import judge_all
    from published.draws import DRAWS
    from published.python_kernel import PythonKernel, PythonLibrary
    from published.rules import RULES

    cases = {column: EveryDraw(rule, dtype, DRAWS)
             for rule in RULES for column, dtype in zip(rule.columns(), rule.tolerance)}
    library = PythonLibrary(kernels)
    found = {}
    for kernel in kernels:
        started = time.monotonic()
        verdicts = {}
        asked = judge_all(library, {kernel.name: list(cases)}, cases, 1,
                          PythonKernel.claims_case, LONGEST)
        for _, column, verdict in asked:
            verdicts[column] = {"cases": verdict.cases, "wrong": verdict.wrong}
        found[kernel.name] = {column: verdicts[column] for column in cases}
        rejecting = [column for column, each in verdicts.items() if each["wrong"]]
        say(f"{kernel.name}: {sum(each['cases'] > 0 for each in verdicts.values())} of {len(cases)} columns ask, "
            f"{', '.join(rejecting) or 'none'} rejects ({time.monotonic() - started:.0f} s)")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    chosen = parser.parse_args().kernels
    known = {kernel.name: kernel for kernel in KERNELS}
    if unknown := [name for name in chosen if name not in known]:
        say(f"tools/adapters/kernels.py has no {', '.join(unknown)}")
        return 2
    if Path(sys.prefix) != packages.EVERY:
        try:
            python = packages.every_python(say)
        except pinned_environment.Unavailable as error:
            say(str(error))
            return CANNOT_START
        os.execv(python, [str(python), "-B", *sys.argv])
    os.chdir(ADAPTERS)
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    before = json.loads(PAGE.read_text()) if PAGE.is_file() else {}
    found = before | judged([known[name] for name in chosen or known])
    stored.write(PAGE, stored.text_of({name: found[name] for name in known if name in found}, 3) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
