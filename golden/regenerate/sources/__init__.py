"""The golden sources. To add one: write its file beside the others and add it to SOURCES."""

from collections.abc import Callable, Iterator

from case import Case

from . import huggingface, labml, lucidrains, published

# --only NAME: (the distribution that is run, its cases)
SOURCES: dict[str, tuple[str, Callable[[], Iterator[Case]]]] = {
    "labml": ("labml-nn", labml.cases),
    "huggingface": ("transformers", huggingface.cases),
    "lucidrains": ("rotary-embedding-torch", lucidrains.cases),
    "published": ("torch", published.cases),
}
