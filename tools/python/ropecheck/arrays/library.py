"""What the worker asks of an array library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ropecheck import names
from ropecheck.tensors import Tensor

# The variable that names the device that stands for the CUDA one. Tests say "cpu": all but the device itself is tried.
STAND_IN = "ROPECHECK_CUDA_STAND_IN"


class ArrayLibrary(ABC):
    """Makes the library's arrays over a tensor's memory, and reads those that a kernel returns."""

    name: str
    device = "cpu"  # where its arrays are, as claims say it
    dtypes: frozenset[str]  # of those that the protocol has
    unless_claimed: frozenset[str] = frozenset()  # dtypes that a kernel gets only where it asks for them by name
    lacks: frozenset[str] = frozenset()  # features that its arrays cannot have
    alignment = 1  # bytes below which it would copy
    largest_position = names.LARGEST_POSITION  # that its integers hold

    @abstractmethod
    def array(self, tensor: Tensor) -> Any:
        """The library's own array over the memory of the tensor."""

    @abstractmethod
    def dtype(self, name: str) -> Any:
        """The library's object for a dtype of the protocol; None where it has none."""

    @abstractmethod
    def is_array(self, value: object) -> bool:
        """Whether a kernel may return this."""

    @abstractmethod
    def bits(self, array: Any) -> np.ndarray[Any, Any]:
        """The values of an array in main memory as numpy sees them, bf16 as uint16, without a copy where possible."""

    @abstractmethod
    def counted(self, start: int, shape: tuple[int, ...]) -> Any:
        """start, start + 1, .. in every row, in the library's widest integer type."""

    def place(self, array: Any) -> str:
        """Where an array is, if it is not where the tensors are; else empty."""
        return ""

    def memory_of(self, array: Any) -> tuple[int, int]:
        """The addresses of its first and last element in memory; the last below the first where it has none."""
        return span(self.bits(array))

    def memory_of_tensor(self, tensor: Tensor) -> tuple[int, int]:
        """The same of a tensor of the call, where the kernel sees it."""
        return span(tensor.bits())

    def running(self) -> AbstractContextManager[Any]:
        """What a call is made within."""
        return nullcontext()

    def send(self, tensors: Mapping[str, Tensor]) -> None:
        """Brings the tensors of a call to where the kernel takes them; before `array`."""

    def fetch(self, tensors: Mapping[str, Tensor]) -> str:
        """Waits for the kernel and brings back what it wrote. In words, what it wrote where it must not; else empty."""
        return ""

    def lost(self) -> str:
        """Why nothing will work in this process any more; else empty."""
        return ""

    def why_not(self, dtype: str) -> str:
        """Why there is no such dtype, and what to do."""
        return f"it has {', '.join(sorted(self.dtypes))}"


def span(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The addresses of the first and the last element in memory; the last below the first where there is none."""
    start = array.__array_interface__["data"][0]
    if not array.size:
        return start, start - 1
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides)]
    return start + sum(step for step in reach if step < 0), start + sum(step for step in reach if step > 0)
