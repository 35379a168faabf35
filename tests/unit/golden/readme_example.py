"""Runs the Python of docs/golden-files.md as it stands there, and checks the arrays that it loaded.

    readme_example.py ROOT        exit code 77 where numpy is missing: ctest then counts the test as skipped
"""

import os
import re
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("numpy is missing; install python3-numpy")
    sys.exit(77)

PAGE = "docs/golden-files.md"


def main() -> None:
    os.chdir(sys.argv[1])
    blocks = re.findall(r"^```python[^\n]*\n(.*?)^```", Path(PAGE).read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1, f"{PAGE} has {len(blocks)} blocks of Python, expected 1"
    lines = [line for line in blocks[0].splitlines() if line.strip()]
    assert len(lines) <= 15, f"{len(lines)} lines; at most 15 were expected"
    names: dict = {}
    exec(compile(blocks[0], PAGE, "exec"), names)

    q, cos, sin, expected = (names[n].astype(np.float64) for n in ("q", "cos", "sin", "expected"))
    assert names["case"]["rounding"] == "per-op" and names["case"]["axes"] == "batch, heads, seq, head_dim"
    half = q.shape[-1] // 2
    partner = np.concatenate((-q[..., half:], q[..., :half]), axis=-1)
    exact = q * cos[:, None] + partner * sin[:, None]
    # Two products and their sum, each rounded to bf16, u = 2^-8: reference/error_model.md, "arithmetic", tables given.
    u = 2.0**-8
    bound = 2 * u * (1 + u) * np.hypot(q, partner) * np.hypot(cos, sin)[:, None]
    assert np.all(np.abs(expected - exact) <= bound), np.max(np.abs(expected - exact) / bound)
    assert np.any(np.abs(expected - q) > bound), "nothing turned"
    worst = np.max(np.abs(expected - exact) / bound)
    print(f"{len(lines)} lines; {expected.size} values agree, the worst at {worst:.2f} of its bound")


main()
