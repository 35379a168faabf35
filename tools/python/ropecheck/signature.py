"""Whether a function can be called as a kernel, with one argument; and if not, what to do."""

from __future__ import annotations

import inspect
import os
import re
import traceback
from collections.abc import Callable
from typing import Any

from ropecheck.errors import SubjectError
from ropecheck.text import text_of

KERNEL = """a kernel is a function of one argument, the call:
  @ropecheck.kernel(dtypes="f32", sources="tables", pairings="half_split", features=())
  def rope(call):
      return rotated(call.q, call.cos, call.sin)  # an array like call.q
`ropecheck list conventions` lists other signatures"""
OBJECT = "make an object of it once, outside of the kernel: module = {name}(..)"

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

# CPython's words, and pybind11's, about arguments that do not go with the parameters.
OF_ARGUMENTS = re.compile(r"missing \d+ required|takes .*(argument|positional)|unexpected keyword argument|"
                          r"multiple values for argument|incompatible function arguments")


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """None if it tells nothing, as many functions in C. A module of torch takes what its `forward` takes."""
    forward = None if isinstance(function, type) else getattr(function, "forward", None)
    try:
        return inspect.signature(forward if callable(forward) else function)
    except (TypeError, ValueError):
        return None


def _takes_one(signature: inspect.Signature) -> bool:
    try:
        signature.bind(None)
    except TypeError:
        return False
    return True


def _makes_objects(function: Callable[..., Any]) -> bool:
    """Whether it is a class that can only return its own objects, so no arrays."""
    return isinstance(function, type) and getattr(function, "__new__", None) is object.__new__


def _shown(function: Callable[..., Any], signature: inspect.Signature | None) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    if signature is None:
        return name
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return f"{name}{inspect.Signature(bare)}"


def advice(function: Callable[..., Any]) -> str:
    """What to do with a function that cannot be called: the conventions that fit it, else what a kernel looks like."""
    from ropecheck.fitting import conventions_fitting, forward_of

    signature = _signature(function)
    cls = function if isinstance(function, type) else None
    fitting = conventions_fitting(signature, cls) if signature is not None else []
    whose, first = "its parameters", ""
    if cls is not None and not fitting:
        first = OBJECT.format(name=cls.__name__)
        whose = "the parameters of its forward"
        forward = forward_of(cls)
        fitting = conventions_fitting(forward) if forward is not None else []
    if not fitting:
        return f"{first}; {KERNEL}" if first else KERNEL
    what = "this convention" if len(fitting) == 1 else "these conventions, so choose one"
    first = f"{first}, and name it in place of the class; " if first else ""
    lines = [f'{first}{whose} fit {what} (in Python: convention="{fitting[0].name}"):']
    return "\n".join(lines + [f"  --convention {one.name:<18} {one.signature}" for one in fitting])


def check_signature(function: Callable[..., Any]) -> None:
    """Raises SubjectError if no call can be the function's only argument."""
    signature = _signature(function)
    shown = _shown(function, signature)
    if _makes_objects(function):
        raise SubjectError(f"{shown} is a class, not a kernel; {advice(function)}")
    if signature is not None and not _takes_one(signature):
        raise SubjectError(f"{shown} cannot be called with one argument; {advice(function)}")


def refused_arguments(error: BaseException) -> bool:
    """Whether a function was called with other arguments than its parameters. A TypeError of its own code is not meant:
    between our call and the error lie only functions that pass on whatever they get."""
    if not isinstance(error, TypeError) or not OF_ARGUMENTS.search(text_of(error)):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in frames if not os.path.abspath(frame.f_code.co_filename).startswith(PACKAGE)]
    return all(frame.f_code.co_flags & inspect.CO_VARARGS for frame in own)
