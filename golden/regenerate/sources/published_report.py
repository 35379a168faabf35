"""The report's own code and formulas: Eq. 3 and 4, its frequencies, and its attention in an encoder and a decoder, with
padding, look-ahead and cross-attention. Dropout is off: the printed function applies it only if it is given."""

import math
from collections.abc import Iterator

import torch

from case import Array, Case, spec

from . import printed
from .published import WEIGHTS, transcribed

SIZE = 64


def _case(name: str, function: str, description: str, size: int = SIZE) -> Case:
    # theta = exp(2i c): c is rounded to f32, then the product, whose size is up to ln(base); then exp.
    return transcribed(name, function, description, spec(size, "interleaved"), 2 * math.log(10000) + 2)


def _tables(length: int, size: int = SIZE) -> list[torch.Tensor]:
    return [f(length, size) for f in (printed.generate_cos_embedding, printed.generate_sin_embedding)]


def _rotate(case: Case, q: torch.Tensor, k: torch.Tensor) -> list[torch.Tensor]:
    """Positions, frequencies, tables and outputs. k has tables of its own where it has other tokens than q."""
    queries, keys = q.shape[-2], k.shape[-2]
    case.add_positions(torch.arange(queries))
    if keys != queries:
        case.add_positions(torch.arange(keys), keys=True)
    case.add_frequencies(printed.frequencies(SIZE))
    case.add_tables(*_tables(queries))
    if keys != queries:
        case.add_tables(*_tables(keys), keys=True)
    turned = [printed.apply_rotary_emb(x, SIZE) for x in (q, k)]
    for name, y in zip(("q_out", "k_out"), turned, strict=True):
        case.add_output(name, y)
    case.score_scale = 1 / math.sqrt(SIZE)
    return turned


def _attend(
    name: str, description: str, queries: int, keys: int, mask: torch.Tensor, stored: Array, batch: int = 2
) -> Case:
    """mask: as the report's model makes it; stored: the same for the files."""
    case = _case(name, "attention", description)
    q = case.draw("q", (batch, 2, queries, SIZE))
    k, v = (case.draw(n, (batch, 2, keys, SIZE)) for n in "kv")
    attended, weights, scores = printed.attention(q, k, v, mask)
    _rotate(case, q, k)
    case.arrays.append(stored)
    case.add_scores(scores, WEIGHTS)
    case.add_attention(weights, attended, WEIGHTS, "batch, heads, query, head_dim")
    return case


def _causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.int64).tril()


def _translation(name: str, description: str, queries: int, keys: int, mask: torch.Tensor) -> Case:
    """mask: [batch, 1, 1 or query, key]"""
    rows = mask.expand(-1, 1, queries, keys)[:, 0].contiguous()
    return _attend(name, description, queries, keys, mask, Array("mask", "mask", "batch, query, key", rows))


def _attention() -> Iterator[Case]:
    one = _causal(12)
    stored = Array("mask", "mask", "query, key", one)
    yield _attend("report-attention", "Eq. 4 with a causal mask, softmax and values", 12, 12, one, stored, batch=1)
    # Sentences of 9 and 6 source tokens, and of 5 and 4 target tokens, padded on the right.
    source = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])[:, None, None, :]
    target = torch.tensor([[1] * 5, [1] * 4 + [0]])[:, None, None, :]
    yield _translation(
        "report-encoder", "The encoder: nine tokens, three of them padding in one sentence", 9, 9, source
    )
    yield _translation("report-decoder", "The decoder: look-ahead and padding are masked", 5, 5, target & _causal(5))
    yield _translation(
        "report-cross-attention",
        "Five queries of the decoder, nine keys of the encoder; both count from 0",
        5,
        9,
        source,
    )


def _heatmap() -> Case:
    description = "One query and one key at every position: scores of the distance"
    case = _case("report-heatmap", "apply_rotary_emb", description)
    rows = [case.draw(n, (1, 1, 1, SIZE)) for n in "qk"]
    case.arrays.clear()  # one row is drawn, and stored at every position
    q, k = (case.add_input(n, x.expand(1, 1, 32, SIZE).contiguous()) for n, x in zip("qk", rows, strict=True))
    turned = _rotate(case, q, k)
    case.add_scores(torch.matmul(turned[0], turned[1].transpose(-2, -1)) / math.sqrt(SIZE), WEIGHTS)
    return case


def _formulas() -> Iterator[Case]:
    """The formulas of d = 6 as printed."""
    size, seq = 6, 8
    theta = printed.frequencies(size)
    m = torch.arange(seq)
    case = _case("report-eq-3", "R x, Eq. 3", "The rotary matrix as printed, d = 6", size)
    q = case.draw("q", (1, 2, seq, size))
    case.add_positions(m)
    case.add_frequencies(theta)
    case.add_tables(*_tables(seq, size))
    case.add_output("q_out", printed.equation_3(q, theta))
    yield case.deviates(
        "the second block stands in columns 2 and 3 where it belongs in 3 and 4: pair 1 turns features 1 and 2",
        "second_block_one_column_left",
    )

    case = _case("report-eq-4", "R v, Eq. 4", "Element by element, d = 6, cosines in the printed order", size)
    q = case.draw("q", (1, 2, seq, size))
    cos, sin = printed.equation_4_tables(seq, theta)
    case.add_positions(m)
    case.add_frequencies(theta)
    case.add_tables(cos, sin)
    case.add_output("q_out", (q * cos) + (printed.swapped(q) * sin))
    yield case.deviates(
        "the column of cosines begins theta_1, theta_2, theta_2: feature 1 has the cosine of pair 1, and feature 3 of "
        "pair 2",
        "cosines_one_feature_early",
    )

    case = _case("report-theta", "10000^(-2(i-1)d)", "The frequencies as printed below Eq. 3, d = 6", size)
    q = case.draw("q", (1, 2, seq, size))
    theta = printed.theta_without_division(size)
    angles = (m[:, None] * theta).repeat_interleave(2, dim=-1)
    case.add_positions(m)
    case.add_frequencies(theta)
    case.add_tables(angles.cos(), angles.sin())
    case.add_output("q_out", (q * angles.cos()) + (printed.swapped(q) * angles.sin()))
    yield case.deviates(
        "the exponent is multiplied by d where it is divided: every pair but the first stands still",
        "theta_without_division",
    )


def cases() -> Iterator[Case]:
    yield from _attention()
    yield _heatmap()
    yield from _formulas()
