"""The RotaryEmbedding node tests of ONNX: facts in rules.py."""

import numpy as np

from published.arithmetic import rotate
from published.case import Case, Check, numpy_allclose
from published.contract import Arguments, Tables
from published.draws import label, stale, uniform

BATCH, SEQ, HEADS, HEAD_DIM = 2, 3, 4, 8


def node(row, dtype, rng, tolerance):
    """The caches are random numbers, not cos and sin; without position_ids each token has its own row."""
    rotary_dim = row["rotary_dim"] or HEAD_DIM
    if row["layout"] == "heads first":
        x = uniform(rng, dtype, BATCH, HEADS, SEQ, HEAD_DIM).transpose(0, 2, 1, 3)
        out = stale(rng, dtype, BATCH, HEADS, SEQ, HEAD_DIM).transpose(0, 2, 1, 3)
    else:
        x = uniform(rng, dtype, BATCH, SEQ, HEADS, HEAD_DIM)
        out = stale(rng, dtype, BATCH, SEQ, HEADS, HEAD_DIM)
    if row["position_ids"]:
        rows = 50
        positions = (rng.random((BATCH, SEQ)) * rows).astype(np.int64)
    else:
        rows = BATCH * SEQ
        positions = np.arange(rows).reshape(BATCH, SEQ)
    sin, cos = uniform(rng, dtype, rows, rotary_dim // 2), uniform(rng, dtype, rows, rotary_dim // 2)
    expected = rotate(x, cos[positions][:, :, None], sin[positions][:, :, None], row["interleaved"])
    angles = Tables(cos, sin, dtype)
    call = Arguments(dtype, x, rotary_dim, row["interleaved"], angles, q_out=out, positions=positions)
    check = Check("output", dtype, out, expected, numpy_allclose(*tolerance))
    return Case(label("RotaryEmbedding", row), [call], [check])
