"""JAX on a CUDA device: every array is copied there. They never change, so a kernel cannot write where it must not."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ropecheck import own_variables
from ropecheck.arrays.of_jax import DTYPES, JaxArrays
from ropecheck.arrays.library import STAND_IN
from ropecheck.errors import SubjectError
from ropecheck.tensors import Tensor


class JaxOnDevice(JaxArrays):
    """The first device of JAX's platform `cuda`."""

    device = "cuda"
    alignment = 1

    def __init__(self) -> None:
        super().__init__()
        try:
            self._device = jax.devices(own_variables.value(STAND_IN) or "cuda")[0]
        except RuntimeError as error:
            raise SubjectError(f"no CUDA device: JAX {jax.__version__} finds none ({error}); kernels for CUDA run where "
                               "there is one, and on the CPU without --device cuda") from None

    def array(self, tensor: Tensor) -> Any:
        bits = np.array(tensor.bits())  # a copy: the next call uses the mapped memory again
        return jax.device_put(bits.view(DTYPES["bf16"]) if tensor.dtype == "bf16" else bits, self._device)

    def lost(self) -> str:
        try:
            jax.device_put(np.zeros(1, np.float32), self._device).block_until_ready()
        except RuntimeError as error:
            return f"jax.device_put: {str(error).splitlines()[0]}"
        return ""

    def counted(self, start: int, shape: tuple[int, ...]) -> Any:
        return jax.device_put(super().counted(start, shape), self._device)

    def integers(self, values: np.ndarray[Any, Any]) -> Any:
        return jax.device_put(super().integers(values), self._device)

    def place(self, array: Any) -> str:
        platform = next(iter(array.devices())).platform
        return "" if platform == self._device.platform else str(platform)

    def memory_of(self, array: Any) -> tuple[int, int]:
        return 1, 0  # no JAX array is a view of another
