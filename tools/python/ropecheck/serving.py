"""Answers the calls of ropecheck with a kernel: the worker's loop, in a process of its own or in the caller's."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from ropecheck.arrays import library_called
from ropecheck.arrays.library import ArrayLibrary
from ropecheck.call import Call
from ropecheck.capabilities import capabilities_of, declares_claims
from ropecheck.errors import InvalidArgument, SubjectError, Unsupported, UsageError, WrongResult
from ropecheck.memory import GuardedMemory
from ropecheck.protocol import NO_ROOM, VERSION, Connection, Files
from ropecheck.raised import is_of_adapter, message_of, place_of, trace_of
from ropecheck.results import EarlierResults, check_outputs, store
from ropecheck.signature import advice, refused_arguments
from ropecheck.tensors import Tensor, map_tensors
from ropecheck.text import plain, text_of
from ropecheck.unavailable import why_unavailable

Kernel = Callable[[Call], Any]


def name_of(kernel: Callable[..., Any]) -> str:
    """The kernel's name in reports."""
    return capabilities_of(kernel).name or getattr(kernel, "__name__", type(kernel).__name__)


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"ok": False, "error": {"type": kind, "msg": plain(message)}}


def _raised(error: BaseException, **more: object) -> dict[str, Any]:
    """An exception of the kernel, whatever its class is called. `more` without what is empty."""
    told = {"raised": plain(type(error).__name__), "msg": plain(message_of(error))}
    return {"ok": False, "error": {**told, **{key: it for key, it in more.items() if it}}}


class NoReports:
    """Replaces FaultReports in the caller's process."""

    def note_loaded_modules(self) -> None:
        """Nothing to note."""

    def set_current_call(self, number: int) -> None:
        """Nothing to report."""


class Server:
    """One kernel, its claims and the memory of its calls. Made once; serves one connection after the other."""

    def __init__(self, kernel: Kernel, memory: GuardedMemory, name: str = "", device: str = "",
                 function: Callable[..., Any] | None = None, in_caller: bool = False) -> None:
        """`function`: what the kernel calls by a convention. `in_caller`: this is the process that started ropecheck."""
        self.in_caller = in_caller
        self.kernel = kernel
        self.function = function or kernel
        self.memory = memory
        self.name = name or name_of(kernel)
        self.capabilities = capabilities_of(kernel)
        self.library: ArrayLibrary = library_called(self.capabilities.array, device or self.capabilities.device)
        self.lacks_room = False  # the device, for the tensors of this call; the kernel was not called
        self.earlier_results = EarlierResults(self.library)
        try:
            self.claims = self.capabilities.claims(self.library)
        except UsageError as error:
            raise SubjectError(str(error)) from None

    def hello(self) -> dict[str, Any]:
        """The first line that is sent."""
        return {
            "v": VERSION,
            "op": "hello",
            "name": self.name,
            "kind": "python",
            "far": "strided" in self.claims["features"] and self.library.device == "cpu",
            "packed": "strided" in self.claims["features"] or "packed" in self.claims.get("layouts", ()),
            "base": self.memory.base,
            "slot": self.memory.slot_size,
            "first_call_s": self.capabilities.first_call_seconds,
            "claims": self.claims,
            **({"in_caller": True} if self.in_caller else {}),
            **({} if declares_claims(self.kernel) else {"claims_note": self._claims_all()}),
        }

    def _claims_all(self) -> str:
        return (f"{self.name} has no decorator, so it claims everything; "
                "@ropecheck.kernel(dtypes=.., sources=.., features=..) claims less")

    def serve(self, connection: Connection, files: Files, reports: Any = NoReports()) -> None:
        """Answers calls until "bye" or until the other side ends."""
        connection.send(self.hello())
        plan: Mapping[str, Any] = {}
        known = False
        while (message := connection.receive()) is not None:
            if message["op"] == "bye":
                return
            if "t" in message:
                plan = message
            elif message["plan"] != plan.get("plan"):
                raise ValueError("a call repeats a plan that is not the last one")
            reports.set_current_call(message["id"])
            answer = self.answer(plan, files)
            if not connection.is_of_this_process():
                connection.send({"id": message["id"], "ended": "forked, and both processes came back"})
                os._exit(1)
            reports.set_current_call(-1)
            connection.send({"id": message["id"], **answer})
            if not known:
                reports.note_loaded_modules()  # now also what the first call has loaded
                known = True

    def answer(self, plan: Mapping[str, Any], files: Files) -> dict[str, Any]:
        """Runs the kernel once; whatever it raises is an answer."""
        self.lacks_room = False
        try:
            if plan["fn"] != "apply":
                raise Unsupported(f"{plan['fn']} is not known here")
            return {"ok": True, "status": 0, **self._run(plan, files)}
        except WrongResult as error:
            return _error("failed", str(error))
        except (Unsupported, NotImplementedError) as error:
            return _error("unsupported", str(error))
        except InvalidArgument as error:
            return _error("invalid_argument", str(error))
        except KeyboardInterrupt:  # of the user
            raise
        except BaseException as error:
            if lost := self.library.lost():
                return {"ended": lost}
            if self.lacks_room:
                return _error(NO_ROOM, f"the tensors of this call cannot be put on the device: {text_of(error)}")
            why = self._why_it_cannot_run(error)
            return _raised(error, trace=trace_of(error), cannot_run=why, at=place_of(error, self.function),
                           in_adapter=not why and is_of_adapter(error, self.function))

    def _why_it_cannot_run(self, error: BaseException) -> str:
        """Why every call would raise this; empty if it is of the kernel's own code."""
        if refused_arguments(error):
            return f"its function does not take the arguments: {text_of(error)}; {advice(self.function)}"
        return why_unavailable(error)

    def _send(self, tensors: Mapping[str, Tensor]) -> None:
        try:
            self.library.send(tensors)
        except (RuntimeError, MemoryError):
            self.lacks_room = True  # not an exception of our own, which a kernel could raise
            raise

    def _run(self, plan: Mapping[str, Any], files: Files) -> dict[str, Any]:
        attrs = plan["attrs"]
        tensors = map_tensors(plan["t"], self.memory, files.inputs, files.outputs)
        check_outputs(tensors, attrs["in_place"])
        for tensor in tensors.values() if self.memory.private_inputs else ():
            self.memory.stray(tensor.slot)  # a stray write of an earlier call that raised does not count for this one
        with self.library.running():
            self._send(tensors)
            call = Call(attrs, tensors, self.library)
            started = time.perf_counter_ns()
            returned = self.kernel(call)
            breach = self.library.fetch(tensors)
            took = time.perf_counter_ns() - started
            store(returned, call, tensors, self.library)
            self.earlier_results.replace(returned, call, self.memory)
        for tensor in tensors.values() if self.memory.private_inputs else ():
            if (byte := self.memory.damage(tensor.slot)) is not None:
                raise WrongResult(f"wrote to the input {tensor.place_of(byte)}; inputs must stay as they are, unless overwrites_inputs is claimed")
            if (byte := self.memory.stray(tensor.slot)) is not None:
                raise WrongResult(f"wrote beside a tensor: {tensor.place_of(byte)}, beyond its ends")
        return {"ns": took, "breach": breach} if breach else {"ns": took}
