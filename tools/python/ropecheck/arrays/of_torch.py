"""torch: tensors over the mapped memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ropecheck import names
from ropecheck.arrays.library import ArrayLibrary
from ropecheck.tensors import Tensor

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
    "i64": torch.int64,
}


class TorchArrays(ArrayLibrary):
    """torch has no read-only tensors: a write to an input is a fault, reported with tensor and element."""

    name = "torch"
    dtypes = frozenset(names.SIZES)
    lacks = frozenset({"any_strides"})  # torch has no negative strides

    def array(self, tensor: Tensor) -> Any:
        bits = tensor.bits()
        if tensor.dtype == "bf16":
            return torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(bits)

    def dtype(self, name: str) -> Any:
        return DTYPES.get(name)

    def is_array(self, value: object) -> bool:
        return isinstance(value, torch.Tensor)

    def bits(self, array: Any) -> np.ndarray[Any, Any]:
        # The memory of a lazily negated or conjugated tensor holds the values from before that.
        plain = array.detach().resolve_conj().resolve_neg()
        if plain.dtype == torch.bfloat16:
            plain = plain.view(torch.int16)
        numbers: np.ndarray[Any, Any] = plain.numpy()
        return numbers.view(np.uint16) if array.dtype == torch.bfloat16 else numbers

    def counted(self, start: int, shape: tuple[int, ...]) -> Any:
        return torch.arange(start, start + shape[-1], dtype=torch.int64).expand(shape)

    def integers(self, values: np.ndarray[Any, Any]) -> Any:
        return torch.tensor(values)

    def copied(self, array: Any) -> Any:
        return array.clone(memory_format=torch.contiguous_format)

    def place(self, array: Any) -> str:
        return "" if array.device.type == "cpu" else str(array.device)
