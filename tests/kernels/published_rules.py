#!/usr/bin/env python3
"""Would the rope tests of other projects reject our wrong kernels?

    published_rules.py BUILD_FOLDER [MUTANT...] [--json FILE] [--jobs N]

Judges each kernel of mutants.so by the acceptance rules of vLLM, flash-attention, Liger-Kernel, llama.cpp,
TransformerEngine, ONNX and flashinfer. The rules are their parameters, random inputs, reference and tolerance, as far
as the contract impls/include/rope_kernel.h can express them; published/rules.py is their table. There are eight draws;
a column accepts a kernel if all of them pass. Needs numpy. The right kernel is judged too, and every column must accept
it. Exit codes: 0 all columns accept it, 1 not so, 2 bad arguments.
"""

import argparse
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads would not survive the forks

from published.children import judge_all  # noqa: E402
from published.contract import Library  # noqa: E402
from published.draws import DRAWS  # noqa: E402
from published.rules import RULES  # noqa: E402

RIGHT = "none"


def judge_kernels(library, kernels, jobs, progress=lambda text: None):
    """{kernel: {column: why it is rejected, or None}}; after a rejection the column's later draws are left out."""
    verdicts = {kernel: {column: None for rule in RULES for column in rule.columns()} for kernel in kernels}
    for rule in RULES:
        columns = dict(zip(rule.columns(), rule.tolerance))
        for draw in range(DRAWS):
            cases = {column: list(rule.cases(dtype, draw)) for column, dtype in columns.items()}
            pending = {
                kernel: [column for column in columns if verdicts[kernel][column] is None] for kernel in kernels
            }
            for kernel, column, verdict in judge_all(library, pending, cases, jobs):
                if verdict.wrong:
                    verdicts[kernel][column] = f"draw {draw}: {verdict.wrong}"
            progress(f"{rule.name}: draw {draw + 1} of {DRAWS}")
    return verdicts


def table_of(verdicts):
    """One row per kernel, `x` if a column rejects it; the columns are named above, one per line."""
    columns = list(next(iter(verdicts.values())))
    width = max(map(len, verdicts))
    lines = []
    for i, column in enumerate(columns):
        lines.append(" " * width + " " + " |" * i + " " + column)
    for kernel, row in verdicts.items():
        lines.append(f"{kernel:<{width}} " + "".join(" x" if row[column] else " ." for column in columns))
    total = [sum(1 for row in verdicts.values() if row[column]) for column in columns]
    lines += [f"{column}: rejects {count} of {len(verdicts) - 1}" for column, count in zip(columns, total)]
    return "\n".join(lines)


def report_of(verdicts):
    keys = ("name", "source", "comparison", "angles", "largest_position", "inputs", "reduced")
    rules = [{**{key: getattr(rule, key) for key in keys}, "columns": rule.columns()} for rule in RULES]
    return {"draws": DRAWS, "rules": rules, "verdicts": verdicts}


def write(path, text):
    temporary = path.with_name(path.name + f".{os.getpid()}.tmp")
    temporary.write_text(text)
    temporary.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="where mutants.so is")
    parser.add_argument("mutants", nargs="*", help="default: all")
    parser.add_argument("--json", type=Path, help="write the verdicts here, with the reason of each rejection")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    library = Library(options.build.resolve() / "mutants.so")
    unknown = [mutant for mutant in options.mutants if mutant not in library.kernels]
    if unknown:
        print(f"published_rules.py: mutants.so has no {', '.join(unknown)}", file=sys.stderr)
        return 2
    chosen = [name for name in library.kernels if name == RIGHT or name in (options.mutants or library.kernels)]
    verdicts = judge_kernels(library, chosen, options.jobs, lambda text: print(text, file=sys.stderr, flush=True))
    print(table_of(verdicts))
    if options.json:
        write(options.json, json.dumps(report_of(verdicts), indent=1) + "\n")
    wrong = {column: why for column, why in verdicts[RIGHT].items() if why}
    for column, why in wrong.items():
        print(f"published_rules.py: {column} rejects the right kernel: {why}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
