"""flash-attention's test_rotary.py: facts in rules.py."""

import math

import numpy as np

from published.arithmetic import loaded, rotate, stored
from published.case import Case, Check, is_close_to_dtype_noise
from published.contract import Arguments, Tables
from published.draws import label, normal, stale


def tables(rng, dtype, seqlen, rotary_dim):
    """Angles that follow no position: uniform in a full turn, twice as many rows as tokens."""
    angle = rng.random((2 * seqlen, rotary_dim // 2), dtype=np.float32) * np.float32(2 * math.pi)
    return Tables(stored(dtype, np.cos(angle)), stored(dtype, np.sin(angle)), dtype)


def offsets(rng, kind, batch, seqlen):
    """Offsets as the op takes them, and the table row of each token: [batch, seqlen]."""
    given = 0 if kind == "none" else int(rng.integers(0, seqlen + 1))
    if kind == "tensor":
        given = rng.integers(0, seqlen + 1, (batch, 1), dtype=np.int32)
    rows = np.broadcast_to(given + np.arange(seqlen, dtype=np.int32), (batch, seqlen)).copy()
    return (rows if kind == "tensor" else given), rows


def rotated(dtype, x, angles, rows, interleaved, inverse=False):
    cos = loaded(dtype, angles.cos)[rows][:, :, None]
    sin = loaded(dtype, angles.sin)[rows][:, :, None]
    return stored(dtype, rotate(loaded(dtype, x), cos, sin, interleaved, inverse))


def single(test, row, dtype, rng, rtol, x, angles, positions, rows):
    """One tensor forward, then a gradient backward; in place, or with the input unchanged."""
    interleaved, rotary_dim = row["interleaved"], 2 * angles.cos.shape[1]
    gradient = normal(rng, dtype, *x.shape)
    expected = [rotated(dtype, x, angles, rows, interleaved), rotated(dtype, gradient, angles, rows, interleaved, True)]
    unchanged = [] if row["inplace"] else [("the input", x, x.copy())]
    calls, checks = [], []
    for backward, given in enumerate((x, gradient)):
        out = given if row["inplace"] else stale(rng, dtype, *given.shape)
        calls.append(
            Arguments(
                dtype, given, rotary_dim, interleaved, angles, q_out=out, positions=positions, backward=bool(backward)
            )
        )
        what = "gradient" if backward else "output"
        checks.append(Check(what, dtype, out, expected[backward], is_close_to_dtype_noise(rtol)))
    return Case(label(test, row), calls, checks, unchanged)


def emb_func(row, dtype, rng, rtol):
    batch, seqlen, heads, head_dim = 3, 217, 2, 128
    angles = tables(rng, dtype, seqlen, int(row["fraction"] * head_dim))
    positions, rows = offsets(rng, row["offsets"], batch, seqlen)
    x = normal(rng, dtype, batch, seqlen, heads, head_dim)
    return single("test_rotary_emb_func", row, dtype, rng, rtol, x, angles, positions, rows)


def varlen_func(row, dtype, rng, rtol):
    """Sequences of 197 to 217 tokens in one row; the op is given their ends, the contract their positions."""
    batch, seqlen, heads, head_dim = 4, 217, 2, 128
    angles = tables(rng, dtype, seqlen, int(row["fraction"] * head_dim))
    _, rows = offsets(rng, row["offsets"], batch, seqlen)
    lengths = rng.integers(seqlen - 20, seqlen + 1, batch)
    rows = np.concatenate([rows[b, :length] for b, length in enumerate(lengths)])[None]
    x = normal(rng, dtype, 1, rows.shape[1], heads, head_dim)
    return single("test_rotary_emb_varlen_func", row, dtype, rng, rtol, x, angles, rows, rows)


def packed(test, row, dtype, rng, rtol, seqlen, head_dim, parts):
    """In place in a packed tensor; `parts` are the heads of q, k and v, or of k and v. v stays as it is."""
    batch = 2 if row["offsets"] == "tensor" else 1
    angles = tables(rng, dtype, seqlen, int(row["fraction"] * head_dim))
    positions, rows = offsets(rng, row["offsets"], batch, seqlen)
    ends = np.cumsum(parts)
    calls, checks = [], []
    for backward in (False, True):
        whole = normal(rng, dtype, batch, seqlen, int(ends[-1]), head_dim)
        turned = whole[:, :, : ends[-2]]
        expected = whole.copy()
        expected[:, :, : ends[-2]] = rotated(dtype, turned, angles, rows, row["interleaved"], backward)
        key = whole[:, :, ends[0] : ends[1]] if len(parts) == 3 else None
        query = whole[:, :, : ends[0]]
        rotary_dim = 2 * angles.cos.shape[1]
        calls.append(
            Arguments(
                dtype, query, rotary_dim, row["interleaved"], angles, k=key, positions=positions, backward=backward
            )
        )
        what = "gradient" if backward else "output"
        checks.append(Check(what, dtype, whole, expected, is_close_to_dtype_noise(rtol)))
    return Case(label(test, row), calls, checks)


def emb_qkv(row, dtype, rng, rtol):
    parts = (2, 1, 1) if row["gqa"] else (2, 2, 2)
    return packed("test_rotary_emb_qkv", row, dtype, rng, rtol, 512, 128, parts)


def emb_kv(row, dtype, rng, rtol):
    return packed("test_rotary_emb_kv", row, dtype, rng, rtol, 781, 64, (2, 2))
