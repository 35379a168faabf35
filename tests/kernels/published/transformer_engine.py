"""TransformerEngine's test_fused_rope.py: facts in rules.py."""

import math

import numpy as np

from published.arithmetic import angle_tables, loaded, pair_slices, rotate, stored
from published.case import Case, Check, is_close
from published.contract import Arguments, Tables
from published.draws import label, stale, uniform

BATCH = 2
ENDS = [0, 400, 542, 711, 727, 752, 1270, 1426, 1450, 1954, 2044, 2048]


def full_tables(rows, rotary_dim, interleaved):
    """cos and sin of the angles that both sides get, a column for each feature."""
    first, second = pair_slices(rotary_dim, interleaved)
    wide = []
    for half in angle_tables(rows, rotary_dim):
        table = np.empty((rows, rotary_dim), np.float32)
        table[:, first] = table[:, second] = half
        wide.append(table)
    return Tables(*wide, "f32")


def rank_positions(tokens, size, rank):
    """Context parallelism: a rank holds one chunk of the front half and its mirror image of the back half."""
    if size == 1:
        return np.arange(tokens)
    half = tokens // 2
    front = rank * half + np.arange(half)
    return np.concatenate([front, (2 * size - 1 - rank) * half + np.arange(half)])


def forward_and_backward(test, row, dtype, rng, tolerance, t, layout, positions, table, inference):
    """t as the test makes it; layout: its axes as batch, seq, heads, head_dim (after np.newaxis where it has three)."""
    interleaved, rotary_dim = row["interleaved"], table.cos.shape[1]
    first, _ = pair_slices(rotary_dim, interleaved)
    index = np.broadcast_to(np.arange(t.transpose(layout).shape[1])[None], t.transpose(layout).shape[:2])
    index = index + positions if isinstance(positions, int) else positions
    cos, sin = (values[:, first][index][:, :, None] for values in (table.cos, table.sin))
    calls, checks = [], []
    for backward in (False,) if inference else (False, True):
        if backward:
            # The loss is the sum, or twice the sum: the gradient is all ones, or one stored 2 that is read everywhere.
            one = stored(dtype, np.float32(2 if row["loss"] == "overlapping" else 1).reshape(1))
            given = np.broadcast_to(one, t.shape) if row["loss"] == "overlapping" else np.resize(one, t.shape)
        else:
            given = t
        out = stale(rng, dtype, *t.shape)
        x, y = given.transpose(layout), out.transpose(layout)
        expected = stored(dtype, rotate(loaded(dtype, x), cos, sin, interleaved, backward))
        calls.append(
            Arguments(dtype, x, rotary_dim, interleaved, table, q_out=y, positions=positions, backward=backward)
        )
        checks.append(Check("gradient" if backward else "output", dtype, y, expected, is_close(*tolerance)))
    return Case(label(test, row), calls, checks)


def stored_transposed(t, axes):
    """The same tensor with two axes exchanged in memory."""
    return t if axes is None else np.ascontiguousarray(t.swapaxes(*axes)).swapaxes(*axes)


def fused_rope(row, dtype, rng, tolerance):
    starts, size, margin = row["starts, cp_size, margin"]
    tokens, hidden = row["seq_length"] - margin, row["hidden_size"]
    heads = 2 if row["transpose"] == (2, 3) else 1
    shape = (tokens, BATCH, heads, hidden) if row["format"] == "sbhd" else (BATCH, tokens, heads, hidden)
    layout = (1, 0, 2, 3) if row["format"] == "sbhd" else (0, 1, 2, 3)
    t = stored_transposed(uniform(rng, dtype, *shape), row["transpose"])
    positions = 0
    if starts:
        positions = (rng.integers(0, margin, (BATCH, 1)) + np.arange(tokens)).astype(np.int32)
    elif size > 1:
        rank = int(rng.integers(size))
        positions = np.broadcast_to(rank_positions(tokens, size, rank).astype(np.int32), (BATCH, tokens)).copy()
    table = full_tables(row["seq_length"] * size, int(hidden * row["percent"]), row["interleaved"])
    return forward_and_backward("test_fused_rope", row, dtype, rng, tolerance, t, layout, positions, table, starts)


def fused_rope_thd(row, dtype, rng, tolerance):
    """Eleven sequences in one row; the op gets their ends, the contract their positions."""
    starts, size = row["starts, cp_size"]
    hidden, heads, unit = row["hidden_size"], 2 if row["transpose"] else 1, 2 * size
    lengths = [b - a for a, b in zip(ENDS, ENDS[1:])]
    if size > 1:
        lengths = [math.ceil(length / unit) * unit for length in lengths]
    rank = int(rng.integers(size))
    offsets = rng.integers(0, 10, len(lengths)) if starts else np.zeros(len(lengths), int)
    each = [rank_positions(length // size, size, rank) + offset for length, offset in zip(lengths, offsets)]
    positions = np.concatenate(each).astype(np.int32)[None]
    t = stored_transposed(uniform(rng, dtype, positions.shape[1], heads, hidden), row["transpose"])[None]
    table = full_tables(sum(lengths), int(hidden * row["percent"]), row["interleaved"])
    layout = (0, 1, 2, 3)
    return forward_and_backward("test_fused_rope_thd", row, dtype, rng, tolerance, t, layout, positions, table, starts)
