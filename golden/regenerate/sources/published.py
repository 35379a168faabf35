"""Figures that the published documents print, and the complex-number notebook run again with inputs of ours."""

from collections.abc import Iterator

import torch

from case import Array, Case, default_c, spec

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


def _complex(name: str, description: str, theta: torch.Tensor, cache: torch.Tensor) -> Case:
    """Rotation as multiplication of complex numbers; cache: [seq, pair, 2]."""
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
    case.add_positions(torch.arange(seq))
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

    # One row at a time, from frequencies that Python computed in f64 and torch rounded.
    theta = torch.tensor([10000 ** ((-2 * i) / size) for i in range(size // 2)])
    rows = [torch.stack(((m * theta).cos(), (m * theta).sin()), dim=1) for m in range(seq)]
    yield _complex(
        "complex-notebook-naive", "Complex multiplication, one table row at a time", theta, torch.stack(rows)
    )


def cases() -> Iterator[Case]:
    yield _worked_example()
    yield _theta()
    yield from _complex_notebook()
