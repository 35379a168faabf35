"""bf16 over memory that numpy describes, by DLPack. numpy's own export has no bf16, and JAX would copy if it got the
bits.

https://dmlc.github.io/dlpack/latest/c_api.html; the unversioned structure, which every consumer still takes.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

CPU = 1  # kDLCPU
BFLOAT = 4  # kDLBfloat


class Device(ctypes.Structure):
    """DLDevice."""

    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    """DLDataType."""

    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class ManagedTensor(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", Deleter)]


_lent: dict[int, ManagedTensor] = {}  # until the consumer calls the deleter

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@Deleter
def _give_back(address: int) -> None:
    _lent.pop(address, None)


class Bfloat16Bits:
    """What `from_dlpack` takes: the uint16 array's memory, declared as bf16. The memory must outlive the result."""

    def __init__(self, bits: np.ndarray[Any, Any]) -> None:
        self._bits = bits

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0

    def __dlpack__(self, **_: Any) -> Any:
        bits = self._bits
        extents = ctypes.c_int64 * bits.ndim
        tensor = Tensor(bits.ctypes.data, Device(CPU, 0), bits.ndim, DataType(BFLOAT, 16, 1), extents(*bits.shape),
                        extents(*(stride // bits.itemsize for stride in bits.strides)), 0)
        managed = ManagedTensor(tensor, None, _give_back)
        address = ctypes.addressof(managed)
        _lent[address] = managed
        return _new_capsule(address, b"dltensor", None)
