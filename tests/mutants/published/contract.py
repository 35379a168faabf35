"""impls/rope_kernel.h for ctypes: a call made of numpy views, and the kernels of a library."""

import ctypes as c
from dataclasses import dataclass, field

import numpy as np

ABI = 1
DTYPES = {"f32": 1, "f16": 2, "bf16": 3}
TABLES, FREQUENCIES, COMPUTED = 0, 1, 2
SCALINGS = {"none": 0, "linear": 1, "longrope": 5, "llama3": 6}


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("dtype", c.c_int32),
        ("reserved", c.c_int32),
        ("shape", c.c_int64 * 4),
        ("strides", c.c_int64 * 4),
    ]


class Positions(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int32), ("axes", c.c_int32)]
    _fields_ += [(name, c.c_int64) for name in ("axis_stride", "batch_stride", "seq_stride", "offset")]


class Table(c.Structure):
    _fields_ = [("cos", c.c_void_p), ("sin", c.c_void_p), ("dtype", c.c_int32), ("width", c.c_int32)]
    _fields_ += [("rows", c.c_int64), ("row_stride", c.c_int64)]


class ScalingParameters(c.Structure):
    _fields_ = [(name, c.c_int32) for name in ("kind", "yarn_truncate", "yarn_clamp_pairs", "reserved")]
    _fields_ += [
        (name, c.c_double)
        for name in (
            "factor",
            "original_max_position",
            "beta_fast",
            "beta_slow",
            "low_freq_factor",
            "high_freq_factor",
            "proportion",
            "max_frequency",
        )
    ]
    _fields_ += [("short_factor", c.c_void_p), ("long_factor", c.c_void_p)]


class Call(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("abi", c.c_uint32)]
    _fields_ += [(name, Tensor) for name in ("q", "k", "q_out", "k_out")]
    _fields_ += [("positions", Positions)]
    _fields_ += [(name, c.c_int32) for name in ("rotary_dim", "pairing", "direction", "angle_source")]
    _fields_ += [("attention_factor", c.c_double), ("axis", c.c_void_p), ("table", Table), ("theta", c.c_void_p)]
    _fields_ += [("theta_dtype", c.c_int32), ("device", c.c_int32), ("base", c.c_double)]
    _fields_ += [("scaling", ScalingParameters), ("sequence_length", c.c_int64)]
    _fields_ += [("device_index", c.c_int32), ("reserved", c.c_int32), ("stream", c.c_void_p)]


class Kernel(c.Structure):
    """The beginning of rope_kernel; what the kernel claims is not read: the mutants claim everything."""

    _fields_ = [("struct_size", c.c_uint32), ("abi", c.c_uint32), ("name", c.c_char_p), ("description", c.c_char_p)]
    _fields_ += [("apply", c.CFUNCTYPE(c.c_int32, c.POINTER(Call)))]


@dataclass
class Tables:
    """cos and sin are [rows, width] views; where they are views of one cache, the row stride says so."""

    cos: np.ndarray
    sin: np.ndarray
    dtype: str


@dataclass
class Frequencies:
    theta: np.ndarray  # f64, a pair each


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
    axis: np.ndarray | None = None  # int32, of each pair
    backward: bool = False
    attention_factor: float = 1.0


def tensor(array, dtype):
    elements = [stride // array.itemsize for stride in array.strides]
    return Tensor(array.ctypes.data, DTYPES[dtype], 0, (c.c_int64 * 4)(*array.shape), (c.c_int64 * 4)(*elements))


def positions_of(positions):
    if isinstance(positions, int):
        return Positions(None, 0, 0, 0, 0, 0, positions)
    grid = positions if positions.ndim == 3 else positions[None]
    dtype = {4: 4, 8: 5}[grid.itemsize]  # ROPE_I32, ROPE_I64
    strides = [stride // grid.itemsize for stride in grid.strides]
    return Positions(grid.ctypes.data, dtype, grid.shape[0], *strides, 0)


def rope_call(arguments):
    """The structure; the arrays that it points to must outlive it, which the Arguments see to."""
    q_out = arguments.q if arguments.q_out is None else arguments.q_out
    k_out = arguments.k if arguments.k_out is None else arguments.k_out
    call = Call(c.sizeof(Call), ABI)
    call.q, call.q_out = tensor(arguments.q, arguments.dtype), tensor(q_out, arguments.dtype)
    if arguments.k is not None:
        call.k, call.k_out = tensor(arguments.k, arguments.dtype), tensor(k_out, arguments.dtype)
    call.positions = positions_of(arguments.positions)
    call.rotary_dim = arguments.rotary_dim
    call.pairing = int(arguments.interleaved)
    call.direction = int(arguments.backward)
    call.attention_factor = arguments.attention_factor
    if arguments.axis is not None:
        call.axis = arguments.axis.ctypes.data
    angles = arguments.angles
    if isinstance(angles, Tables):
        call.angle_source = TABLES
        rows, width = angles.cos.shape
        row_stride = angles.cos.strides[0] // angles.cos.itemsize
        cos, sin = angles.cos.ctypes.data, angles.sin.ctypes.data
        call.table = Table(cos, sin, DTYPES[angles.dtype], width, rows, row_stride)
    elif isinstance(angles, Frequencies):
        call.angle_source = FREQUENCIES
        call.theta, call.theta_dtype = angles.theta.ctypes.data, 0  # ROPE_F64
    else:
        call.angle_source = COMPUTED
        call.base, call.sequence_length = angles.base, angles.sequence_length
        call.scaling.kind = SCALINGS[angles.scaling]
        for name, value in angles.parameters.items():
            setattr(call.scaling, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
    return call


class Library:
    def __init__(self, path):
        self._library = c.CDLL(str(path))
        self._library.rope_kernel_count.restype = c.c_uint32
        self._library.rope_kernel_get.restype = c.POINTER(Kernel)
        count = self._library.rope_kernel_count()
        self.kernels = [self._library.rope_kernel_get(i).contents for i in range(count)]

    def names(self):
        return [kernel.name.decode() for kernel in self.kernels]

    def kernel(self, name):
        """A function from Arguments to the status; raises KeyError where the library has no such kernel."""
        found = {kernel.name.decode(): kernel for kernel in self.kernels}[name]
        return lambda arguments: found.apply(c.byref(rope_call(arguments)))
