"""rotary-embedding-torch: calls of one module, which caches its angles, one after another; and 16-bit and f64 queries
under its scaling rules."""

from collections.abc import Iterator

import torch
from rotary_embedding_torch import RotaryEmbedding

from case import Case, Deferred, default_c, deferred, spec

from .lucidrains import BHSD, FUNCTION, positions_of, rotate, xpos

DIM = 64


class Calls:
    """One module, and the id of the case that it answered last."""

    def __init__(self) -> None:
        self.module = RotaryEmbedding(dim=DIM)
        self.last: str | None = None

    @deferred
    def call(self, number: int, description: str, seq: int, offset: int, dtype: str = "f32") -> Case:
        case = Case(
            id=f"lucidrains/cache-{number}",
            package="rotary-embedding-torch",
            function=FUNCTION,
            description=f"Call {number} of one module: {description}",
            spec=spec(DIM, "interleaved"),
            axes=BHSD,
            dtype=dtype,
            rounding="final-cast",
            c=default_c(DIM, 10000),
            after=self.last,
        )
        self.last = case.id
        q = case.draw("q", (1, 2, seq, DIM))
        asked = positions_of(self.module, seq, q.dtype, offset)
        # What the module is about to answer, without what it would cache: from a copy of its state.
        copy = RotaryEmbedding(dim=DIM)
        copy.load_state_dict(self.module.state_dict())
        copy.cached_freqs, copy.cached_freqs_seq_len = self.module.cached_freqs.clone(), self.module.cached_freqs_seq_len
        angles = copy.forward(asked, seq_len=seq, offset=offset)
        case.add_positions(torch.arange(offset, offset + seq))
        case.add_frequencies(self.module.freqs)
        case.add_tables(angles.cos(), angles.sin())
        case.add_output("q_out", self.module.rotate_queries_or_keys(q, offset=offset))
        return case


def cases() -> Iterator[Deferred]:
    calls = Calls()
    yield calls.call(1, "positions 0 .. 7, which are cached", 8, 0)
    yield calls.call(2, "positions 0 .. 15: the cache grows", 16, 0)
    yield calls.call(3, "positions 12 .. 15, from the cache", 4, 12)
    yield calls.call(4, "positions 14 .. 21, beyond the cache, which stays as it is", 8, 14)
    yield calls.call(5, "positions 0 .. 3 in bf16, from the cache", 4, 0, "bf16")
    yield calls.call(6, "positions 0 .. 263 in bf16: the cache grows by positions rounded to bf16", 264, 0, "bf16").deviates(
        "positions are made in the query's dtype: bf16 has no odd number above 256", "positions_rounded", dtype="bf16"
    )
    yield calls.call(7, "positions 256 .. 263 in f32, from the cache of the bf16 call", 8, 256).deviates(
        "the angles that a bf16 call caches, of positions rounded to bf16, serve every later dtype",
        "positions_rounded",
        dtype="bf16",
    )
    for dtype in ("bf16", "f16"):
        yield xpos(f"xpos-{dtype}", "xPos: its factors are rounded to the dtype of the queries", dtype)
        yield rotate(
            f"interpolate-2-{dtype}", "Positions divided by 2", dtype=dtype, interpolate_factor=2.0, c=3.0,
            more={"scaling": {"kind": "linear", "factor": 2}},
        )  # fmt: skip
        yield rotate(
            f"theta-rescale-4-{dtype}", "NTK-aware change of base", dtype=dtype, theta_rescale_factor=4.0, c=4.0,
            more={"scaling": {"kind": "ntk", "factor": 4}},
        )  # fmt: skip
        yield rotate(
            f"pixel-{dtype}", "Frequencies pi .. 5 pi, whole positions", dtype=dtype, freqs_for="pixel", max_freq=10,
            dim=32, c=4.0, more={"scaling": {"kind": "pixel", "max_frequency": 10}},
        )  # fmt: skip
        yield rotate(
            f"constant-{dtype}", "Every frequency 1", dtype=dtype, freqs_for="constant", num_freqs=16, dim=32, c=0.5,
            more={"scaling": {"kind": "constant"}},
        )  # fmt: skip
    yield rotate("d64-f64", "f64 in and out; the angles stay f32", dtype="f64").deviates(
        "angles are made in f32 whatever the input is, so f64 in and out is right to f32 only", "angles_in_f32"
    )
