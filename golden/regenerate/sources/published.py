"""Figures that the published documents print, and the code of two notebooks run again with our inputs."""

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


def transcribed(
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
    case = transcribed(name, "apply_rotary_pos_emb", description, spec(size, "half_split"), default_c(size, 10000))
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
    case = transcribed(
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

    case = transcribed(
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


def cases() -> Iterator[Case]:
    yield _worked_example()
    yield _theta()
    yield from _complex_notebook()
    yield from _notebook()
