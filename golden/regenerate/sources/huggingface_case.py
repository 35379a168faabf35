"""The common part of all rotary modules of Hugging Face transformers: one case from its tables and its results."""

from collections.abc import Callable

import torch

from case import Case

BHSD = "batch, heads, seq, head_dim"
BSHD = "batch, seq, heads, head_dim"
HEADS = (2, 1)  # of q and of k

CACHED = torch.arange(1000, 1004).repeat(2, 1)
ONE_ROW = torch.arange(8)[None]


def new_case(name: str, function: str, description: str, rope: dict, dtype: str, c: float, axes: str = BHSD) -> Case:
    return Case(
        id=f"huggingface/{name}",
        package="transformers",
        function=f"transformers.models.{function}",
        description=description,
        spec=rope,
        axes=axes,
        dtype=dtype,
        rounding="f32" if dtype == "f32" else "per-op",
        c=c,
    )


def draw(case: Case, positions: torch.Tensor, head_dim: int, heads: tuple[int, int] = HEADS) -> list[torch.Tensor]:
    batch, seq = positions.shape[-2:]
    shapes = [(batch, h, seq, head_dim) if case.axes == BHSD else (batch, seq, h, head_dim) for h in heads]
    return [case.draw(name, shape) for name, shape in zip("qk", shapes, strict=True)]


def finish(case: Case, positions: torch.Tensor, theta: torch.Tensor, tables: tuple, outputs: tuple) -> Case:
    case.add_positions(positions)
    case.add_frequencies(theta)
    case.add_tables(*tables)
    for name, values in zip(("q_out", "k_out"), outputs, strict=True):
        case.add_output(name, values)
    return case


def run(
    case: Case, module: torch.nn.Module, apply: Callable, positions: torch.Tensor, heads: tuple[int, int] = HEADS
) -> Case:
    """The call of every model here except GPT-J: cos, sin = module(x, ids); apply(q, k, cos, sin)."""
    q, k = draw(case, positions, case.spec["head_dim"], heads)
    cos, sin = module(q, positions)
    outputs = apply(q, k, cos, sin) if case.axes == BHSD else apply(q, k, cos, sin, unsqueeze_dim=2)
    case.attention_factor = float(module.attention_scaling)
    return finish(case, positions, module.inv_freq, (cos, sin), outputs)
