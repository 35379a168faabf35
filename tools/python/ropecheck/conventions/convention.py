"""What a calling convention is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Convention:
    """How the functions of a code base are called."""

    name: str
    signature: str
    """As its documentation would print it."""
    example: str
    """A function that has it, as a subject is written."""
    kernel: Callable[[Callable[..., Any]], Callable[..., Any]]
    """From such a function to a kernel of one argument, with its capabilities."""
