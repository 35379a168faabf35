"""Calls of the class that the notebook prints, Qwen2RotaryEmbedding, one after another. Each call is a case.

It keeps cosines and sines, and makes them again in the dtype of the call that needs a longer table. Later calls get
these, in whatever dtype they ask for.
"""

from collections.abc import Iterator

import torch

from case import Case, default_c, spec

from . import printed

SIZE, FIRST = 64, 8


def cases() -> Iterator[Case]:
    module = printed.Qwen2RotaryEmbedding(SIZE, max_position_embeddings=FIRST)
    last = None
    calls = (
        ("f32", 8, "within the table that it was made with"),
        ("bf16", 16, "longer than the table, which is made again in bf16"),
        ("f32", 16, "as long as the table, which is still bf16"),
        ("f32", 4, "shorter: the table stays bf16"),
        ("f32", 32, "longer than the table, which is made again in f32"),
        ("f16", 32, "f16 from the f32 table"),
        ("f32", 12, "shorter, from the f32 table"),
    )
    for number, (dtype, length, description) in enumerate(calls, 1):
        case = Case(
            id=f"published/qwen2-cache-{number}",
            package="published",
            function="Qwen2RotaryEmbedding.forward, apply_rotary_pos_emb",
            description=f"Call {number} of one module: {length} tokens in {dtype}, {description}",
            spec=spec(SIZE, "half_split"),
            axes="batch, heads, seq, head_dim",
            dtype=dtype,
            rounding="f32" if dtype == "f32" else "per-op",
            c=default_c(SIZE, 10000),
            after=last,
        )
        last = case.id
        positions = torch.arange(length - 4, length)[None]
        q, k = (case.draw(n, (1, heads, 4, SIZE)) for n, heads in (("q", 2), ("k", 1)))
        cos, sin = module(q, seq_len=length)
        case.add_positions(positions)
        case.add_frequencies(module.inv_freq)
        case.add_tables(cos[positions], sin[positions])
        for name, values in zip(("q_out", "k_out"), printed.apply_rotary_pos_emb(q, k, cos, sin, positions), strict=True):
            case.add_output(name, values)
        if number in (3, 4):
            case.deviates(
                "a bf16 call made the tables again in bf16, and this f32 call gets those: off by up to 2^-9 of 1",
                "tables_rounded",
                dtype="bf16",
            )
        yield case
