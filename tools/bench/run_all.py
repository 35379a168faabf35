#!/usr/bin/env python3
"""Runs every benchmark of this folder for a short time, and checks that it ends well and prints its figures.

    run_all.py BUILD [--seconds 1] [--python PYTHON]

BUILD has the target `benchmarks`. The figures of so short a run mean nothing, so they are not shown. PYTHON needs
torch; without torch, the benchmarks in Python are left out, and this says so.

Exit codes: 0 all ran, 1 one did not or is not listed here, 2 usage.
"""

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
NO_FIGURES = {"CMakeLists.txt", "README.md", "run_all.py"}
FIGURE = r"[ |]+(?=[\d.]*[1-9])[\d.]+"  # above 0
TIME_LIMIT = 60  # seconds
PYTHONS = [HERE.parents[1] / "build/golden-venv/bin/python", Path(sys.executable)]

KERNELS = ("half_split", "interleaved", "complex_half_split", "complex_interleaved")
TABLES = ("table_by_blocks<float>", "table_by_blocks<double>", "table_whole<float>", "table_whole<double>",
          "glibc_sincos", "mpfr", "few_warm", "few_cold", "few_cold_other_base")
CALLS = ("worker_same_call/8", "worker_same_call/64", "worker_same_call/512", "worker_same_call/4096",
         "worker_other_call/4", "worker_other_call/64", "worker_start/iterations:100")


@dataclass(frozen=True)
class Benchmark:
    files: tuple[str, ...]  # of this folder
    command: Callable[[Path, str, float], list]  # of the build folder, Python and seconds
    rows: tuple[str, ...]  # each begins a line and has a figure behind it
    needs_torch: bool = False
    in_twin: bool = False  # with torch, a script of the same name runs it and shows its figures

    @property
    def name(self) -> str:
        return self.files[0]


def google(program: str, files: tuple[str, ...], rows: tuple[str, ...], in_twin: bool = False) -> Benchmark:
    """A program of libbenchmark, which takes the seconds of each row."""
    return Benchmark(files, lambda build, _, seconds: [
        build / program, f"--benchmark_min_time={seconds / len(rows)}", "--benchmark_color=false"], rows,
        in_twin=in_twin)


def in_python(file: str, subject: str, rows: tuple[str, ...], *options: str) -> Benchmark:
    return Benchmark((file,), lambda build, python, seconds: [
        python, HERE / file, build / subject, "--seconds", seconds, *options], rows, needs_torch=True)


BENCHMARKS = (
    Benchmark(("rotation_bench.cpp",), lambda build, _, seconds: [build / "rotation_bench", "--seconds", seconds],
              tuple(f"{kernel} {dtype}" for kernel in KERNELS for dtype in ("f32", "bf16", "f16"))),
    in_python("rotation_bench.py", "rotation_bench", ("memcpy", *KERNELS, "torch_hugging_face")),
    google("angle_table_bench", ("angle_table_bench.cpp",), TABLES, in_twin=True),
    in_python("angle_table_bench.py", "angle_table_bench", (
        "ropecheck f32, correctly rounded", "numpy f32", "torch f32, vectorised", "MPFR, correctly rounded",
        "ropecheck f32, table kept", "ropecheck f32, from nothing, base not embedded", "torch, naive")),
    google("worker_bench", ("worker_bench.cpp", "idle_kernel.c"), tuple(f"{call}/real_time" for call in CALLS)),
    Benchmark(("certify_bench.py",), lambda build, python, _: [
        python or sys.executable, HERE / "certify_bench.py", build / "ropecheck", "--positions", 20000],
        tuple(f"| {dtype}" for dtype in ("f32", "bf16", "f16"))),
    Benchmark(("verify_bench.py", "half_split_library.cpp"), lambda build, python, _: [
        python or sys.executable, HERE / "verify_bench.py", build, "--level", "quick", "--runs", 1],
        ("| quick | built in", "| quick | in a library")),
    # Its measuring code, with a kernel for the CPU: few machines have a device.
    in_python("cuda_bench.py", "mutants.so#none", (
        "| copy", "| none, tables", "| none, tables, in place", "| none, angles computed",
        "| none, angles computed, in place", "| torch, Hugging Face's formula"), "--device", "cpu", "--tokens", "64"),
)


def unlisted(folder: Path, benchmarks: tuple[Benchmark, ...]) -> list[str]:
    """Problems of files that no benchmark names, and of names without a file."""
    listed = {file for benchmark in benchmarks for file in benchmark.files}
    there = {path.name for path in folder.iterdir() if path.is_file()} - NO_FIGURES
    return [f"{file}: nothing runs it; list it in run_all.py" for file in sorted(there - listed)] + [
        f"{file}: run_all.py lists it, but the file is missing" for file in sorted(listed - there)]


def missing_rows(output: str, rows: tuple[str, ...]) -> list[str]:
    """Rows without a line that begins with it and has a figure above 0 behind it. Blanks count as one."""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    return [row for row in rows if not any(re.match(re.escape(row) + FIGURE, line) for line in lines)]


def problems_of(benchmark: Benchmark, build: Path, python: str, seconds: float) -> list[str]:
    command = [str(word) for word in benchmark.command(build, python, seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"{benchmark.name}: {error}"]
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-600:]
        return [f"{benchmark.name}: exit code {done.returncode}: {said or 'it says nothing'}"]
    return [f"{benchmark.name}: expected a line with a figure that begins with '{row}'"
            for row in missing_rows(done.stdout, benchmark.rows)]


def python_with_torch(given: str | None) -> str | None:
    for python in [given] if given else [str(python) for python in PYTHONS if python.exists()]:
        if subprocess.run([python, "-c", "import numpy, torch"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def run_all(benchmarks: tuple[Benchmark, ...], build: Path, python: str | None, seconds: float) -> list[str]:
    """Problems; prints a line for each benchmark. Two run at once: no figure is kept."""

    def run(benchmark: Benchmark) -> list[str]:
        if benchmark.needs_torch and python is None:
            print(f"{benchmark.name}: left out, there is no Python with torch and numpy", flush=True)
            return []
        if benchmark.in_twin and python is not None:
            return []
        start = time.monotonic()
        problems = problems_of(benchmark, build, python or "", seconds)
        print(f"{benchmark.name:22} {time.monotonic() - start:5.1f} s  {'failed' if problems else 'ran'}", flush=True)
        return problems

    with ThreadPoolExecutor(2) as pool:
        return [problem for problems in pool.map(run, benchmarks) for problem in problems]


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--seconds", type=float, default=1, help="of each benchmark, about")
    parser.add_argument("--python", help="with torch and numpy; default: the one of build/golden-venv, then this one")
    options = parser.parse_args(words)
    python = python_with_torch(options.python)
    problems = unlisted(HERE, BENCHMARKS) + run_all(BENCHMARKS, options.build.resolve(), python, options.seconds)
    for problem in problems:
        print(f"run_all.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
