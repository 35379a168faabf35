"""The one argument of a Python kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ropecheck import names
from ropecheck.errors import InvalidArgument
from ropecheck.tensors import Tensor

if TYPE_CHECKING:
    from ropecheck.arrays.library import ArrayLibrary

# A scaling rule's parameters: the contract's names, and Hugging Face's.
SCALING_NAMES = {
    "original_max_position": "original_max_position_embeddings",
    "yarn_truncate": "truncate",
    "yarn_clamp_pairs": "clamp_pairs",
}


def _number(value: Any) -> float:
    return float(value)  # "inf", "-inf" and "nan" travel as strings


def _scaling(given: Mapping[str, Any]) -> dict[str, Any]:
    """With Hugging Face's names, without the parameters that the kind does not use."""
    kind = given["kind"]
    result: dict[str, Any] = {"kind": kind}
    for key, value in given.items():
        if key == "kind" or (key in names.MODES and key not in names.SCALING_PARAMETERS.get(kind, ())):
            continue
        if key in names.MODES:
            result[SCALING_NAMES[key]] = bool(value)
        elif isinstance(value, list):
            result[key] = [_number(x) for x in value]
        else:
            number = _number(value)
            whole = key == "original_max_position" and number.is_integer()
            result[SCALING_NAMES.get(key, key)] = int(number) if whole else number
    return result


