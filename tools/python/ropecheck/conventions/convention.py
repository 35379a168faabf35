"""What a calling convention is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Name, parameters, and what makes an object's call of it: ".method(t)" or "(x)".
SIGNATURE = re.compile(r"\w+\(([^)]*)\)(?:\.(\w+)\(|\(([^)]*)\))?")


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

    def _parsed(self) -> re.Match[str]:
        found = SIGNATURE.match(self.signature)
        assert found is not None, self.signature
        return found

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters without a default, of the function or of the class."""
        return tuple(name for name in self._parsed()[1].split(", ") if "=" not in name)

    @property
    def optional(self) -> tuple[str, ...]:
        """The parameters with a default."""
        return tuple(name.split("=")[0] for name in self._parsed()[1].split(", ") if "=" in name)

    @property
    def takes_class(self) -> bool:
        """Whether it is for a class whose objects rotate."""
        return self.method is not None

    @property
    def method(self) -> str | None:
        """The method that rotates, of the class's objects: `forward` if they are called; None if it is for a function."""
        _, method, called = self._parsed().groups()
        return method or ("forward" if called is not None else None)

    @property
    def passed(self) -> tuple[str, ...]:
        """What the objects' `forward` takes."""
        return tuple((self._parsed()[3] or "").split(", "))
