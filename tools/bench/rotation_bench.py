#!/usr/bin/env python3
"""One table: our kernels, memcpy and torch's Hugging Face formula on [1, 2048, 32, 128], one thread.

    rotation_bench.py BUILD_DIR/rotation_bench          (needs torch)

The program times memcpy and our kernels; then this script times torch on the same machine. Ratios are to memcpy
of the same dtype: 1 is as fast as copying.
"""

import json
import subprocess
import sys
import time

import torch

SEQ, HEADS, DIM = 2048, 32, 128
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def ours(program: str) -> dict[str, float]:
    """Milliseconds of each benchmark, the fastest of its repetitions."""
    arguments = [program, "--benchmark_format=json", "--benchmark_repetitions=5"]
    report = json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
    best: dict[str, float] = {}
    for run in report["benchmarks"]:
        if run["run_type"] == "iteration":
            best[run["name"]] = min(run["real_time"], best.get(run["name"], float("inf")))
    return best


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def hugging_face(dtype: torch.dtype) -> float:
    """Milliseconds of `x * cos + rotate_half(x) * sin`, tables in the dtype of x, as in modeling_llama."""
    x = torch.randn(1, SEQ, HEADS, DIM).to(dtype)
    angles = torch.outer(torch.arange(SEQ).float(), 10000.0 ** (-torch.arange(0, DIM, 2) / DIM))
    table = torch.cat((angles, angles), dim=-1)[None, :, None, :]
    cos, sin = table.cos().to(dtype), table.sin().to(dtype)
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        x * cos + rotate_half(x) * sin
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    times = ours(sys.argv[1])
    for name, dtype in DTYPES.items():
        times[f"torch_hugging_face/{name}"] = hugging_face(dtype)
    print(f"{'':22}" + "".join(f"{name:>8} ms   ratio" for name in DTYPES))
    for kernel in dict.fromkeys(name.split("/")[0] for name in times):
        cells = (f"{times[f'{kernel}/{d}']:11.2f} {times[f'memcpy/{d}'] / times[f'{kernel}/{d}']:7.2f}" for d in DTYPES)
        print(f"{kernel:22}" + "".join(cells))


if __name__ == "__main__":
    main()
