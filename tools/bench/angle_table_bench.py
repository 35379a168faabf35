"""Angle tables: this project, MPFR, glibc, torch and numpy, measured in one run on one machine.

    python angle_table_bench.py build/bench/angle_table_bench [--seconds S]

Run it in the golden environment (torch and numpy). Only the project's tables and MPFR's are correctly rounded.
"""
import argparse
import json
import platform
import subprocess
import timeit

import numpy
import torch

PAIRS = 64
BASE = 10000.0
FEW = 4  # positions in the published notebook
FIGURES = 15  # that are measured, here and by the program
MANY = 1 << 15  # positions for ns a pair: numpy and torch cost the same per entry at 2^20


def frequencies():
    return BASE ** (-torch.arange(PAIRS, dtype=torch.float32) / PAIRS)


def naive_cache(positions):
    """Like the notebook's first version: a Python loop over positions."""
    theta = torch.tensor([BASE ** (-p / PAIRS) for p in range(PAIRS)])
    cache = torch.empty(positions, PAIRS, 2)
    for position in range(positions):
        angle = position * theta
        cache[position] = torch.stack((torch.cos(angle), torch.sin(angle)), dim=1)
    return cache


def vectorised_cache(positions):
    """Like its second version: one outer product."""
    angle = torch.outer(torch.arange(positions, dtype=torch.float32), frequencies())
    return torch.stack((torch.cos(angle), torch.sin(angle)), dim=-1)


def vectorised_cache_given(positions, theta):
    angle = torch.outer(torch.arange(positions, dtype=torch.float32), theta)
    return torch.stack((torch.cos(angle), torch.sin(angle)), dim=-1)


def numpy_table(buffers):
    """Writes into memory that was touched before, like ours."""
    angle, cos, sin = buffers
    theta = (BASE ** (-numpy.arange(PAIRS) / PAIRS)).astype(angle.dtype)
    numpy.outer(numpy.arange(len(angle), dtype=angle.dtype), theta, out=angle)
    numpy.cos(angle, out=cos)
    numpy.sin(angle, out=sin)


def numpy_buffers(dtype):
    return [numpy.ones((MANY, PAIRS), dtype) for _ in range(3)]


class Timed:
    """Seconds of one call: the best of several repeats, which take about `limit` seconds. The first call warms up."""

    repeats = 5

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, function, *arguments):
        function(*arguments)
        timer = timeit.Timer(lambda: function(*arguments))
        number = max(1, round(self.limit / self.repeats / timer.timeit(1)))
        return min(timer.repeat(self.repeats, number)) / number


def own_figures(program, each):
    """`each`: seconds for each of its benchmarks."""
    command = [program, "--benchmark_format=json", f"--benchmark_min_time={each}"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    return {
        b["name"]: (b["real_time"] * scale[b["time_unit"]], b.get("ns_per_pair", 0.0))
        for b in report["benchmarks"]
    }


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def print_table(title, unit, rows, reference):
    print(f"\n{title}\n{'':46}{unit:>12}{'times':>10}")
    for name, value in rows:
        print(f"{name:46}{value:12.3f}{value / reference:10.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built angle_table_bench")
    parser.add_argument("--seconds", type=float, default=12, help="of the whole run, about")
    options = parser.parse_args()
    torch.set_num_threads(1)

    each = options.seconds / FIGURES
    own = own_figures(options.program, each)
    seconds = Timed(each)

    def per_pair(name):
        return own[name][1]

    entries = MANY * PAIRS * 1e-9
    print(f"{cpu_name()}, one thread; torch {torch.__version__}, numpy {numpy.__version__}")
    print_table("Table of 2^20 positions x 64 pairs (one cosine and one sine a pair)", "ns a pair", [
        ("ropecheck f32, correctly rounded", per_pair("table_by_blocks<float>")),
        ("ropecheck f64, correctly rounded", per_pair("table_by_blocks<double>")),
        ("ropecheck f32, whole table in memory", per_pair("table_whole<float>")),
        ("ropecheck f64, whole table in memory", per_pair("table_whole<double>")),
        ("numpy f32", seconds(numpy_table, numpy_buffers(numpy.float32)) / entries),
        ("numpy f64", seconds(numpy_table, numpy_buffers(numpy.float64)) / entries),
        ("torch f32, vectorised", seconds(vectorised_cache, MANY) / entries),
        ("glibc f64 cos and sin", per_pair("glibc_sincos")),
        ("MPFR, correctly rounded", per_pair("mpfr")),
    ], per_pair("table_by_blocks<float>"))

    theta = frequencies()
    vectorised = seconds(vectorised_cache, FEW) * 1e6
    warm = own["few_warm"][0] * 1e6
    cold = own["few_cold"][0] * 1e6
    print_table("Table of 4 positions, head_dim 128, base 10000", "us", [
        ("ropecheck f32, table kept", warm),
        ("ropecheck f32, from nothing", cold),
        ("ropecheck f32, from nothing, base not embedded", own["few_cold_other_base"][0] * 1e6),
        ("torch, vectorised, frequencies given", seconds(vectorised_cache_given, FEW, theta) * 1e6),
        ("torch, vectorised", vectorised),
        ("torch, naive", seconds(naive_cache, FEW) * 1e6),
    ], warm)
    print(f"\ntorch vectorised / ropecheck: {vectorised / warm:.0f} with the table kept, {vectorised / cold:.1f} cold")


if __name__ == "__main__":
    main()
