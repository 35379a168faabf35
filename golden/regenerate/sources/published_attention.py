"""Attention of the report: an encoder and a decoder, with padding, look-ahead and cross-attention. Dropout is off: the
printed function applies it only if it is given."""

import math
from collections.abc import Iterator

import torch

from case import Array, Case, spec

from . import printed

WEIGHTS = "batch, heads, query, key"
SIZE = 64


def _case(name: str, description: str) -> Case:
    return Case(
        id=f"published/{name}",
        package="published",
        function="attention",
        description=description,
        spec=spec(SIZE, "interleaved"),
        axes="batch, heads, seq, head_dim",
        dtype="f32",
        rounding="f32",
        c=2 * math.log(10000) + 2,  # as in published.py: theta by exp
    )


def _tables(length: int) -> list[torch.Tensor]:
    return [f(length, SIZE) for f in (printed.generate_cos_embedding, printed.generate_sin_embedding)]


def _attend(case: Case, queries: int, keys: int, mask: torch.Tensor) -> Case:
    """mask: [batch, 1, 1 or query, key], as the report's model makes it."""
    batch = mask.shape[0]
    q = case.draw("q", (batch, 2, queries, SIZE))
    k, v = (case.draw(n, (batch, 2, keys, SIZE)) for n in "kv")
    attended, weights, scores = printed.attention(q, k, v, mask)
    case.add_positions(torch.arange(queries))
    if keys != queries:
        case.add_positions(torch.arange(keys), keys=True)
    case.add_frequencies(printed.frequencies(SIZE))
    case.add_tables(*_tables(queries))
    if keys != queries:
        case.add_tables(*_tables(keys), keys=True)
    for name, x in (("q_out", q), ("k_out", k)):
        case.add_output(name, printed.apply_rotary_emb(x, SIZE))
    case.score_scale = 1 / math.sqrt(SIZE)
    case.arrays.append(Array("mask", "mask", "batch, query, key", mask.expand(-1, 1, queries, keys)[:, 0].contiguous()))
    case.add_scores(scores, WEIGHTS)
    case.add_attention(weights, attended, WEIGHTS, "batch, heads, query, head_dim")
    return case


def cases() -> Iterator[Case]:
    # Sentences of 9 and 6 source tokens, and of 5 and 4 target tokens, padded on the right.
    source = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])[:, None, None, :]
    target = torch.tensor([[1] * 5, [1] * 4 + [0]])[:, None, None, :]
    causal = torch.ones(5, 5, dtype=torch.int64).tril()
    yield _attend(_case("report-encoder", "The encoder: nine tokens, three of them padding in one sentence"), 9, 9, source)
    yield _attend(_case("report-decoder", "The decoder: look-ahead and padding are masked"), 5, 5, target & causal)
    yield _attend(
        _case("report-cross-attention", "Five queries of the decoder, nine keys of the encoder; both count from 0"), 5, 9, source
    )
