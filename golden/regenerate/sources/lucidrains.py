"""rotary-embedding-torch: interleaved, f32 inside and one final cast; positions are made in the query's dtype."""

from collections.abc import Iterator

import torch
from rotary_embedding_torch import RotaryEmbedding

from case import Case, default_c, spec

FUNCTION = "rotary_embedding_torch.RotaryEmbedding.rotate_queries_or_keys"


def _rotate(
    name: str,
    description: str,
    *,
    dim: int = 64,
    head_dim: int | None = None,
    shape: tuple[int, int, int] = (2, 2, 8),  # batch, heads, seq
    dtype: str = "f32",
    offset: int = 0,
    seq_first: bool = False,
    c: float | None = None,
    more: dict | None = None,
    draw_as: str | None = None,
    **arguments: object,
) -> Case:
    head_dim = head_dim or dim
    batch, heads, seq = shape
    case = Case(
        id=f"lucidrains/{name}",
        package="rotary-embedding-torch",
        function=FUNCTION,
        description=description,
        spec=spec(head_dim, "interleaved", rotary_dim=dim, **(more or {})),
        axes="batch, seq, heads, head_dim" if seq_first else "batch, heads, seq, head_dim",
        dtype=dtype,
        rounding="final-cast",
        c=c or default_c(dim, 10000),
        position_divisor=float(arguments.get("interpolate_factor", 1.0)),
    )
    q = case.draw("q", (batch, seq, heads, head_dim) if seq_first else (batch, heads, seq, head_dim), draw_as)
    arguments["seq_before_head_dim"] = seq_first

    # Its angles are cached in the module, so the tables come from one that has seen nothing else.
    observed = RotaryEmbedding(dim=dim, **arguments)
    angles = observed.forward(observed.get_seq_pos(seq, dtype=q.dtype, offset=offset), seq_len=seq, offset=offset)
    case.add_positions(torch.arange(offset, offset + seq))
    case.add_frequencies(observed.freqs)
    case.add_tables(angles.cos(), angles.sin())
    case.add_output("q_out", RotaryEmbedding(dim=dim, **arguments).rotate_queries_or_keys(q, offset=offset))
    return case


def _deviates(case: Case, reason: str) -> Case:
    case.status, case.reason = "deviates", reason
    return case


def cases() -> Iterator[Case]:
    yield _rotate("d64", "Language frequencies, every feature rotates")
    yield _rotate("d64-offset-7", "Positions 7 .. 14", offset=7)
    yield _rotate("d64-offset-1048568", "The last eight positions below 2^20, beyond the cache", offset=1048568)
    yield _rotate("decode", "One token of two sequences at position 300", shape=(2, 2, 1), offset=300)
    yield _rotate("partial-32-of-64", "The first 32 of 64 features rotate", dim=32, head_dim=64)
    yield _rotate("d80", "A dimension that is no power of two", dim=80, shape=(1, 2, 8))
    yield _rotate("seq-first", "seq_before_head_dim: heads after the sequence", seq_first=True)
    yield _rotate(
        "complex-notebook",
        "The query of case published/complex-notebook-vectorised",
        dim=128,
        shape=(2, 4, 4),
        draw_as="published/complex-notebook",
    )
    yield _rotate(
        "interpolate-2",
        "Positions divided by 2",
        interpolate_factor=2.0,
        c=3.0,
        more={"scaling": {"kind": "linear", "factor": 2}},
    )
    yield _rotate(
        "theta-rescale-4",
        "NTK-aware change of base",
        theta_rescale_factor=4.0,
        c=4.0,
        more={"scaling": {"kind": "ntk", "factor": 4}},
    )
    yield _rotate(
        "pixel",
        "Frequencies pi .. 5 pi, whole positions",
        freqs_for="pixel",
        max_freq=10,
        dim=32,
        c=4.0,
        more={"scaling": {"kind": "pixel", "max_frequency": 10}},
    )
    yield _rotate(
        "constant",
        "Every frequency 1",
        freqs_for="constant",
        num_freqs=16,
        dim=32,
        c=0.5,
        more={"scaling": {"kind": "constant"}},
    )
    yield _rotate("d64-bf16", "bf16 in and out, positions below 257", dtype="bf16", offset=200)
    yield _rotate("d64-f16", "f16 in and out, positions below 2049", dtype="f16", offset=2000)
    yield _deviates(
        _rotate("d64-bf16-past-256", "bf16 queries at positions 256 .. 263", dtype="bf16", offset=256),
        "positions are made in the query's dtype: bf16 has no odd number above 256, so 257 turns as 256",
    )
    yield _deviates(
        _rotate("d64-f16-past-2048", "f16 queries at positions 2048 .. 2055", dtype="f16", offset=2048),
        "positions are made in the query's dtype: f16 has no odd number above 2048, so 2049 turns as 2048",
    )
