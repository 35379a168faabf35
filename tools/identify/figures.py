#!/usr/bin/env python3
"""Draws the figures of README.md from what `ropecheck identify` measures.

    figures.py ROPECHECK        writes figures/*.svg beside this file

Needs matplotlib. Exit codes: 0 written, 1 the command did not answer.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures"
DTYPES = ["f64", "f32", "f16", "bf16"]
RULES = {
    "base 10000": [],
    "base 500000": ["--base", "500000"],
    "linear, factor 4": ["--scaling", "linear,factor=4"],
    "yarn, factor 16": ["--scaling", "yarn,factor=16,original_max_position_embeddings=4096"],
    "llama3, factor 8": ["--base", "500000", "--scaling", "llama3,factor=8,low_freq_factor=1,high_freq_factor=4,"
                         "original_max_position_embeddings=8192"],
}


def identify(ropecheck, *arguments):
    command = [ropecheck, "identify", "half_split", "--json", "-", "--head-dim", "128", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(f"figures.py: {' '.join(command)} answered {answer.returncode}: {answer.stderr.strip()}")
    return json.loads(answer.stdout)["subjects"][0]["plans"][0]


def axes(x, y):
    figure, plot = plt.subplots(figsize=(6, 3.4), layout="constrained")
    plot.set_xlabel(x)
    plot.set_ylabel(y)
    plot.grid(True, linewidth=0.4, alpha=0.5)
    return figure, plot


def save(figure, name):
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / name, metadata={"Date": None})


def doubling(ropecheck):
    figure, plot = axes("position of the probe", "error of theta, radians per position")
    for dtype in DTYPES:
        pair = identify(ropecheck, "--dtype", dtype)["pairs"][5]
        steps = pair["steps"]
        plot.loglog([step[0] for step in steps], [step[2] for step in steps], marker=".", markersize=4, label=dtype, base=2)
    plot.legend()
    save(figure, "doubling.svg")


def rules(ropecheck):
    figure, plot = axes("pair", "theta / theta of base 10000")
    plain = [pair["theta"] for pair in identify(ropecheck)["pairs"]]
    for label, flags in RULES.items():
        theta = [pair["theta"] for pair in identify(ropecheck, *flags)["pairs"]]
        plot.semilogy([a / b for a, b in zip(theta, plain)], marker=".", markersize=3, linewidth=0.8, label=label)
    plot.legend(fontsize="small")
    save(figure, "rules.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ropecheck")
    options = parser.parse_args()
    plt.rcParams["svg.hashsalt"] = "ropecheck"  # so that the same figure is the same file
    plt.rcParams["svg.fonttype"] = "none"  # text stays text
    doubling(options.ropecheck)
    rules(options.ropecheck)


if __name__ == "__main__":
    main()
