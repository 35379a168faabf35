"""Calls that give no rotation: the real code raises, or returns an array of another shape. golden/errors.json holds what
it answers. golden/README.md describes the file."""

import importlib
from collections.abc import Callable, Iterator

import torch

from . import printed

# A call imports its package itself, so that an import that fails is an answer, too.
Call = Callable[[], torch.Tensor]


def _labml() -> Iterator[tuple[str, str, str, Call]]:
    rope = "labml_nn.transformers.rope"
    module = f"{rope}.RotaryPositionalEmbeddings"

    def test_rotary(d: int) -> Call:
        return lambda: printed.test_rotary(lambda _: importlib.import_module(rope).RotaryPositionalEmbeddings(d))

    yield "test-rotary-d3", f"_test_rotary, {module}(3)", "_test_rotary as the page prints it, with d = 3", test_rotary(3)
    yield "test-rotary-d1", f"_test_rotary, {module}(1)", "_test_rotary with d = 1: one feature more", test_rotary(1)
    yield "test-rotary-d5", f"_test_rotary, {module}(5)", "_test_rotary with d = 5, of four features", test_rotary(5)


def _lucidrains() -> Iterator[tuple[str, str, str, Call]]:
    function = "rotary_embedding_torch.RotaryEmbedding.rotate_queries_or_keys"

    def after(cached: int, offset: float) -> Call:
        def call() -> torch.Tensor:
            module = importlib.import_module("rotary_embedding_torch").RotaryEmbedding(dim=4)
            module.rotate_queries_or_keys(torch.zeros(1, cached, 4))
            return module.rotate_queries_or_keys(torch.zeros(1, 8, 4), offset=offset)

        return call

    for cached, offset in ((16, 0.5), (8, -3), (4, -7)):
        name = f"offset-{'half' if offset == 0.5 else f'minus-{-offset}'}-after-{cached}"
        yield name, function, f"Offset {offset} for 8 tokens, after {cached} tokens were cached", after(cached, offset)


def _published() -> Iterator[tuple[str, str, str, Call]]:
    q = torch.zeros(1, 2, 4, 8)
    notebook = "the notebook's first cell"
    yield "apply-rope-as-printed", "apply_rope", f"{notebook} as printed: it reads self", lambda: printed.apply_rope_as_printed(q, q, 4, 8)  # fmt: skip
    yield "apply-rope-sines-cut", "apply_rope", f"{notebook} with the names mended; sines cut [seq_len:] as printed", lambda: printed.apply_rope(q, q, 4, 8, sines=slice(4, None))[0]  # fmt: skip
    yield "naive-cache-reads-globals", "precompute_rope_naive", "the function by itself: it reads T and hs, which the notebook sets in other cells", lambda: printed.precompute_rope_naive(8)  # fmt: skip
    yield "no-pass-through", "RotaryPositionalEmbeddings.forward", "the notebook's class, which passes no feature through, with d = 4 and eight features", lambda: printed.RotaryPositionalEmbeddings(4)(torch.zeros(3, 1, 1, 8))  # fmt: skip


SOURCES = {"labml": _labml, "lucidrains": _lucidrains, "published": _published}


def answers(source: str) -> Iterator[dict]:
    for name, function, description, call in SOURCES[source]():
        entry = {"id": f"{source}/{name}", "function": function, "description": description}
        try:
            values = call()
        except Exception as error:
            yield entry | {"raises": {"type": type(error).__name__, "message": str(error)}}
        else:
            yield entry | {"returns": {"shape": list(values.shape), "values": values.flatten().tolist()}}
