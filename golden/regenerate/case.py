"""The result of a source: one case, its arrays, and how they map to a rope call (docs/golden-files.md)."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch

import inputs

TORCH_DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
    "i64": torch.int64,
}
STORAGE = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<u2", "i32": "<i4", "i64": "<i8"}
NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}


@dataclass
class Array:
    name: str
    role: str  # input | position | frequencies | table | output | mask | score | weight | attended
    axes: str
    values: torch.Tensor
    seed: int | None = None
    printed: dict | None = None  # {"digits": 4, "form": "fixed" | "scientific"}: printed with that many decimals

    @property
    def dtype(self) -> str:
        return NAMES[self.values.dtype]

    def numpy(self) -> np.ndarray:
        """The values to write: bf16 as its bits, because numpy has no such type."""
        values = self.values.detach().resolve_conj().resolve_neg().contiguous()
        if values.dtype == torch.bfloat16:
            values = values.view(torch.uint16)
        return np.ascontiguousarray(values.numpy()).astype(STORAGE[self.dtype], copy=False)


@dataclass
class Case:
    id: str
    package: str
    function: str
    description: str
    spec: dict  # RopeSpec, reference/rope_spec.hpp
    axes: str  # of q, k and their outputs
    dtype: str  # of q and k
    rounding: str  # f32 | per-op | final-cast | printed: docs/golden-files.md
    c: float | None  # bound of |theta~/theta - 1| / 2^-24; None where the case has no frequencies
    sequence_length: int = 0
    attention_factor: float = 1.0
    tables_include_attention_factor: bool = True
    position_divisor: float = 1.0
    theta_is_given: bool = False  # base and scaling do not yield theta: the array does
    score_scale: float = 1.0  # the factor of the products of q_out and k_out
    masked_score: float | None = None  # added to a masked score; without it -1e9 takes the score's place
    after: str | None = None  # the id of the call that the same module answered before
    beyond_contract: list[str] = field(default_factory=list)  # what no rope_call can carry
    status: str = "conforms"
    reason: str | None = None
    instead: dict | None = None  # what a deviating source does, for programs: docs/golden-files.md
    arrays: list[Array] = field(default_factory=list)

    begun: ClassVar[str] = ""  # the id of the case that was begun last: the one that failed, if one did

    def __post_init__(self) -> None:
        Case.begun = self.id

    def draw(self, name: str, shape: tuple[int, ...], label: str | None = None) -> torch.Tensor:
        """Adds a generated input. `label`: draw the same values as the case of that id."""
        seed = inputs.seed_of(label or self.id, name)
        raw = torch.from_numpy(inputs.bits(seed, math.prod(shape), self.dtype))
        values = raw.view(TORCH_DTYPES[self.dtype]).reshape(shape)
        self.arrays.append(Array(name, "input", self.axes, values, seed))
        return values

    def add_input(self, name: str, values: torch.Tensor) -> torch.Tensor:
        self.arrays.append(Array(name, "input", self.axes, values))
        return values

    def add_positions(self, positions: torch.Tensor, keys: bool = False) -> None:
        """positions: [seq], [batch, seq] or [axes, batch, seq]; i64, or the source's own type if not whole. keys: for
        the tokens of k, if these are others than q's. Then q's come first."""
        canonical = positions.reshape((1,) * (3 - positions.dim()) + tuple(positions.shape))
        if canonical.dtype.is_floating_point:
            self.beyond_contract.append("fractional-positions")
        elif int(canonical.min()) < 0:
            self.beyond_contract.append("negative-positions")
        if keys:
            self.beyond_contract.append("key-positions")
        name = "k_positions" if keys else "positions"
        self.arrays.append(Array(name, "position", "axes, batch, seq", canonical))
        self.sequence_length = max(self.sequence_length, math.floor(float(canonical.max())) + 1)

    def add_frequencies(self, theta: torch.Tensor) -> None:
        self.arrays.append(Array("theta", "frequencies", "pair", theta.detach().clone()))

    def add_tables(self, cos: torch.Tensor, sin: torch.Tensor, keys: bool = False) -> None:
        """cos, sin: [seq, width] or [batch, seq, width], with length-1 axes anywhere between."""
        prefix = "k_" if keys else ""
        width = cos.shape[-1]
        words = "batch, seq, pair" if width == self.spec["rotary_dim"] // 2 else "batch, seq, feature"
        rows = self.array(f"{prefix}positions").values.shape[1:]
        for name, table in (("cos", cos), ("sin", sin)):
            batch = 1 if table.numel() == rows[1] * width else rows[0]
            self.arrays.append(Array(prefix + name, "table", words, table.detach().clone().reshape(batch, rows[1], width)))

    def add_scales(self, **scales: torch.Tensor) -> None:
        """xPos: the factors of the turned rows of q and k, [seq, feature] each."""
        self.beyond_contract.append("magnitude")
        for name, scale in scales.items():
            self.arrays.append(Array(f"{name}_scale", "table", "batch, seq, feature", scale.detach()[None]))

    def add_output(self, name: str, values: torch.Tensor) -> None:
        self.arrays.append(Array(name, "output", self.axes, values.detach().clone()))

    def add_scores(self, values: torch.Tensor, axes: str) -> None:
        self.arrays.append(Array("scores", "score", axes, values.detach().clone()))

    def add_attention(self, weights: torch.Tensor, attended: torch.Tensor, words: str, attended_words: str) -> None:
        self.arrays.append(Array("weights", "weight", words, weights.detach().clone()))
        self.arrays.append(Array("attended", "attended", attended_words, attended.detach().clone()))

    def deviates(self, reason: str, rule: str, **parameters: object) -> "Case":
        """Keeps the case as a negative control. rule and parameters: `instead` in docs/golden-files.md."""
        self.status, self.reason, self.instead = "deviates", reason, {"rule": rule, **parameters}
        return self

    def array(self, name: str) -> Array | None:
        return next((a for a in self.arrays if a.name == name), None)


class Deferred:
    """A case that make() computes. So a case that fails does not end its source."""

    def __init__(self, make: Callable[[], Case]) -> None:
        self.make = make

    def then(self, change: Callable[[Case], Case]) -> "Deferred":
        return Deferred(lambda: change(self.make()))

    def deviates(self, reason: str, rule: str, **parameters: object) -> "Deferred":
        return self.then(lambda case: case.deviates(reason, rule, **parameters))


def deferred(function: Callable[..., Case]) -> Callable[..., Deferred]:
    @functools.wraps(function)
    def later(*arguments: object, **named: object) -> Deferred:
        return Deferred(lambda: function(*arguments, **named))

    return later


def spec(head_dim: int, pairing: str, *, rotary_dim: int | None = None, base: float = 10000, **more: object) -> dict:
    """A RopeSpec as JSON."""
    return {"head_dim": head_dim, "rotary_dim": rotary_dim or head_dim, "pairing": pairing, "base": base, **more}


def default_c(rotary_dim: int, base: float) -> float:
    """Bound of C for theta = 1 / base ** (2i/r) in f32: the quotient 2i/r is exact where r is a power of two."""
    return 2.0 if rotary_dim & (rotary_dim - 1) == 0 else 2.0 + math.log(base)
