"""The tensors of a call as the message describes them, and as numpy sees their memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ropecheck import names
from ropecheck.errors import InvalidArgument
from ropecheck.memory import GuardedMemory, Pages

# bf16 as bits: numpy has no bf16.
STORAGE: dict[str, np.dtype[Any]] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}


@dataclass(frozen=True)
class Tensor:
    """One tensor, in the memory that it is mapped to; strides in elements."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    at: int  # bytes from the slot's address to element [0, 0, ..]
    slot: int
    writable: bool
    null: bool
    memory: GuardedMemory

    def bits(self) -> np.ndarray[Any, Any]:
        """The elements where they lie, without a copy; bf16 as uint16."""
        size = names.SIZES[self.dtype]
        strides = [stride * size for stride in self.strides]
        return np.ndarray(self.shape, STORAGE[self.dtype], self.memory.buffer(self.slot), self.at, strides)

    def seen_as(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        """The same memory with another shape and strides."""
        return replace(self, shape=shape, strides=strides)

    def place_of(self, byte: int) -> str:
        """Names a byte, counted from the slot's address, in words."""
        element = (byte - self.at) // names.SIZES[self.dtype]
        index, left = [0] * len(self.shape), element
        for axis in sorted(range(len(self.shape)), key=lambda axis: -self.strides[axis]):
            if self.strides[axis] > 0 and left >= 0:
                index[axis] = min(left // self.strides[axis], max(self.shape[axis] - 1, 0))
                left -= index[axis] * self.strides[axis]
        return f"{self.name} at {index}" if left == 0 else f"{self.name} at element {element} of its memory"


def _pages_of(item: Mapping[str, Any]) -> tuple[Pages, ...]:
    offset, length = item["map"]
    if "pages" in item:
        return tuple(Pages(at, offset + start, size) for at, start, size in item["pages"])
    return (Pages(0, offset, length),)


def map_tensors(
    described: list[Mapping[str, Any]], memory: GuardedMemory, inputs: int, outputs: int
) -> dict[str, Tensor]:
    """Maps all tensors of a call."""
    tensors: dict[str, Tensor] = {}
    for slot, item in enumerate(described):
        if item["dtype"] not in names.SIZES:
            raise InvalidArgument(f"{item['name']} has the unknown dtype {item['dtype']}")
        read_only = bool(item["ro"])
        if "in" in item:
            slot = tensors[item["in"]].slot
        else:
            try:
                memory.map(slot, inputs if read_only else outputs, _pages_of(item), not read_only)
            except (OSError, MemoryError) as error:
                raise type(error)(f"tensor {item['name']}: {error}") from None
        tensors[item["name"]] = Tensor(
            item["name"],
            item["dtype"],
            tuple(item["shape"]),
            tuple(item["strides"]),
            item["at"],
            slot,
            not read_only,
            bool(item.get("null", False)),
            memory,
        )
    return tensors
