#!/usr/bin/env python3
"""Draws the pictures of the guide, docs/figures/*.svg: tools/figures/make.py

`--record PROGRAM` first runs the commands in the picture of a verdict again, with that ropecheck and the C compiler
$CC. Do this when the output of ropecheck has changed. `--check` writes nothing and names the files that differ; it then
ends with exit code 1.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import attention
import distance
import flow
import grades
import pairings
import process
import rotation
import tables
import verdict

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "figures"
FIGURES = {
    "flow": flow,
    "grades": grades,
    "pairings": pairings,
    "process": process,
    "report_attention": attention,
    "report_distance": distance,
    "report_rotation": rotation,
    "report_tables": tables,
    "verdict": verdict,
}
KERNELS = ("my_kernel", "broken_kernel")


def pictures():
    """{file: its text}"""
    return {FOLDER / f"{name}.svg": figure.draw().svg() for name, figure in FIGURES.items()}


def outputs_of(program, compiler):
    """{file: what the picture shows of the command's output}"""
    printed = {}
    with tempfile.TemporaryDirectory() as folder:
        for kernel in KERNELS:
            source = ROOT / "examples" / f"{kernel}.c"
            subprocess.run(
                [
                    compiler,
                    "-shared",
                    "-fPIC",
                    "-O2",
                    f"-I{ROOT / 'impls/include'}",
                    "-o",
                    f"{folder}/{kernel}.so",
                    source,
                    "-lm",
                ],
                check=True,
            )
        for name, command in verdict.COMMANDS.items():
            words = [str(Path(program).resolve()), *command.split()[1:]]
            run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            if run.returncode not in (0, 1):
                sys.exit(f"make.py: {command} ended with exit code {run.returncode}: {run.stderr}")
            printed[verdict.OUTPUTS / f"{name}.txt"] = verdict.lines_to_record(name, run.stdout)
    return printed


def brought_up_to_date(files, check):
    """The files that differ from their given text, {file: text}. They are written, unless only checked."""
    different = [file for file, text in files.items() if not file.exists() or file.read_text() != text]
    for file in () if check else different:
        file.write_text(files[file])
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="PROGRAM", help="run the commands of the picture of a verdict again")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    options = parser.parse_args()
    files = outputs_of(options.record, os.environ.get("CC", "cc")) if options.record else {}
    different = brought_up_to_date(files, options.check) + brought_up_to_date(pictures(), options.check)
    for file in different:
        print(f"{'differs' if options.check else 'written'}: {file.relative_to(ROOT)}")
    return 1 if options.check and different else 0


if __name__ == "__main__":
    sys.exit(main())
