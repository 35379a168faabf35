#!/usr/bin/env python3
"""One table: our kernels, memcpy and torch's Hugging Face formula on [1, 2048, 32, 128], one thread.

    rotation_bench.py BUILD_DIR/rotation_bench [--seconds S]          (needs torch)

The program times memcpy and our kernels in turns; then this script times torch's copy and torch's formula in turns. The
table shows the median time, and the median and the quartiles of the ratios: a copy's time as a share of its
neighbour's. 1 is as fast as copying.
"""

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable

import torch

SEQ, HEADS, DIM = 2048, 32, 128
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
LEAST_ROUNDS = 5
Row = dict[str, list[float]]  # quartiles of "copy_ms", "ms" and "of_copy"


def ours(program: str, seconds: float) -> dict[tuple[str, str], Row]:
    """{(kernel, dtype): its figures}"""
    arguments = [program, "--json", "--seconds", str(seconds)]
    told = json.loads(subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return {(row["kernel"], row["dtype"]): row for row in told}


def milliseconds(work: Callable[[], object]) -> float:
    start = time.thread_time()  # without the time during which another process has the CPU
    work()
    return (time.thread_time() - start) * 1e3


def in_turns(copy: Callable[[], object], work: Callable[[], object], seconds: float) -> Row:
    """A round is one copy and one piece of work. The first one warms up and does not count."""
    copies, works = [], []
    copy()
    work()
    while sum(copies) + sum(works) < 1e3 * seconds or len(works) < LEAST_ROUNDS:
        copies.append(milliseconds(copy))
        works.append(milliseconds(work))
    ratios = [c / w for c, w in zip(copies, works)]
    return {
        name: statistics.quantiles(values, n=4, method="inclusive")
        for name, values in (("copy_ms", copies), ("ms", works), ("of_copy", ratios))
    }


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def hugging_face(dtype: torch.dtype, seconds: float) -> Row:
    """`x * cos + rotate_half(x) * sin`, tables in the dtype of x, as in modeling_llama."""
    x = torch.randn(1, SEQ, HEADS, DIM).to(dtype)
    out = torch.ones_like(x)
    angles = torch.outer(torch.arange(SEQ).float(), 10000.0 ** (-torch.arange(0, DIM, 2) / DIM))
    table = torch.cat((angles, angles), dim=-1)[None, :, None, :]
    cos, sin = table.cos().to(dtype), table.sin().to(dtype)
    return in_turns(lambda: out.copy_(x), lambda: x * cos + rotate_half(x) * sin, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built rotation_bench")
    parser.add_argument("--seconds", type=float, default=30, help="of the whole run; a fifth of it is torch's")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = ours(options.program, 0.8 * options.seconds)
    for name, dtype in DTYPES.items():
        rows["torch_hugging_face", name] = hugging_face(dtype, 0.2 * options.seconds / len(DTYPES))
    copies = {d: statistics.median(row["copy_ms"][1] for (_, of), row in rows.items() if of == d) for d in DTYPES}
    print(f"{'':20}" + "".join(f"{name:>8} ms  of memcpy (quartiles)" for name in DTYPES))
    print(f"{'memcpy':20}" + "".join(f"{copies[d]:11.2f}  {1:<21.2f}" for d in DTYPES).rstrip())
    for kernel in dict.fromkeys(kernel for kernel, _ in rows):
        cells = []
        for name in DTYPES:
            lower, median, upper = rows[kernel, name]["of_copy"]
            shares = f"{median:.2f} ({lower:.2f}..{upper:.2f})"
            cells.append(f"{rows[kernel, name]['ms'][1]:11.2f}  {shares:<21}")
        print(f"{kernel:20}" + "".join(cells).rstrip())


if __name__ == "__main__":
    main()
