"""What a library of kernels has, read through its rope_kernel_get. Needs nothing but Python."""

import ctypes


class Kernel(ctypes.Structure):
    """The beginning of rope_kernel, impls/rope_kernel.h."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
    ]


def described_in(library):
    """{kernel: its description}, in the library's order. Raises OSError where it cannot be loaded."""
    loaded = ctypes.CDLL(str(library))
    loaded.rope_kernel_get.restype = ctypes.POINTER(Kernel)
    kernels = [loaded.rope_kernel_get(i).contents for i in range(loaded.rope_kernel_count())]
    return {kernel.name.decode(): (kernel.description or b"").decode() for kernel in kernels}


def kernels_in(library):
    return list(described_in(library))
