"""What the worker asks of an array library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ropecheck import names
from ropecheck.tensors import Tensor


class ArrayLibrary(ABC):
    """Makes the library's arrays over a tensor's memory, and reads those that a kernel returns."""

    name: str
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

    def why_not(self, dtype: str) -> str:
        """Why there is no such dtype, and what to do."""
        return f"it has {', '.join(sorted(self.dtypes))}"
