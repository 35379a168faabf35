"""Turns "package.module:function" into a kernel, or into a message that a person can act on."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from ropecheck.errors import ImportFailed, SubjectError
from ropecheck.text import text_of


def split_target(target: str) -> tuple[str, list[str]]:
    """The module, and the names within it."""
    module, colon, path = target.partition(":")
    names = path.split(".")
    if not colon or not all(name.isidentifier() for name in [*module.split("."), *names]):
        raise SubjectError(f'"{target}" is not a kernel; expected package.module:function')
    return module, names


def last_line_of(error: BaseException) -> str:
    """" (FILE, line N)", for a message: the last line that is not of Python itself, if there is one; else empty."""
    frames = traceback.extract_tb(error.__traceback__)
    # The user's own file, not the import machinery.
    ours = ("importlib", os.path.dirname(__file__))
    own = [frame for frame in frames if not any(folder in frame.filename for folder in ours)]
    library = os.path.dirname(os.__file__) + os.sep
    own = [frame for frame in own if not frame.filename.startswith(library)] or own
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise ImportFailed(
                f"there is no module {error.name}: looked in {os.getcwd()}, PYTHONPATH and the packages of "
                f"{sys.executable}; run from the folder that holds it, install it, or choose another interpreter with "
                "--python FILE"
            ) from None
        raise ImportFailed(
            f"importing {name} failed: {error}{last_line_of(error)}; install it for {sys.executable}, or choose "
            "another interpreter with --python FILE"
        ) from None
    except Exception as error:
        raise ImportFailed(f"importing {name} raised {type(error).__name__}: {text_of(error)}{last_line_of(error)}") from None
    except SystemExit as error:
        raise ImportFailed(f"importing {name} ended its process (SystemExit: {error})") from None


def load(target: str) -> Callable[..., Any]:
    """Imports the module and finds the function."""
    module_name, names = split_target(target)
    found = _import(module_name)
    where = f"module {module_name}"
    for name in names:
        if not hasattr(found, name):
            public = [other for other in dir(found) if not other.startswith("_")]
            known = [other for other in public if callable(getattr(found, other, None))]
            similar = difflib.get_close_matches(name, known, n=3) or sorted(known)[:12]
            hint = f"; it has {', '.join(similar)}" if similar else "; it has no functions"
            raise SubjectError(f"{where} has no {name}{hint}")
        found = getattr(found, name)
        where = f"{where}.{name}" if where.startswith("class ") else f"class {name}"
    if not callable(found):
        raise SubjectError(f"{target} is a {type(found).__name__}; a kernel is a function of one argument")
    kernel: Callable[..., Any] = found
    return kernel
