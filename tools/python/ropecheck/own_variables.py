"""The variables by which ropecheck tells its worker something. The kernel does not see them: it could behave better
under test."""

from __future__ import annotations

import os

MARK = "ROPECHECK_MARK"  # by it ropecheck finds what a kernel leaves behind
_taken: dict[str, str] = {}


def take_out() -> None:
    """Takes them out of the environment, before the kernel is loaded."""
    for name in [name for name in os.environ if name.startswith("ROPECHECK_") and name != MARK]:
        _taken[name] = os.environ.pop(name)


def value(name: str) -> str | None:
    """What a variable was set to; None if it was not set."""
    return _taken.get(name, os.environ.get(name))
