"""Figures that the published documents print, and their code run again with our inputs."""

import math
from collections.abc import Iterator

import torch
from transformers.models.llama.modeling_llama import repeat_kv

from case import Array, Case, default_c, spec

from . import printed

BHSD = "batch, heads, seq, head_dim"
WEIGHTS = "batch, heads, query, key"

# Worked example, printed to four decimals.
WORKED_OUTPUT = [
    [1.0000, 2.0000, 3.0000, 4.0000],
    [-2.8876, 4.9298, 6.6077, 7.0496],
    [-11.0967, 7.7984, 2.6198, 10.1580],
]
# 10000 ** (-2i/128), printed with four decimals of the significand: sixteen values, then the same a tenth as large, ...
THETA_SIGNIFICANDS = [
    "1.0000e+00", "8.6596e-01", "7.4989e-01", "6.4938e-01", "5.6234e-01", "4.8697e-01", "4.2170e-01", "3.6517e-01",
    "3.1623e-01", "2.7384e-01", "2.3714e-01", "2.0535e-01", "1.7783e-01", "1.5399e-01", "1.3335e-01", "1.1548e-01",
]  # fmt: skip


def _worked_example() -> Case:
    case = Case(
        id="published/worked-example",
        package="published",
        function="RotaryPositionalEmbeddings(4)(x)",
        description="Output of the annotated example as a notebook prints it",
        spec=spec(4, "half_split"),
        axes="seq, batch, heads, head_dim",
        dtype="f32",
        rounding="printed",
        c=None,
    )
    x = torch.tensor([[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10]], dtype=torch.float32)
    case.add_input("q", x[:, None, None, :])
    case.add_positions(torch.arange(3))
    case.add_output("q_out", torch.tensor(WORKED_OUTPUT, dtype=torch.float64)[:, None, None, :])
    case.arrays[-1].printed = {"digits": 4, "form": "fixed"}
    return case


def _theta() -> Case:
    printed = [f"{text[:-3]}{int(text[-3:]) - decade:+03d}" for decade in range(4) for text in THETA_SIGNIFICANDS]
    values = torch.tensor([float(text) for text in printed], dtype=torch.float64)
    return Case(
        id="published/theta-d128",
        package="published",
        function="10_000 ** ((-2 * torch.arange(0, hs//2)) / hs)",
        description="The 64 angular frequencies of head size 128 as a notebook prints them",
        spec=spec(128, "interleaved"),
        axes="batch, heads, seq, head_dim",
        dtype="f32",
        rounding="printed",
        c=None,
        arrays=[Array("theta", "frequencies", "pair", values, printed={"digits": 4, "form": "scientific"})],
    )