class Call:
    """What a kernel is asked to do. The arrays come from the library that the kernel declares. Names and meaning are as
    in impls/include/rope_kernel.h.

    Features rotate in pairs: (p, p + rotary_dim/2) if `pairing` is "half_split", (2p, 2p + 1) if it is "interleaved".
    Both count from rotary_offset.
    With phi = position * theta[p] and s = +1 forward, -1 backward::

        y[first]  = attention_factor * (x[first]  * cos(phi) - s * x[second] * sin(phi))
        y[second] = attention_factor * (x[second] * cos(phi) + s * x[first]  * sin(phi))

    All other features are copied.
    """

    q: Any
    """[batch, seq, heads, head_dim]"""
    k: Any
    """As q, perhaps with fewer heads; None: there is none."""
    positions: Any
    """[batch, seq], or [axes, batch, seq] where there are several axes; None: token s is at position_offset + s, unless
    there are `seqlen_offsets` or `cu_seqlens`."""
    position_offset: int
    """Not to be added where `positions` or `seqlen_offsets` are given."""
    seqlen_offsets: Any
    """[sequences]: the position of the first token of each; None: position_offset. Without cu_seqlens, a batch is a
    sequence."""
    cu_seqlens: Any
    """[sequences + 1]: where batch is 1, tokens cu_seqlens[i] .. cu_seqlens[i+1]-1 are sequence i; None: each batch is a
    sequence."""
    cos: Any
    """[rows, rotary_dim/2 or rotary_dim]; row m belongs to position m. None unless `source` is "tables"."""
    sin: Any
    inv_freq: Any
    """theta, [rotary_dim/2], radians a position; None unless `source` is "frequencies"."""
    axis: Any
    """[rotary_dim/2]: the axis of positions that each pair follows; None: the only one."""
    base: float
    """theta = base ** (-2p / rotary_dim), where `source` is "computed"."""
    scaling: dict[str, Any]
    """{"kind": "none"}, or a rule with the parameters that Hugging Face's rope_parameters have."""
    rotary_dim: int
    rotary_offset: int
    """The first feature that rotates; 0 unless "rotary_offset" is claimed."""
    pairing: str
    """"half_split" or "interleaved"."""
    direction: str
    """"forward", or "backward": the input's gradient from the output's gradient."""
    source: str
    """"tables", "frequencies" or "computed"."""
    attention_factor: float
    """To be multiplied by, also where tables are given."""
    in_place: bool
    """Write into q and k, and return None."""
    axes: int
    sequence_length: int
    """Tokens that exist, for rules that depend on it; at least the largest position + 1."""
    dtype: Any
    """The library's dtype of q and k."""
    out_dtype: Any
    """The library's dtype that is due in return."""
    device: str
    library: str
    """"numpy", "torch" or "jax"."""

    def __init__(self, attrs: Mapping[str, Any], tensors: Mapping[str, Tensor], library: ArrayLibrary) -> None:
        self._tensors = tensors
        self._library = library
        self._outputs: dict[str, Any] = {}
        for key, known in (("pairing", names.PAIRINGS), ("direction", names.DIRECTIONS), ("source", names.SOURCES)):
            if attrs[key] not in known:
                raise InvalidArgument(f"{key} is {attrs[key]}, which is none of {', '.join(known)}")
            setattr(self, key, attrs[key])
        self.rotary_dim = attrs["rotary_dim"]
        self.rotary_offset = attrs.get("rotary_offset", 0)  # files of an older export lack it
        self.axes = attrs["axes"]
        self.in_place = attrs["in_place"]
        self.position_offset = attrs["offset"]
        self.sequence_length = attrs["sequence_length"]
        self.attention_factor = _number(attrs["attention_factor"])
        self.base = _number(attrs["base"])
        self.scaling = _scaling(attrs["scaling"])
        self.device = str(attrs["device"])
        self.library = library.name
        for attribute, name in (("q", "q"), ("k", "k"), ("cos", "cos"), ("sin", "sin"), ("inv_freq", "theta"),
                                ("axis", "axis"), ("seqlen_offsets", "seqlen_offsets"), ("cu_seqlens", "cu_seqlens")):
            setattr(self, attribute, self._array(name))
        self.positions = self._positions()
        given = tensors.get("q")
        output = given if self.in_place else tensors.get("q_out")
        self.dtype = library.dtype(given.dtype) if given else None
        self.out_dtype = library.dtype(output.dtype) if output else None

    def __repr__(self) -> str:
        shapes = [f"{name} {tuple(tensor.shape)}" for name, tensor in self._tensors.items()
                  if name in ("q", "k") and not tensor.null]
        words = [*shapes, str(self.dtype), self.pairing, f"rotary_dim {self.rotary_dim}", self.direction,
                 f"angles from {self.source}", *(["in place"] if self.in_place else [])]
        return f"<Call {', '.join(words)}>"

    @property
    def q_out(self) -> Any:
        """Where the result for q may be written instead of returned; in place, q itself."""
        return self.q if self.in_place else self._output("q_out")

    @property
    def k_out(self) -> Any:
        """As q_out, for k; None without a k."""
        return self.k if self.in_place else self._output("k_out")

    @property
    def head_dim(self) -> int:
        """Features of a head."""
        return self._tensors["q"].shape[3]

    @property
    def max_position(self) -> int:
        """The largest position of this call; -1 without tokens."""
        tensor = self._tensors.get("positions")
        if tensor is not None and not tensor.null:
            bits = tensor.bits()
            return int(bits.max()) if bits.size else -1
        if self.seqlen_offsets is not None or self.cu_seqlens is not None:
            return int(self._counted_in_sequences().max(initial=-1))
        tokens = self._tensors["q"].shape[1]
        return self.position_offset + tokens - 1 if tokens else -1

    def position_ids(self, per_batch: bool = False) -> Any:
        """Every token's position, [batch, seq] or [axes, batch, seq], either given or counted from the start of its
        sequence. Batches that share their positions share the memory, too. `per_batch`: each batch has its own, and the
        array is contiguous."""
        if per_batch:
            return self._library.copied(self.position_ids())
        if self.positions is not None:
            return self.positions
        batch, seq = self._tensors["q"].shape[:2]
        shape = (batch, seq) if self.axes <= 1 else (self.axes, batch, seq)
        if self.seqlen_offsets is not None or self.cu_seqlens is not None:
            return self._library.integers(np.broadcast_to(self._counted_in_sequences(), shape))
        return self._library.counted(self.position_offset, shape)

    def _counted_in_sequences(self) -> np.ndarray[Any, Any]:
        """Every token's position, [batch, seq], from seqlen_offsets and cu_seqlens."""
        batch, seq = self._tensors["q"].shape[:2]
        token = np.broadcast_to(np.arange(seq, dtype=np.int64), (batch, seq))
        sequence = np.arange(batch, dtype=np.int64)[:, None]
        if self.cu_seqlens is not None:
            borders = self._tensors["cu_seqlens"].bits().astype(np.int64)
            sequence = np.searchsorted(borders[:-1], token, side="right") - 1
            token = token - borders[sequence]
        if self.seqlen_offsets is None:
            return token + self.position_offset
        return self._tensors["seqlen_offsets"].bits().astype(np.int64)[sequence] + token

    @property
    def wrote_outputs(self) -> bool:
        """Whether the kernel asked for q_out. If so, a returned None may mean that it wrote there."""
        return "q_out" in self._outputs

    def _array(self, name: str) -> Any:
        tensor = self._tensors.get(name)
        return None if tensor is None or tensor.null else self._library.array(tensor)

    def _output(self, name: str) -> Any:
        if name not in self._outputs:
            self._outputs[name] = self._array(name)
        return self._outputs[name]

    def _positions(self) -> Any:
        tensor = self._tensors.get("positions")
        if tensor is None or tensor.null:
            return None
        axes, rows, seq = tensor.shape
        batch = self._tensors["q"].shape[0]
        strides = (tensor.strides[0], 0 if rows == 1 else tensor.strides[1], tensor.strides[2])
        if rows not in (1, batch):
            raise InvalidArgument(f"positions have {rows} rows where the batch is {batch}")
        shape: tuple[int, ...] = (axes, batch, seq)
        if axes == 1:
            shape, strides = shape[1:], strides[1:]  # type: ignore[assignment]
        if math.prod(tensor.shape) == 0:
            strides = (0,) * len(shape)  # type: ignore[assignment]
        return self._library.array(tensor.seen_as(shape, strides))
