"""Triton's interpreter cuts f32 off where it is converted to bf16; on a GPU it is rounded to the nearest, ties to even.

cast_impl in triton/runtime/interpreter.py calls _convert_float with the rounding mode None, which shifts the last 16
bits out. Every kernel that stores bf16, flash-attention's rotary_kernel among them, is biased towards zero there and
has twice the error.
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