def _complex(name: str, description: str, theta: torch.Tensor, cache: torch.Tensor, first: int = 0) -> Case:
    """Rotation as multiplication of complex numbers; cache: [seq, pair, 2], of positions first, first + 1, .."""
    batch, heads, seq, size = 2, 4, 4, 128
    case = Case(
        id=f"published/{name}",
        package="published",
        function="torch.view_as_complex(x) * torch.view_as_complex(rope_cache)",
        description=description,
        spec=spec(size, "interleaved"),
        axes="batch, heads, seq, head_dim",
        dtype="f32",
        rounding="f32",
        c=default_c(size, 10000),
    )
    q = case.draw("q", (batch, heads, seq, size), "published/complex-notebook")
    pairs = torch.view_as_complex(q.view(batch * heads, seq, size // 2, 2))
    rotated = torch.view_as_real(pairs * torch.view_as_complex(cache)).reshape(q.shape)
    case.add_positions(torch.arange(first, first + seq))
    case.add_frequencies(theta)
    case.add_tables(cache[..., 0], cache[..., 1])
    case.add_output("q_out", rotated)
    return case


def _complex_notebook() -> Iterator[Case]:
    seq, size = 4, 128
    theta = 10_000 ** ((-2 * torch.arange(0, size // 2)) / size)
    angles = torch.outer(torch.arange(seq, dtype=torch.float32), theta)
    cache = torch.stack((angles.cos(), angles.sin()), dim=-1)
    yield _complex("complex-notebook-vectorised", "Complex multiplication, angles by one outer product", theta, cache)
    # From 4096 rows, four where the two caches are no longer close.
    far = 4008
    angles = torch.outer(torch.arange(4096, dtype=torch.float32), theta)[far : far + seq]
    cache = torch.stack((angles.cos(), angles.sin()), dim=-1)
    yield _complex("complex-notebook-vectorised-4096", "Rows 4008 .. 4011 of a cache of 4096", theta, cache, far)

    # One row at a time, from frequencies that Python computed in f64 and torch rounded.
    theta = torch.tensor([10000 ** ((-2 * i) / size) for i in range(size // 2)])
    rows = [torch.stack(((m * theta).cos(), (m * theta).sin()), dim=1) for m in range(seq)]
    yield _complex(
        "complex-notebook-naive", "Complex multiplication, one table row at a time", theta, torch.stack(rows)
    )
    rows = [torch.stack(((m * theta).cos(), (m * theta).sin()), dim=1) for m in range(far, far + seq)]
    yield _complex(
        "complex-notebook-naive-4096", "Rows 4008 .. 4011 of a cache of 4096", theta, torch.stack(rows), far
    )


def _transcribed(
    name: str, function: str, description: str, rope: dict, c: float, package: str = "published"
) -> Case:
    return Case(
        id=f"published/{name}",
        package=package,
        function=function,
        description=description,
        spec=rope,
        axes=BHSD,
        dtype="f32",
        rounding="f32",
        c=c,
    )


def _notebook_flow(name: str, description: str, seq: int, past: int, *, heads: tuple[int, int], flat: bool) -> Case:
    """The end of the notebook: cos, sin = rotary_emb(..); apply_rotary_pos_emb(q, k, cos, sin, position_ids).

    flat: position_ids as printed, [seq]; else [1, seq], as the model passes them."""
    size = 64
    case = _transcribed(name, "apply_rotary_pos_emb", description, spec(size, "half_split"), default_c(size, 10000))
    q, k = (case.draw(n, (2, h, seq, size)) for n, h in zip("qk", heads, strict=True))
    rotary_emb = printed.Qwen2RotaryEmbedding(size)
    cos, sin = rotary_emb(k, seq_len=seq + past)
    position_ids = torch.arange(past, seq + past, dtype=torch.long)
    outputs = printed.apply_rotary_pos_emb(q, k, cos, sin, position_ids if flat else position_ids[None])
    case.add_positions(position_ids)
    case.add_frequencies(rotary_emb.inv_freq)
    case.add_tables(cos[position_ids], sin[position_ids])
    for n, values in zip(("q_out", "k_out"), outputs, strict=True):
        case.add_output(n, values)
    case.score_scale = 1 / math.sqrt(size)
    key_states = repeat_kv(outputs[1], heads[0] // heads[1])
    case.add_scores(torch.matmul(outputs[0], key_states.transpose(2, 3)) / math.sqrt(size), WEIGHTS)
    return case


def _notebook() -> Iterator[Case]:
    yield _notebook_flow("notebook-flow", "Four tokens behind seven cached ones", 4, 7, heads=(4, 2), flat=False)
    yield _notebook_flow(
        "notebook-flow-decode", "One token behind seven; position_ids [1] as printed", 1, 7, heads=(4, 2), flat=True
    )
    yield _notebook_flow(
        "notebook-flow-flat-ids", "As many heads as tokens; position_ids [4] as printed", 4, 7, heads=(4, 4), flat=True
    ).deviates(
        "position_ids as printed have one axis, so unsqueeze(1) lays positions along the heads: head h turns by row h",
        "position_of_head",
    )

    size, seq = 64, 8
    function = "apply_rope"
    case = _transcribed(
        "notebook-apply-rope",
        function,
        "The first cell, with the misspelt names mended and the sines cut as the cosines are",
        spec(size, "half_split"),
        default_c(size, 10000),
    )
    q, k = (case.draw(n, (1, 2, seq, size)) for n in "qk")
    q_em, k_em, theta, cos, sin = printed.apply_rope(q, k, seq, size)
    case.add_positions(torch.arange(seq))
    case.add_frequencies(theta)
    case.add_tables(cos, sin)
    case.add_output("q_out", q_em)
    case.add_output("k_out", k_em)
    yield case.deviates("turns k with rotate_half(q): k_em = k cos + rotate_half(q) sin", "k_turned_with_q")

    case = _transcribed(
        "notebook-inner-product",
        "<RoPE(q, m), RoPE(k, n)> = q k e^((m - n) i theta)",
        "The derivation of relative scores, evaluated as printed beside the rotations themselves",
        spec(size, "interleaved"),
        default_c(size, 10000),
    )
    q, k = (case.draw(n, (1, 2, seq, size)) for n in "qk")
    theta = 1.0 / (10000 ** (torch.arange(0, size, 2).float() / size))
    angles = torch.outer(torch.arange(seq, dtype=torch.float32), theta)
    turn = torch.complex(angles.cos(), angles.sin())
    pairs = [torch.view_as_complex(x.view(1, 2, seq, size // 2, 2)) for x in (q, k)]
    case.add_positions(torch.arange(seq))
    case.add_frequencies(theta)
    case.add_tables(angles.cos(), angles.sin())
    for n, x in zip(("q_out", "k_out"), pairs, strict=True):
        case.add_output(n, torch.view_as_real(x * turn).reshape(q.shape))
    case.add_scores(printed.inner_product(*pairs, theta), WEIGHTS)
    yield case.deviates(
        "the inner product of complex numbers conjugates the second: q conj(k) e^((m - n) i theta), not q k e^(..)",
        "k_not_conjugated",
    )


def _report_case(name: str, function: str, description: str, size: int) -> Case:
    # theta = exp(2i c): c is rounded to f32, then the product, whose size is up to ln(base); then exp.
    return _transcribed(name, function, description, spec(size, "interleaved"), 2 * math.log(10000) + 2)


def _report_attention(case: Case, q: torch.Tensor, k: torch.Tensor) -> Case:
    batch, heads, seq, size = q.shape
    v = case.draw("v", (batch, heads, seq, size))
    mask = torch.ones(seq, seq, dtype=torch.int64).tril()
    attended, weights, scores = printed.attention(q, k, v, mask)
    case.add_positions(torch.arange(seq))
    case.add_frequencies(printed.frequencies(size))
    case.add_tables(*(f(seq, size) for f in (printed.generate_cos_embedding, printed.generate_sin_embedding)))
    for name, x in (("q_out", q), ("k_out", k)):
        case.add_output(name, printed.apply_rotary_emb(x, size))
    case.score_scale = 1 / math.sqrt(size)
    case.arrays.append(Array("mask", "mask", "query, key", mask))
    case.add_scores(scores, WEIGHTS)
    case.add_attention(weights, attended, WEIGHTS, "batch, heads, query, head_dim")
    return case


def _report() -> Iterator[Case]:
    case = _report_case("report-attention", "attention", "Eq. 4 with a causal mask, softmax and values", 64)
    q, k = (case.draw(n, (1, 2, 12, 64)) for n in "qk")
    yield _report_attention(case, q, k)

    case = _report_case(
        "report-heatmap", "apply_rotary_emb", "One query and one key at every position: scores of the distance", 64
    )
    rows = [case.draw(n, (1, 1, 1, 64)) for n in "qk"]
    case.arrays.clear()  # one row is drawn, and stored at every position
    q, k = (case.add_input(n, x.expand(1, 1, 32, 64).contiguous()) for n, x in zip("qk", rows, strict=True))
    case.add_positions(torch.arange(32))
    case.add_frequencies(printed.frequencies(64))
    case.add_tables(*(f(32, 64) for f in (printed.generate_cos_embedding, printed.generate_sin_embedding)))
    turned = [printed.apply_rotary_emb(x, 64) for x in (q, k)]
    for name, y in zip(("q_out", "k_out"), turned, strict=True):
        case.add_output(name, y)
    case.score_scale = 1 / math.sqrt(64)
    case.add_scores(torch.matmul(turned[0], turned[1].transpose(-2, -1)) / math.sqrt(64), WEIGHTS)
    yield case

    size, seq = 6, 8
    theta = printed.frequencies(size)
    m = torch.arange(seq)
    case = _report_case("report-eq-3", "R x, Eq. 3", "The rotary matrix as printed, d = 6", size)
    q = case.draw("q", (1, 2, seq, size))
    case.add_positions(m)
    case.add_frequencies(theta)
    case.add_tables(*(f(seq, size) for f in (printed.generate_cos_embedding, printed.generate_sin_embedding)))
    case.add_output("q_out", printed.equation_3(q, theta))
    yield case.deviates(
        "the second block stands in columns 2 and 3 where it belongs in 3 and 4: pair 1 turns features 1 and 2",
        "second_block_one_column_left",
    )

    case = _report_case("report-eq-4", "R v, Eq. 4", "Element by element, d = 6, cosines in the printed order", size)
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

    case = _report_case("report-theta", "10000^(-2(i-1)d)", "The frequencies as printed below Eq. 3, d = 6", size)
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
    yield _worked_example()
    yield _theta()
    yield from _complex_notebook()
    yield from _notebook()
    yield from _report()
