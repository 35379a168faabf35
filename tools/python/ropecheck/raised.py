"""What a kernel raised, and where: in the kernel, or in the adapter between ropecheck and the kernel."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable
from typing import Any

from ropecheck.signature import PACKAGE
from ropecheck.text import plain, text_of

LONGEST_TRACE = 4000
TOOLS = os.path.dirname(os.path.dirname(os.path.dirname(PACKAGE)))  # in the source tree
ADAPTERS = (os.path.join(TOOLS, "adapters") + os.sep, os.path.join(PACKAGE, "conventions") + os.sep,
            os.path.join(PACKAGE, "onnx_runtime.py"))


def _is_adapter(file: str) -> bool:
    return os.path.abspath(file).startswith(ADAPTERS)


def _is_ours(file: str) -> bool:
    return os.path.abspath(file).startswith((PACKAGE, *ADAPTERS))


def _code_of(function: Callable[..., Any]) -> Any:
    """The code that runs when it is called; None if that is not Python."""
    entry = inspect.unwrap(function)
    if isinstance(entry, type):
        entry = entry.__init__
    elif not inspect.isroutine(entry):
        entry = type(entry).__call__
    return getattr(entry, "__code__", None)


def trace_of(error: BaseException) -> str:
    """The traceback from the kernel's own frames on."""
    trace = traceback.TracebackException.from_exception(error)
    own = [frame for frame in trace.stack if not os.path.abspath(frame.filename).startswith(PACKAGE)]
    trace.stack = traceback.StackSummary.from_list(own) if own else trace.stack
    return plain("".join(trace.format())[-LONGEST_TRACE:])


def message_of(error: BaseException) -> str:
    """Its message, with a hint if numpy refused to write to an input."""
    text = text_of(error)
    if isinstance(error, ValueError) and text.endswith("is read-only"):
        return (f"{text} (inputs must stay as they are, unless overwrites_inputs is claimed; "
                "or copy them: some libraries ask for writable memory without writing)")
    return text


def is_of_adapter(error: BaseException, function: Callable[..., Any]) -> bool:
    """Whether an adapter raised it, or what it called in this package. `function`: what the adapter calls. If that is
    code in C, it leaves no frame, so the error may be its own."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return _code_of(function) is not None and any(map(_is_adapter, files)) and all(map(_is_ours, files))


def place_of(error: BaseException, function: Callable[..., Any]) -> str:
    """"FILE:LINE", of the last frame in the kernel's own file, else of the last one that is not ours, else of the last
    one."""
    frames = traceback.extract_tb(error.__traceback__)
    code = _code_of(function)
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    own = own or [frame for frame in frames if not _is_ours(frame.filename)] or list(frames)
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""
