"""Liger-Kernel's test_rope.py: facts in rules.py."""

import numpy as np

from published.arithmetic import angle_tables, loaded, rotate, rounded, stored
from published.case import Case, Check, is_close_to_the_kernel
from published.contract import Arguments, Tables
from published.draws import label, normal

# (batch, seq, query heads, key heads, head_dim): fewer heads; the tensor with more heads still has more.
REDUCED = {
    (1, 128, 32, 32, 64): (1, 128, 4, 4, 64),
    (2, 128, 32, 32, 64): (2, 128, 4, 4, 64),
    (1, 128, 32, 8, 64): (1, 128, 4, 1, 64),
    (2, 128, 32, 8, 64): (2, 128, 4, 1, 64),
    (3, 423, 73, 213, 92): (3, 423, 1, 3, 92),
    (3, 423, 73, 155, 92): (3, 423, 1, 2, 92),
}


def correctness(row, dtype, rng, tolerance):
    """q and k in one call and in place, then their gradients; the reference rounds every operation to the dtype."""
    batch, seq, query_heads, key_heads, head_dim = REDUCED[row["shape"]]
    half = [rounded(dtype, values) for values in angle_tables(seq, head_dim)]
    cos, sin = (stored(dtype, np.concatenate([values, values], axis=1)) for values in half)
    positions = 0
    if row["expand_position_ids"]:
        positions = np.broadcast_to(np.arange(seq), (batch, seq)).copy()
    calls, checks = [], []
    for backward in (False, True):
        q, k = (normal(rng, dtype, batch, seq, heads, head_dim) for heads in (query_heads, key_heads))
        at = [values[None, :, None] for values in half]
        for what, x in (("q", q), ("k", k)):
            expected = stored(dtype, rotate(loaded(dtype, x), *at, False, backward, dtype))
            what += " gradient" if backward else ""
            checks.append(Check(what, dtype, x, expected, is_close_to_the_kernel(*tolerance)))
        angles = Tables(cos, sin, dtype)
        calls.append(Arguments(dtype, q, head_dim, False, angles, k=k, positions=positions, backward=backward))
    return Case(label("test_correctness", row), calls, checks)
