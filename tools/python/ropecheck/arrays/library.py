"""What the worker asks of an array library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ropecheck import names
from ropecheck.tensors import Tensor

# The variable that names a device in place of CUDA. Tests say "cpu", which tries everything but the device itself.
STAND_IN = "ROPECHECK_CUDA_STAND_IN"


class ArrayLibrary(ABC):
    """Makes the library's arrays over a tensor's memory, and reads those that a kernel returns."""

    name: str
    device = "cpu"  # where its arrays are, in the words of the claims
    dtypes: frozenset[str]  # the protocol's dtypes that it has
    unless_claimed: frozenset[str] = frozenset()  # dtypes that a kernel gets only if it claims them by name
    lacks: frozenset[str] = frozenset()  # features that its arrays cannot have
    writable = True  # whether a kernel can write to its arrays
    alignment = 1  # bytes; memory aligned to less would be copied
    largest_position = names.LARGEST_POSITION  # the largest that its integers hold

    @abstractmethod
    def array(self, tensor: Tensor) -> Any:
        """The library's own array over the tensor's memory."""

    @abstractmethod
    def dtype(self, name: str) -> Any:
        """The library's object for a dtype of the protocol; None if it has none."""

    @abstractmethod
    def is_array(self, value: object) -> bool:
        """Whether a kernel may return this."""

    @abstractmethod
    def bits(self, array: Any) -> np.ndarray[Any, Any]:
        """The values of an array in main memory, as numpy sees them; bf16 as uint16. Without a copy if possible."""

    @abstractmethod
    def counted(self, start: int, shape: tuple[int, ...]) -> Any:
        """start, start + 1, .. in every row, in the library's widest integer type."""

    @abstractmethod
    def integers(self, values: np.ndarray[Any, Any]) -> Any:
        """These numbers in the library's widest integer type."""

    @abstractmethod
    def copied(self, array: Any) -> Any:
        """The same numbers in contiguous memory of their own."""

    def place(self, array: Any) -> str:
        """Where an array is, if not where the tensors are; else empty."""
        return ""

    def memory_of(self, array: Any) -> tuple[int, int]:
        """The addresses of its first and last element in memory. In an empty array the last is below the first."""
        return span(self.bits(array))

    def memory_of_tensor(self, tensor: Tensor) -> tuple[int, int]:
        """The same for a tensor of the call, at the address that the kernel sees."""
        return span(tensor.bits())

    def running(self) -> AbstractContextManager[Any]:
        """The context in which a call is made."""
        return nullcontext()

    def send(self, tensors: Mapping[str, Tensor]) -> None:
        """Moves the tensors of a call to where the kernel takes them; call it before `array`."""

    def fetch(self, tensors: Mapping[str, Tensor]) -> str:
        """Waits for the kernel and brings its results back. Tells what it wrote where it must not; else empty."""
        return ""

    def lost(self) -> str:
        """Why nothing can work in this process any more; else empty."""
        return ""

    def why_not(self, dtype: str) -> str:
        """Why there is no such dtype, and what to do."""
        return f"it has {', '.join(sorted(self.dtypes))}"


def span(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The addresses of the first and the last element in memory. In an empty array the last is below the first."""
    start = array.__array_interface__["data"][0]
    if not array.size:
        return start, start - 1
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides)]
    return start + sum(step for step in reach if step < 0), start + sum(step for step in reach if step > 0)
