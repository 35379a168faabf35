"""JAX: arrays over the mapped memory, without a copy on CPU."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ropecheck import names
from ropecheck.arrays.dlpack import Bfloat16Bits
from ropecheck.arrays.library import ArrayLibrary
from ropecheck.tensors import Tensor

DTYPES = {
    "f64": jnp.float64,
    "f32": jnp.float32,
    "f16": jnp.float16,
    "bf16": jnp.bfloat16,
    "i32": jnp.int32,
    "i64": jnp.int64,
}


class JaxArrays(ArrayLibrary):
    """JAX's arrays are packed and never change: strided tensors and calls in place are impossible."""

    name = "jax"
    writable = False
    lacks = frozenset({"in_place", "strided", "any_strides"})
    alignment = 64  # JAX silently copies memory that is aligned to less

    def __init__(self) -> None:
        wide = bool(jax.config.jax_enable_x64)  # type: ignore[attr-defined]
        self.largest_position = names.LARGEST_POSITION if wide else 2**31 - 1
        self.dtypes = frozenset(DTYPES if wide else set(DTYPES) - {"f64", "i64"})

    def array(self, tensor: Tensor) -> Any:
        bits = tensor.bits()
        if 0 in bits.strides or not bits.flags.c_contiguous:  # positions that all batches share
            bits = np.ascontiguousarray(bits)
        if bits.size == 0:
            return jnp.zeros(bits.shape, DTYPES[tensor.dtype])
        return jax.dlpack.from_dlpack(Bfloat16Bits(bits) if tensor.dtype == "bf16" else bits)

    def dtype(self, name: str) -> Any:
        return np.dtype(DTYPES[name]) if name in DTYPES else None

    def is_array(self, value: object) -> bool:
        return isinstance(value, jax.Array)

    def bits(self, array: Any) -> np.ndarray[Any, Any]:
        numbers = np.asarray(array)  # waits for what is still being computed
        return numbers.view(np.uint16) if numbers.dtype == jnp.bfloat16 else numbers

    def counted(self, start: int, shape: tuple[int, ...]) -> Any:
        return jnp.broadcast_to(jnp.arange(start, start + shape[-1]), shape)

    def integers(self, values: np.ndarray[Any, Any]) -> Any:
        return jnp.asarray(values)

    def copied(self, array: Any) -> Any:
        return array  # JAX has no strides

    def place(self, array: Any) -> str:
        platform = next(iter(array.devices())).platform
        return "" if platform == "cpu" else str(platform)

    def why_not(self, dtype: str) -> str:
        return "it has no 64-bit types unless told so; set JAX_ENABLE_X64=1"
