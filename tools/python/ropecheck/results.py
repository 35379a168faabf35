"""From returned arrays to output tensors: checks kind, dtype and shape, and that none is a view of an input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ropecheck.arrays.library import ArrayLibrary
from ropecheck.call import Call
from ropecheck.errors import InvalidArgument, WrongResult
from ropecheck.memory import GuardedMemory
from ropecheck.tensors import Tensor


def check_outputs(tensors: Mapping[str, Tensor], in_place: bool) -> None:
    """A kernel that returns arrays never sees its output tensors, so wrong ones are refused here."""
    for name in ("q", "k"):
        given = tensors.get(name)
        if given is None:
            continue
        if len(given.shape) != 4:
            raise InvalidArgument(f"{name} has {len(given.shape)} dimensions where 4 are due")
        output = given if in_place else tensors.get(f"{name}_out")
        if output is None or (output.null and not given.null):
            raise InvalidArgument(f"there is no memory for the result of {name}")
        if output.shape != given.shape:
            raise InvalidArgument(f"{name} is {given.shape} and its result {output.shape}")


def _kind(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _expected(call: Call) -> str:
    return "only q, because there is no k" if call.k is None else "(q, k)"


def store(returned: object, call: Call, tensors: Mapping[str, Tensor], library: ArrayLibrary) -> None:
    """Copies the returned arrays into the outputs. Raises WrongResult in words."""
    wanted = ["q"] if "k" not in tensors else ["q", "k"]
    if returned is None:
        if call.in_place or call.wrote_outputs:
            return
        raise WrongResult(f"returned None; {_expected(call)} is due")
    values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(wanted) == 1 and len(values) == 2 and values[1] is None:
        values.pop()
    if len(values) != len(wanted):
        raise WrongResult(f"returned {len(values)} array{'s' if len(values) != 1 else ''}; {_expected(call)} is due")
    if len(values) == 2 and not call.in_place:
        _check_apart(values[0], values[1], library)
    for name, value in zip(wanted, values):
        if call.in_place:
            _check_in_place(name, value, tensors[name], library)
        elif value is not call._outputs.get(f"{name}_out", _NOTHING):
            _store_one(name, value, tensors, library)


class EarlierResults:
    """The arrays that the last call returned. They are kept, as a caller may keep them: a kernel that returns a buffer
    of its own again writes the next result over them."""

    def __init__(self, library: ArrayLibrary) -> None:
        self._library = library
        self._kept: list[tuple[str, Any]] = []

    def replace(self, returned: object, call: Call, memory: GuardedMemory) -> None:
        """Raises WrongResult if a returned array shares memory with one of the call before."""
        values = zip(("q", "k"), returned if isinstance(returned, (tuple, list)) else [returned])
        own = [] if call.in_place or self._library.device != "cpu" or not self._library.writable else [
            (name, value) for name, value in values
            if self._library.is_array(value) and not memory.holds(self._library.memory_of(value)[0])]
        before, self._kept = self._kept, own
        for name, value in own:
            first, last = self._library.memory_of(value)
            for other, kept in before:
                begin, end = self._library.memory_of(kept)
                if first <= end and begin <= last:
                    raise WrongResult(f"returned {name} in the memory of an earlier call's result, {other}, which the "
                                      "caller may still hold; a new array is due")


_NOTHING = object()


def _bits_of(name: str, value: object, library: ArrayLibrary) -> np.ndarray[Any, Any]:
    if not library.is_array(value):
        raise WrongResult(f"returned {name} as {_kind(value)}; an array of {library.name} is due")
    if place := library.place(value):
        raise WrongResult(f"returned {name} on {place}; the call was on {library.device}")
    return library.bits(value)


def _check_apart(q: object, k: object, library: ArrayLibrary) -> None:
    """q and k may be parts of one array, such as a product's, but not the same elements of it."""
    if library.device != "cpu" or not library.writable or not (library.is_array(q) and library.is_array(k)):
        return
    if library.place(q) or library.place(k) or not library.bits(q).size or not library.bits(k).size:
        return
    if library.memory_of(q)[0] == library.memory_of(k)[0]:
        raise WrongResult("returned q and k in the same memory, so that k's result overwrites q's; two arrays are due")


def _check_in_place(name: str, value: object, tensor: Tensor, library: ArrayLibrary) -> None:
    bits = _bits_of(name, value, library)
    if bits.size and library.memory_of(value)[0] != library.memory_of_tensor(tensor)[0]:
        raise WrongResult(f"returned {name} in new memory; in place, the result belongs into call.{name} (return None)")


def _store_one(name: str, value: object, tensors: Mapping[str, Tensor], library: ArrayLibrary) -> None:
    output = tensors[f"{name}_out"]
    bits = _bits_of(name, value, library)
    dtype = getattr(value, "dtype", None)
    if dtype != library.dtype(output.dtype):
        raise WrongResult(f"returned {name} with dtype {dtype}; {library.dtype(output.dtype)} is due")
    if bits.shape != output.shape:
        raise WrongResult(f"returned {name} with shape {list(bits.shape)}; {list(output.shape)} is due")
    if bits.size:
        first, last = library.memory_of(value)
        # Most results are in memory of their own, and then no tensor has to be looked at.
        apart = library.device == "cpu" and not (output.memory.holds(first) or output.memory.holds(last))
        for other in () if apart else tensors.values():
            if not other.null and other.name != output.name and not (other.writable and other.name in ("q", "k")):
                begin, end = library.memory_of_tensor(other)
                if begin <= end and first <= end and begin <= last:
                    raise WrongResult(f"returned {name} as a view of its input {other.name}; a new array is due")
    np.copyto(output.bits(), bits)
