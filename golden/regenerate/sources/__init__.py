"""The golden sources. To add one: write its file beside the others and add it to SOURCES."""

import importlib
from collections.abc import Iterator

from case import Case

# --only NAME: the distribution to run. The file of that name has its cases.
SOURCES = {
    "labml": "labml-nn",
    "huggingface": "transformers",
    "lucidrains": "rotary-embedding-torch",
    "published": "torch",
}


def cases(name: str) -> Iterator[Case]:
    """Imports the package only now: with another version of it, one source may fail and the others still run."""
    yield from importlib.import_module(f".{name}", __package__).cases()
