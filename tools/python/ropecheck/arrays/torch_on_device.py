"""torch on a CUDA device: the tensors of a call are copied there, each between canaries, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from ropecheck import names, own_variables
from ropecheck.arrays.library import STAND_IN
from ropecheck.arrays.of_torch import DTYPES, TorchArrays
from ropecheck.errors import SubjectError
from ropecheck.tensors import Tensor

ALWAYS_FIRST, THEN_EACH = 8, 64  # calls whose stream is held back, as in device_call.cpp
HELD_CYCLES = 4_000_000  # of the device: about two milliseconds
MARGIN = 1 << 16  # bytes of canary on either side, as in tools/worker/host/device_call.cpp
CANARY = 0x7FF9  # as in tools/worker/protocol/canary.hpp: a NaN in every floating type


@dataclass
class _Sent:
    """The memory of one slot on the device: canary, the tensors' pages, canary; and the pages as they were sent."""

    bytes: Any
    given: Any

    @property
    def pages(self) -> Any:
        return self.bytes[MARGIN:-MARGIN]


def _one_of_each_slot(tensors: Mapping[str, Tensor]) -> Iterator[Tensor]:
    """k may share q's memory."""
    seen: set[int] = set()
    for tensor in tensors.values():
        if tensor.slot not in seen:
            seen.add(tensor.slot)
            yield tensor


class TorchOnDevice(TorchArrays):
    """The kernel gets a stream that is not the default one. Only this stream is waited for before results are read."""

    device = "cuda"

    def __init__(self) -> None:
        self._device = torch.device(own_variables.value(STAND_IN) or "cuda")
        self._stream: Any = None
        if self._device.type == "cuda":
            if not torch.cuda.is_available():
                why = "is built without CUDA" if torch.version.cuda is None else "finds no NVIDIA driver or device"
                raise SubjectError(f"no CUDA device: torch {torch.__version__} {why}; kernels for CUDA run where both "
                                   "are, and on the CPU without --device cuda")
            self._stream = torch.cuda.Stream()
        with self.running():
            self._canary = torch.full((MARGIN // 2,), CANARY, dtype=torch.int16, device=self._device).view(torch.uint8)
        self._sent: dict[int, _Sent] = {}
        self._calls = 0

    def running(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def send(self, tensors: Mapping[str, Tensor]) -> None:
        self._sent.clear()
        for tensor in _one_of_each_slot(tensors):
            content = tensor.memory.content(tensor.slot)
            host = torch.frombuffer(content, dtype=torch.uint8) if len(content) else torch.empty(0, dtype=torch.uint8)
            given = torch.empty(len(content), dtype=torch.uint8, device=self._device)
            given.copy_(host)
            self._sent[tensor.slot] = _Sent(torch.cat([self._canary, given, self._canary]), given)
        if self._calls < ALWAYS_FIRST or self._calls % THEN_EACH == 0:
            self._hold_back(tensors)
        self._calls += 1

    def _hold_back(self, tensors: Mapping[str, Tensor]) -> None:
        """Only the kernel's stream sees the tensors: a kernel on another stream finds other numbers there."""
        contents = {slot: sent.bytes.clone() for slot, sent in self._sent.items()}
        for tensor in _one_of_each_slot(tensors):
            self._sent[tensor.slot].pages.fill_(0x3C if tensor.writable else 0)  # zeros are harmless positions
        if self._stream is not None:
            self._stream.synchronize()
            torch.cuda._sleep(HELD_CYCLES)
        for slot, content in contents.items():
            self._sent[slot].bytes.copy_(content)

    def fetch(self, tensors: Mapping[str, Tensor]) -> str:
        if self._stream is not None:
            self._stream.synchronize()
        breach = ""
        for tensor in _one_of_each_slot(tensors):
            sent = self._sent[tensor.slot]
            if tensor.writable and sent.pages.numel():
                torch.frombuffer(tensor.memory.content(tensor.slot), dtype=torch.uint8).copy_(sent.pages)
            breach = breach or self._breach(tensor, sent)
        if self._stream is not None:
            torch.cuda.synchronize()  # work on other streams must not reach the next call
        return breach

    def _breach(self, tensor: Tensor, sent: _Sent) -> str:
        before, behind = sent.bytes[:MARGIN], sent.bytes[-MARGIN:]
        if not torch.equal(before, self._canary):
            byte = int((before != self._canary).nonzero()[-1]) - MARGIN
            return f"wrote beside a tensor: {tensor.place_of(byte)}, before its first page"
        if not torch.equal(behind, self._canary):
            byte = int((behind != self._canary).nonzero()[0]) + sent.pages.numel()
            return f"wrote beside a tensor: {tensor.place_of(byte)}, beyond its last page"
        if not tensor.writable and not torch.equal(sent.pages, sent.given):
            byte = int((sent.pages != sent.given).nonzero()[0])
            return f"wrote to the input {tensor.place_of(byte)}; inputs must stay as they are, unless overwrites_inputs is claimed"
        return ""

    def lost(self) -> str:
        if self._stream is None:
            return ""
        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            return f"torch.cuda.synchronize: {str(error).splitlines()[0]}"
        return ""

    def array(self, tensor: Tensor) -> Any:
        elements = self._sent[tensor.slot].bytes.view(DTYPES[tensor.dtype])
        return elements.as_strided(tensor.shape, tensor.strides, (MARGIN + tensor.at) // names.SIZES[tensor.dtype])

    def bits(self, array: Any) -> Any:
        return super().bits(array.cpu())

    def counted(self, start: int, shape: tuple[int, ...]) -> Any:
        return super().counted(start, shape).to(self._device)

    def integers(self, values: np.ndarray[Any, Any]) -> Any:
        return super().integers(values).to(self._device)

    def place(self, array: Any) -> str:
        return "" if array.device.type == self._device.type else str(array.device)

    def memory_of(self, array: Any) -> tuple[int, int]:
        first = array.data_ptr()
        if not array.numel():
            return first, first - 1
        steps = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.stride()))
        return first, first + steps * array.element_size()

    def memory_of_tensor(self, tensor: Tensor) -> tuple[int, int]:
        return self.memory_of(self.array(tensor))
