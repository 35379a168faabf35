"""impls/include/rope_kernel.h for ctypes: its structures, and the kernels of a shared library. Needs only Python.

The header has the same fields in the same order and says what they mean. Pointers are plain addresses: whoever fills
a Call must keep what it points to alive.
"""

import ctypes as c

ABI = 1
OK = 0
F64, F32, F16, BF16, I32, I64 = range(6)
HALF_SPLIT, INTERLEAVED = range(2)
FORWARD, BACKWARD = range(2)
CPU, CUDA = range(2)
TABLES, FREQUENCIES, COMPUTED = range(3)


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


class Scaling(c.Structure):
    _fields_ = [(name, c.c_int32) for name in ("kind", "yarn_truncate", "yarn_clamp_pairs", "reserved")]
    _fields_ += [(name, c.c_double) for name in ("factor", "original_max_position", "beta_fast", "beta_slow")]
    _fields_ += [(name, c.c_double) for name in ("low_freq_factor", "high_freq_factor", "proportion", "max_frequency")]
    _fields_ += [("short_factor", c.c_void_p), ("long_factor", c.c_void_p)]


class Call(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("abi", c.c_uint32)]
    _fields_ += [(name, Tensor) for name in ("q", "k", "q_out", "k_out")]
    _fields_ += [("positions", Positions)]
    _fields_ += [(name, c.c_int32) for name in ("rotary_dim", "pairing", "direction", "angle_source")]
    _fields_ += [("attention_factor", c.c_double), ("axis", c.c_void_p), ("table", Table), ("theta", c.c_void_p)]
    _fields_ += [("theta_dtype", c.c_int32), ("device", c.c_int32), ("base", c.c_double)]
    _fields_ += [("scaling", Scaling), ("sequence_length", c.c_int64)]
    _fields_ += [("device_index", c.c_int32), ("reserved", c.c_int32), ("stream", c.c_void_p)]
    _fields_ += [("seqlen_offsets", c.c_void_p), ("cu_seqlens", c.c_void_p)]
    _fields_ += [(name, c.c_int32) for name in ("sequences", "seqlen_offsets_dtype", "rotary_offset", "reserved2")]

    def __init__(self):
        super().__init__(struct_size=c.sizeof(Call), abi=ABI, attention_factor=1)


class Kernel(c.Structure):
    """The beginning of rope_kernel, which its claims follow."""

    _fields_ = [("struct_size", c.c_uint32), ("abi", c.c_uint32), ("name", c.c_char_p), ("description", c.c_char_p)]
    _fields_ += [("apply", c.CFUNCTYPE(c.c_int32, c.POINTER(Call)))]


def tensor(address, dtype, shape, strides):
    """Strides in elements."""
    return Tensor(address, dtype, 0, (c.c_int64 * 4)(*shape), (c.c_int64 * 4)(*strides))


class Library:
    """The kernels of a shared library. Raises OSError if it cannot be loaded, AttributeError if it exports no kernels,
    ValueError if two have the same name."""

    def __init__(self, path):
        self._library = c.CDLL(str(path))
        self._library.rope_kernel_count.restype = c.c_uint32
        self._library.rope_kernel_get.restype = c.POINTER(Kernel)
        kernels = [self._library.rope_kernel_get(i).contents for i in range(self._library.rope_kernel_count())]
        self.kernels = {kernel.name.decode(): kernel for kernel in kernels}
        if len(self.kernels) < len(kernels):  # nobody could ask for the second kernel of a name
            names = [kernel.name.decode() for kernel in kernels]
            raise ValueError(f"{path}: several kernels are called {max(names, key=names.count)}")

    def described(self):
        """{kernel: its description}, in the library's order."""
        return {name: (kernel.description or b"").decode() for name, kernel in self.kernels.items()}

    def why_it_failed(self):
        """What rope_last_error says; '' if the library does not export it."""
        if not hasattr(self._library, "rope_last_error"):
            return ""
        self._library.rope_last_error.restype = c.c_char_p
        return (self._library.rope_last_error() or b"").decode()
