"""What a kernel says, made fit for a message to ropecheck."""

from __future__ import annotations

LONGEST_MESSAGE = 4000


def plain(text: str) -> str:
    """Its beginning, as UTF-8 can write it: a kernel's words may be of any length, and hold half a surrogate."""
    return text[:LONGEST_MESSAGE].encode(errors="backslashreplace").decode()


def text_of(error: BaseException) -> str:
    """str() of it, whatever its class does then."""
    try:
        return str(error)
    except Exception as another:
        return f"(its text cannot be had: __str__ raised {type(another).__name__})"
