"""The golden sources. To add one: write its file beside the others, and add it to SOURCES and FILES."""

import importlib
from collections.abc import Iterator

from case import Case, Deferred

# --only NAME: the distribution to run, and the files that have its cases.
SOURCES = {
    "labml": "labml-nn",
    "huggingface": "transformers",
    "lucidrains": "rotary-embedding-torch",
    "published": "torch",
}
FILES = {
    "labml": ("labml",),
    "huggingface": ("huggingface", "huggingface_models", "huggingface_attention", "huggingface_calls"),
    "lucidrains": ("lucidrains", "lucidrains_calls"),
    "published": ("published", "published_report", "published_cache"),
}


def cases(name: str) -> Iterator[Case | Deferred]:
    """Imports the package only now: with another version of it, one source may fail and the others still run."""
    for file in FILES[name]:
        yield from importlib.import_module(f".{file}", __package__).cases()
