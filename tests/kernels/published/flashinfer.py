"""flashinfer's test_rope.py: facts in rules.py."""

import functools

import numpy as np

from published.arithmetic import angle_tables, inverse_frequencies, llama3, loaded, rotate, stored
from published.case import Case, Check, is_close, is_close_to_the_kernel
from published.contract import Arguments, Computed, Tables
from published.draws import label, normal, stale

KEY_HEADS = 1  # of 8
QUERY_HEADS = {8: 1, 16: 2}
LLAMA31 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position": 8192.0}


def computed(version, length):
    if version == "llama":
        return Computed(1e4, length)
    return Computed(5e5, length, "llama3", LLAMA31)


def packed_query_and_key(row, rng, dtype, tokens, head_dim):
    """Views of a packed tensor of queries, keys and values: [tokens, heads, head_dim] each."""
    query_heads = QUERY_HEADS[row["num_qo_heads"]]
    whole = normal(rng, dtype, tokens, (query_heads + 2 * KEY_HEADS) * head_dim)
    heads = whole.reshape(tokens, query_heads + 2 * KEY_HEADS, head_dim)
    return heads[:, :query_heads], heads[:, query_heads : query_heads + KEY_HEADS]


def in_batches(x, batch):
    """[batch, len, heads, head_dim] of the same memory; the tokens are evenly spaced in it."""
    length = x.shape[0] // batch
    strides = (length * x.strides[0], *x.strides)
    return np.lib.stride_tricks.as_strided(x, (batch, length, *x.shape[1:]), strides)


def outputs(row, rng, dtype, q, k):
    if row["inplace"]:
        return q, k
    return stale(rng, dtype, *q.shape), stale(rng, dtype, *k.shape)


def rope(row, dtype, rng, tolerance):
    """Compares with complex multiplication in f32, interleaved. The op gets the offset of each sequence."""
    batch, length, head_dim = row["batch_size, qkv_len, head_dim"]
    offset = row["offset"]
    rotary_dim = int(head_dim * row["partial"])
    tokens = [in_batches(x, batch) for x in packed_query_and_key(row, rng, dtype, batch * length, head_dim)]
    theta = inverse_frequencies(rotary_dim, 1e4 if row["version"] == "llama" else 5e5)
    theta = theta if row["version"] == "llama" else llama3(theta)
    angles = (np.arange(length, dtype=np.float32) + np.float32(offset))[:, None] * theta[None]
    at = [values[None, :, None] for values in (np.cos(angles), np.sin(angles))]
    expected = [stored(dtype, rotate(loaded(dtype, x), *at, True)) for x in tokens]
    out = outputs(row, rng, dtype, *tokens)
    source = computed(row["version"], length + offset)
    call = Arguments(
        dtype, tokens[0], rotary_dim, True, source, k=tokens[1], q_out=out[0], k_out=out[1], positions=offset
    )
    checks = [
        Check(what, dtype, y, e, is_close_to_the_kernel(*tolerance)) for what, y, e in zip(("q", "k"), out, expected)
    ]
    return Case(label("test_rope", row), [call], checks)


def rope_pos_ids(row, dtype, rng, tolerance):
    """Compares the kernel with itself: positions from offsets, and the same positions given as a list."""
    batch, length, head_dim = row["batch_size, qkv_len, head_dim"]
    offset = row["offset"]
    rotary_dim = int(head_dim * row["partial"])
    q, k = packed_query_and_key(row, rng, dtype, batch * length, head_dim)
    by_offset = [in_batches(x, batch) for x in (q, k)]
    by_list = [x[None].copy() if row["inplace"] else x[None] for x in (q, k)]
    dtype_of_ids = np.int32 if row["idtype"] == "int32" else np.int64
    ids = np.tile(np.arange(offset, offset + length, dtype=dtype_of_ids), batch)[None]
    source = computed(row["version"], length + offset)
    calls, results = [], []
    for (query, key), positions in ((by_offset, offset), (by_list, ids)):
        out = outputs(row, rng, dtype, query, key)
        results.append(out)
        calls.append(
            Arguments(
                dtype,
                query,
                rotary_dim,
                row["interleave"],
                source,
                k=key,
                q_out=out[0],
                k_out=out[1],
                positions=positions,
            )
        )
    checks = []
    for what, one, other in zip(("q", "k"), *results):
        # A view of what the first call gives: read after the calls.
        flat = np.lib.stride_tricks.as_strided(one, other.shape, (0, *one.strides[1:]))
        checks.append(Check(what, dtype, other, flat, is_close(*tolerance)))
    return Case(label("test_rope_pos_ids", row), calls, checks)


@functools.lru_cache(maxsize=32)
def cache(rows, rotary_dim, base):
    return np.concatenate(angle_tables(rows, rotary_dim, base), axis=1)


def cos_sin_cache(row, dtype, rng, tolerance):
    """In place from a cache in f32, positions 0, 1, 2, .. of every sequence given as one list."""
    head_dim, rotary_dim, rows, base, neox, batch, seq, query_heads, key_heads = row["configuration"]
    table = cache(rows, rotary_dim, float(base))
    cos, sin = table[:, : rotary_dim // 2], table[:, rotary_dim // 2 :]
    positions = np.tile(np.arange(seq), batch)[None]
    at = [values[positions][:, :, None] for values in (cos, sin)]
    checks, given = [], []
    for what, heads in (("query", query_heads), ("key", key_heads)):
        x = normal(rng, dtype, 1, batch * seq, heads, head_dim)
        expected = stored(dtype, rotate(loaded(dtype, x), *at, not neox))
        checks.append(Check(what, dtype, x, expected, is_close_to_the_kernel(*tolerance)))
        given.append(x)
    angles = Tables(cos, sin, "f32")
    call = Arguments(dtype, given[0], rotary_dim, not neox, angles, k=given[1], positions=positions)
    return Case(label("test_rope_cos_sin_cache", row), [call], checks)
