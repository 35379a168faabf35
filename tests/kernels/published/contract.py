"""Calls of impls/include/rope_kernel.h from numpy views."""

import ctypes as c
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "python"))
import rope_kernel as rope  # noqa: E402
from ropecheck.names import SCALINGS  # noqa: E402

DTYPES = {"f32": rope.F32, "f16": rope.F16, "bf16": rope.BF16}


@dataclass
class Tables:
    """cos and sin are [rows, width] views; if they are views of one cache, the row stride says so."""

    cos: np.ndarray
    sin: np.ndarray
    dtype: str


@dataclass
class Frequencies:
    theta: np.ndarray  # f64, one per pair


@dataclass
class Computed:
    base: float
    sequence_length: int
    scaling: str = "none"
    parameters: dict = field(default_factory=dict)  # fields of rope_scaling; short_factor and long_factor as arrays


@dataclass
class Arguments:
    """One call. Tensors are [batch, seq, heads, head_dim] views; no output means in place."""

    dtype: str
    q: np.ndarray
    rotary_dim: int
    interleaved: bool
    angles: Tables | Frequencies | Computed
    k: np.ndarray | None = None
    q_out: np.ndarray | None = None
    k_out: np.ndarray | None = None
    positions: np.ndarray | int = 0  # the offset, or [batch, seq], or [axes, batch, seq]
    axis: np.ndarray | None = None  # int32, one per pair
    backward: bool = False
    attention_factor: float = 1.0


def tensor(array, dtype):
    elements = [stride // array.itemsize for stride in array.strides]
    return rope.tensor(array.ctypes.data, DTYPES[dtype], array.shape, elements)


def positions_of(positions):
    if isinstance(positions, int):
        return rope.Positions(None, 0, 0, 0, 0, 0, positions)
    grid = positions if positions.ndim == 3 else positions[None]
    dtype = {4: rope.I32, 8: rope.I64}[grid.itemsize]
    strides = [stride // grid.itemsize for stride in grid.strides]
    return rope.Positions(grid.ctypes.data, dtype, grid.shape[0], *strides, 0)


def rope_call(arguments):
    """The structure. The Arguments keep the arrays alive that it points to."""
    q_out = arguments.q if arguments.q_out is None else arguments.q_out
    k_out = arguments.k if arguments.k_out is None else arguments.k_out
    call = rope.Call()
    call.q, call.q_out = tensor(arguments.q, arguments.dtype), tensor(q_out, arguments.dtype)
    if arguments.k is not None:
        call.k, call.k_out = tensor(arguments.k, arguments.dtype), tensor(k_out, arguments.dtype)
    call.positions = positions_of(arguments.positions)
    call.rotary_dim = arguments.rotary_dim
    call.pairing = rope.INTERLEAVED if arguments.interleaved else rope.HALF_SPLIT
    call.direction = rope.BACKWARD if arguments.backward else rope.FORWARD
    call.attention_factor = arguments.attention_factor
    if arguments.axis is not None:
        call.axis = arguments.axis.ctypes.data
    angles = arguments.angles
    if isinstance(angles, Tables):
        call.angle_source = rope.TABLES
        rows, width = angles.cos.shape
        row_stride = angles.cos.strides[0] // angles.cos.itemsize
        cos, sin = angles.cos.ctypes.data, angles.sin.ctypes.data
        call.table = rope.Table(cos, sin, DTYPES[angles.dtype], width, rows, row_stride)
    elif isinstance(angles, Frequencies):
        call.angle_source = rope.FREQUENCIES
        call.theta, call.theta_dtype = angles.theta.ctypes.data, rope.F64
    else:
        call.angle_source = rope.COMPUTED
        call.base, call.sequence_length = angles.base, angles.sequence_length
        call.scaling.kind = SCALINGS.index(angles.scaling)
        for name, value in angles.parameters.items():
            setattr(call.scaling, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
    return call


class Library(rope.Library):
    def kernel(self, name):
        """A function from Arguments to the status; raises KeyError if the library lacks the kernel."""
        found = self.kernels[name]
        return lambda arguments: found.apply(c.byref(rope_call(arguments)))
