"""vLLM's test_rotary_embedding: facts in rules.py."""

import functools

import numpy as np

from published.arithmetic import angle_tables, loaded, rotate, stored
from published.case import Case, Check, is_close
from published.contract import Arguments, Tables
from published.draws import label, normal

BATCH, HEADS = 5, 3
POSITIONS = 8192
THINNED = {11: 11, 8192: 256}


@functools.lru_cache(maxsize=32)
def cache(rotary_dim, dtype):
    """cos and sin side by side in the dtype of the model: [positions, rotary_dim]."""
    return stored(dtype, np.concatenate(angle_tables(POSITIONS, rotary_dim), axis=1))


def rotary_embedding(row, dtype, rng, tolerance, own_arithmetic=False):
    """own_arithmetic: the reference as published, every operation rounded to the dtype; see the rule."""
    head_dim, rotary_dim = row["head_size"], row["rotary_dim"] or row["head_size"]
    tokens = THINNED[row["seq_len"]]
    positions = rng.integers(0, POSITIONS, (BATCH, tokens))
    width = head_dim + 64 if row["shape"] == "padded" else head_dim
    query = normal(rng, dtype, BATCH, tokens, HEADS, width)[..., :head_dim]
    key = normal(rng, dtype, BATCH, tokens, HEADS, width)[..., :head_dim] if row["use_key"] else None
    table = cache(rotary_dim, dtype)
    cos, sin = table[:, : rotary_dim // 2], table[:, rotary_dim // 2 :]
    interleaved = not row["neox"]

    def expected(x):
        at = loaded(dtype, cos)[positions][:, :, None], loaded(dtype, sin)[positions][:, :, None]
        return stored(dtype, rotate(loaded(dtype, x), *at, interleaved, dtype=dtype if own_arithmetic else "f32"))

    checks = [
        Check(what, dtype, x, expected(x), is_close(*tolerance))
        for what, x in (("query", query), ("key", key))
        if x is not None
    ]
    angles = Tables(cos, sin, dtype)
    call = Arguments(dtype, query, rotary_dim, interleaved, angles, k=key, positions=positions)
    return Case(label("test_rotary_embedding", row), [call], checks)
