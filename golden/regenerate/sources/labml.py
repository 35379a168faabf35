"""labml.ai's annotated implementation: half-split, [seq, batch, heads, head_dim], no offset, tables always f32."""

from collections.abc import Iterator

import torch
from labml_nn.transformers.rope import RotaryPEMultiHeadAttention, RotaryPositionalEmbeddings

from capture import CapturedReciprocal
from case import Case, Deferred, default_c, deferred, spec

AXES = "seq, batch, heads, head_dim"
FORWARD = "labml_nn.transformers.rope.RotaryPositionalEmbeddings.forward"
SCORES = "labml_nn.transformers.rope.RotaryPEMultiHeadAttention.get_scores"


def _case(name: str, description: str, head_dim: int, rotary_dim: int, base: int, dtype: str, function: str) -> Case:
    return Case(
        id=f"labml/{name}",
        package="labml-nn",
        function=function,
        description=description,
        spec=spec(head_dim, "half_split", rotary_dim=rotary_dim, base=base),
        axes=AXES,
        dtype=dtype,
        rounding="per-op" if dtype == "f64" else "f32",
        c=default_c(rotary_dim, base),
    )


def _rotate(case: Case, module: RotaryPositionalEmbeddings, name: str, x: torch.Tensor) -> None:
    with CapturedReciprocal() as captured:
        rotated = module(x)
    if name == "q":
        case.add_positions(torch.arange(x.shape[0]))
        case.add_frequencies(captured.value)
        case.add_tables(module.cos_cached, module.sin_cached)
    case.add_output(f"{name}_out", rotated)


@deferred
def _forward(
    name: str, description: str, shape: tuple[int, int, int, int], rotary_dim: int, base: int, dtype: str
) -> Case:
    case = _case(name, description, shape[-1], rotary_dim, base, dtype, FORWARD)
    _rotate(case, RotaryPositionalEmbeddings(rotary_dim, base), "q", case.draw("q", shape))
    return case


@deferred
def _scores(name: str, description: str, percentage: float) -> Case:
    seq, batch, heads, d_k = 6, 2, 2, 64
    case = _case(name, description, d_k, int(d_k * percentage), 10000, "f32", SCORES)
    attention = RotaryPEMultiHeadAttention(heads, heads * d_k, percentage)
    query, key = (case.draw(n, (seq, batch, heads, d_k)) for n in ("q", "k"))
    scores = attention.get_scores(query, key)
    _rotate(case, RotaryPositionalEmbeddings(attention.query_rotary_pe.d), "q", query)
    _rotate(case, RotaryPositionalEmbeddings(attention.key_rotary_pe.d), "k", key)
    case.add_scores(scores, "query, key, batch, heads")
    return case


@deferred
def _worked() -> Case:
    worked = _case(
        "worked-d4", "The module's own small example, three tokens of four features", 4, 4, 10000, "f32", FORWARD
    )
    x = torch.tensor([[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10]], dtype=torch.float32)[:, None, None, :]
    _rotate(worked, RotaryPositionalEmbeddings(4), "q", worked.add_input("q", x))
    return worked


class Calls:
    """One module, whose tables are made again when a longer sequence comes, and the case that it answered last."""

    def __init__(self) -> None:
        self.module = RotaryPositionalEmbeddings(64)
        self.last: str | None = None

    @deferred
    def call(self, number: int, description: str, seq: int, dtype: str = "f32") -> Case:
        case = _case(f"cache-{number}", f"Call {number} of one module: {description}", 64, 64, 10000, dtype, FORWARD)
        case.after, self.last = self.last, case.id
        x = case.draw("q", (seq, 2, 2, 64))
        had = 0 if self.module.cos_cached is None else self.module.cos_cached.shape[0]
        with CapturedReciprocal() as captured:
            rotated = self.module(x)
        if captured.value is not None:
            self.theta = captured.value  # made only where the tables are
        assert (captured.value is not None) == (seq > had)
        case.add_positions(torch.arange(seq))
        case.add_frequencies(self.theta)
        case.add_tables(self.module.cos_cached[:seq], self.module.sin_cached[:seq])
        case.add_output("q_out", rotated)
        return case


def cases() -> Iterator[Deferred]:
    yield _worked()
    yield _forward("d64", "Every feature rotates", (8, 2, 2, 64), 64, 10000, "f32")
    yield _forward("partial-32-of-64", "The first 32 of 64 features rotate", (8, 2, 2, 64), 32, 10000, "f32")
    yield _forward("d128-base-5e5", "A larger base", (8, 1, 2, 128), 128, 500000, "f32")
    yield _forward("d64-batch-equals-seq", "Batch and sequence of one length", (3, 3, 2, 64), 64, 10000, "f32")
    yield _forward(
        "d64-bf16", "bf16 in, f32 out: the tables are f32 and torch promotes", (8, 2, 2, 64), 64, 10000, "bf16"
    )
    yield _forward("d64-f16", "f16 in, f32 out: the tables are f32 and torch promotes", (8, 2, 2, 64), 64, 10000, "f16")
    yield _forward("d96", "A head_dim that is not a power of two", (8, 1, 2, 96), 96, 10000, "f32")
    double = _forward("d64-f64", "f64 in and out; the tables stay f32", (8, 2, 2, 64), 64, 10000, "f64")
    yield double.deviates(
        "theta, angles and tables are made in f32 whatever the input is, so f64 in and out is right to f32 only",
        "angles_in_f32",
    )
    yield _scores("scores-half", "Attention scores, unscaled, half of the features rotate (the default)", 0.5)
    yield _scores("scores-full", "Attention scores, unscaled, every feature rotates", 1.0)
    calls = Calls()
    yield calls.call(1, "4 tokens", 4)
    yield calls.call(2, "9 tokens: the tables are made again", 9)
    yield calls.call(3, "3 tokens: the first rows of the tables", 3)
    yield calls.call(4, "9 tokens in bf16: the same tables, in f32", 9, "bf16")
    yield calls.call(5, "12 tokens in f16: the tables are made again, in f32", 12, "f16")
    yield calls.call(6, "12 tokens in f32: the call before did not round the tables", 12)
