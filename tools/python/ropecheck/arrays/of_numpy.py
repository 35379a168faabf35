"""numpy: views of the mapped memory. bf16 is ml_dtypes.bfloat16 if that package is installed, else uint16."""

from __future__ import annotations

from typing import Any

import numpy as np

from ropecheck import names
from ropecheck.arrays.library import ArrayLibrary
from ropecheck.tensors import STORAGE, Tensor

try:
    import ml_dtypes

    BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
    UNLESS_CLAIMED = frozenset[str]()
except ImportError:
    BFLOAT16 = np.dtype(np.uint16)
    UNLESS_CLAIMED = frozenset({"bf16"})  # a kernel that does not expect bits would take them for whole numbers

DTYPES = {**STORAGE, "bf16": BFLOAT16}


class NumpyArrays(ArrayLibrary):
    """numpy's inputs are read-only, as their memory is: a write raises in the kernel's own line."""

    name = "numpy"
    dtypes = frozenset(names.SIZES)
    unless_claimed = UNLESS_CLAIMED

    def array(self, tensor: Tensor) -> Any:
        view = tensor.bits().view(DTYPES[tensor.dtype])
        if not tensor.writable:
            view.flags.writeable = False
        return view

    def dtype(self, name: str) -> Any:
        return DTYPES.get(name)

    def is_array(self, value: object) -> bool:
        return isinstance(value, np.ndarray)

    def bits(self, array: Any) -> np.ndarray[Any, Any]:
        view: np.ndarray[Any, Any] = array.view(np.uint16) if array.dtype == BFLOAT16 else array
        return view

    def counted(self, start: int, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(np.arange(start, start + shape[-1], dtype=np.int64), shape)

    def integers(self, values: np.ndarray[Any, Any]) -> Any:
        return values

    def copied(self, array: Any) -> Any:
        return np.array(array, order="C")
