"""Exceptions that say that a kernel cannot run on this machine, whatever the call: something is not installed."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator

from ropecheck.loading import last_line_of
from ropecheck.text import text_of

# What the libraries say that compile kernels or need a device. They raise RuntimeError and types of their own.
OF_TRITON = r"Failed to find C compiler|\d+ active drivers"
OF_TORCH = (r"No working C\+\+ compiler found|Python\.h: No such file|Ninja is required to load|"
            r"CUDA_HOME environment variable is not set")
OF_CUDA = (r"Torch not compiled with CUDA|Found no NVIDIA driver|No (CUDA|HIP) GPUs are available|"
           r"CUDA driver version is insufficient|no CUDA-capable")
OF_JAX = r"Unknown backend: '\w+' requested"
MISSING = re.compile("|".join((OF_TRITON, OF_TORCH, OF_CUDA, OF_JAX)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that it was raised for."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or (None if following.__suppress_context__ else following.__context__)


def _raised_by(error: BaseException, module: str) -> bool:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__") == module


def _is_missing(error: BaseException) -> bool:
    if isinstance(error, ImportError):
        return True
    if isinstance(error, OSError):  # a library that cannot be loaded, a program that is not there
        return _raised_by(error, "ctypes") or (isinstance(error, FileNotFoundError) and _raised_by(error, "subprocess"))
    return bool(MISSING.search(text_of(error)))


def _said(error: BaseException) -> str:
    """The line of its message that matters, as below a traceback."""
    lines = text_of(error).splitlines() or [""]
    line = next((line for line in lines if MISSING.search(line)), lines[0])
    return f"{type(error).__name__}: {line.strip()}"


def why_unavailable(error: BaseException) -> str:
    """What is missing and what to do; empty if the exception says nothing of the kind."""
    for cause in _causes(error):
        if _is_missing(cause):
            help = "install it"
            if isinstance(cause, ImportError):
                help += f" for {sys.executable}, or choose another interpreter with --python FILE"
            return f"it cannot run here: {_said(cause)}{last_line_of(cause)}; {help}"
    return ""
