"""Triton's interpreter truncates f32 to bf16; a GPU rounds to the nearest, ties to even.

cast_impl in triton/runtime/interpreter.py calls _convert_float with the rounding mode None, which shifts the last 16
bits out. So every kernel that stores bf16 is biased towards zero there and has twice the error, for example
flash-attention's rotary_kernel.
"""

import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def copy(X, Y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(Y + at, tl.load(X + at))


x = 1 + torch.arange(8) * 2.0**-9  # bf16 has 1, 1 + 2**-7, ..; 2**-8 is in the middle
y = torch.empty(8, dtype=torch.bfloat16)
copy[(1,)](x, y, 8)
expected = x.to(torch.bfloat16)
print(f"expected: {expected.tolist()}\nactual: {y.tolist()}")
sys.exit(0 if torch.equal(y, expected) else 1)
