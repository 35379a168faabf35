"""rotary-embedding-torch: interleaved, f32 inside and one final cast; positions are made in the query's dtype."""

from collections.abc import Callable, Iterator

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

from case import Array, Case, Deferred, default_c, deferred, spec

MODULE = "rotary_embedding_torch.RotaryEmbedding"
FUNCTION = f"{MODULE}.rotate_queries_or_keys"
BHSD = "batch, heads, seq, head_dim"


def positions_of(
    module: RotaryEmbedding, count: int, dtype: torch.dtype = torch.float32, offset: float = 0
) -> torch.Tensor:
    """Older versions have no default for the device and the dtype."""
    return module.get_seq_pos(count, device=torch.device("cpu"), dtype=dtype, offset=offset)


@deferred
def rotate(
    name: str,
    description: str,
    *,
    dim: int = 64,
    head_dim: int | None = None,
    shape: tuple[int, int, int] = (2, 2, 8),  # batch, heads, seq
    dtype: str = "f32",
    offset: float = 0,
    seq_first: bool = False,
    c: float | None = None,
    more: dict | None = None,
    draw_as: str | None = None,
    given: bool = False,
    prepare: Callable[[RotaryEmbedding], None] = lambda module: None,
    **arguments: object,
) -> Case:
    head_dim = head_dim or dim
    batch, heads, seq = shape
    case = Case(
        id=f"lucidrains/{name}",
        package="rotary-embedding-torch",
        function=FUNCTION,
        description=description,
        spec=spec(head_dim, "interleaved", rotary_dim=dim, **(more or {})),
        axes="batch, seq, heads, head_dim" if seq_first else BHSD,
        dtype=dtype,
        rounding="per-op" if dtype == "f64" else "final-cast",
        c=c or default_c(dim, 10000),
        position_divisor=float(arguments.get("interpolate_factor", 1.0)),
    )
    q = case.draw("q", (batch, seq, heads, head_dim) if seq_first else (batch, heads, seq, head_dim), draw_as)
    arguments["seq_before_head_dim"] = seq_first

    # The module caches its angles, so the tables come from a fresh module.
    observed = RotaryEmbedding(dim=dim, **arguments)
    prepare(observed)
    angles = observed.forward(positions_of(observed, seq, q.dtype, offset), seq_len=seq, offset=offset)
    case.add_positions(torch.arange(seq) + offset)
    case.add_frequencies(observed.freqs)
    case.theta_is_given = given
    case.add_tables(angles.cos(), angles.sin())
    used = RotaryEmbedding(dim=dim, **arguments)
    prepare(used)
    case.add_output("q_out", used.rotate_queries_or_keys(q, offset=offset))
    return case


def _case(name: str, function: str, description: str, rope: dict, dtype: str = "f32") -> Case:
    return Case(
        id=f"lucidrains/{name}",
        package="rotary-embedding-torch",
        function=f"{MODULE}.{function}",
        description=description,
        spec=rope,
        axes=BHSD,
        dtype=dtype,
        rounding="final-cast",
        c=2.0,
    )


@deferred
def _axial(
    name: str,
    description: str,
    freqs_for: str = "lang",
    *,
    height: int = 3,
    offsets: tuple[int, int] = (0, 0),
    more: dict | None = None,
    c: float = 2.0,
) -> Case:
    """A grid of tokens with one axis for rows and one for columns; stored with the grid as one sequence."""
    dim, width = 32, 4
    axes = {"sections": [dim // 2] * 2, "order": "chunked", "restart": True}
    case = _case(name, "get_axial_freqs", description, spec(2 * dim, "interleaved", axes=axes, **(more or {})))
    case.c = c
    q = case.draw("q", (2, 2, height * width, 2 * dim))
    module = RotaryEmbedding(dim=dim, freqs_for=freqs_for)
    angles = module.get_axial_freqs(height, width, **({"offsets": offsets} if any(offsets) else {}))
    # The positions as get_axial_freqs has them.
    axis = (lambda n: torch.linspace(-1, 1, steps=n)) if freqs_for == "pixel" else torch.arange
    grid = torch.meshgrid(axis(height) + offsets[0], axis(width) + offsets[1], indexing="ij")
    case.add_positions(torch.stack([positions.flatten() for positions in grid])[:, None])
    case.add_frequencies(torch.cat((module.freqs, module.freqs)))
    case.add_tables(*(t.reshape(height * width, 2 * dim) for t in (angles.cos(), angles.sin())))
    rotated = apply_rotary_emb(angles, q.reshape(2, 2, height, width, 2 * dim))
    case.add_output("q_out", rotated.reshape(q.shape))
    return case


@deferred
def _cached_keys(part: str) -> Case:
    """Two new queries behind six cached keys: one call, whose queries and keys have their own positions."""
    dim, queries, keys = 64, 2, 8
    length, first = (queries, keys - queries) if part == "query" else (keys, 0)
    case = _case(
        f"cached-keys-{part}",
        "rotate_queries_with_cached_keys",
        f"Two queries against eight keys: the {'queries, at positions 6 and 7' if part == 'query' else 'keys'}",
        spec(dim, "interleaved"),
    )
    x = case.draw("q", (2, 2, length, dim))
    other = torch.zeros(2, 2, keys if part == "query" else queries, dim)
    module = RotaryEmbedding(dim=dim)
    rotated = module.rotate_queries_with_cached_keys(*((x, other) if part == "query" else (other, x)))
    observed = RotaryEmbedding(dim=dim)
    angles = observed.forward(positions_of(observed, length, offset=first), seq_len=length, offset=first)
    case.add_positions(torch.arange(first, first + length))
    case.add_frequencies(observed.freqs)
    case.add_tables(angles.cos(), angles.sin())
    case.add_output("q_out", rotated[0 if part == "query" else 1])
    return case


@deferred
def xpos(name: str, description: str, dtype: str = "f32") -> Case:
    dim, seq = 64, 8
    rope = spec(dim, "interleaved", xpos={"gamma": 0.4, "scale_base": 512, "center": seq // 2})
    case = _case(name, "rotate_queries_and_keys", description, rope, dtype)
    q, k = (case.draw(name, (2, 2, seq, dim)) for name in ("q", "k"))
    rotated = RotaryEmbedding(dim=dim, use_xpos=True).rotate_queries_and_keys(q, k)
    # The module caches its angles, so the tables come from a fresh module.
    observed = RotaryEmbedding(dim=dim, use_xpos=True)
    positions = positions_of(observed, seq, q.dtype)
    angles, scale = observed.forward(positions, seq_len=seq), observed.get_scale(positions, seq_len=seq).to(q.dtype)
    case.add_positions(torch.arange(seq))
    case.add_frequencies(observed.freqs)
    case.add_tables(angles.cos(), angles.sin())
    case.add_scales(q=scale, k=scale**-1)
    for name, values in zip(("q_out", "k_out"), rotated, strict=True):
        case.add_output(name, values)
    return case


@deferred
def _xpos_cached_keys() -> Case:
    """The keys count from the middle of eight. The queries must too, because they are multiplied with the keys."""
    dim, queries, keys = 64, 2, 8
    middle = {"gamma": 0.4, "scale_base": 512}
    case = _case(
        "xpos-cached-keys",
        "rotate_queries_with_cached_keys",
        "xPos: two queries against eight cached keys, whose middle is position 4; the queries",
        spec(dim, "interleaved", xpos=middle | {"center": keys // 2}),
    )
    q = case.draw("q", (2, 2, queries, dim))
    module = RotaryEmbedding(dim=dim, use_xpos=True)
    rotated, _ = module.rotate_queries_with_cached_keys(q, torch.zeros(2, 2, keys, dim))
    positions = positions_of(module, keys)[-queries:]
    angles = module.forward(positions)
    case.add_positions(positions.to(torch.int64))
    case.add_frequencies(module.freqs)
    case.add_tables(angles.cos(), angles.sin())
    case.add_scales(q=module.get_scale(positions))
    case.add_output("q_out", rotated)
    return case.deviates(
        "the size of the queries counts from the middle of the queries, that of the keys from the middle of the keys: "
        "scores then depend on how many keys are cached, not on the distance alone",
        "other_spec",
        spec=case.spec | {"xpos": middle | {"center": queries // 2}},
    )


@deferred
def _forward_twice() -> Case:
    dim, seq, first = 64, 8, 100
    case = _case(
        "forward-ignores-positions",
        "forward",
        "forward(t, seq_len) for positions 100 .. 107, after a call for 0 .. 7",
        spec(dim, "interleaved"),
    )
    q = case.draw("q", (1, 2, seq, dim))
    module = RotaryEmbedding(dim=dim)
    module.forward(torch.arange(seq), seq_len=seq)
    angles = module.forward(torch.arange(first, first + seq), seq_len=seq)
    case.add_positions(torch.arange(first, first + seq))
    case.add_frequencies(module.freqs)
    case.add_tables(angles.cos(), angles.sin())
    case.add_output("q_out", apply_rotary_emb(angles, q))
    _with_used_positions(case, torch.arange(seq))
    return case.deviates(
        "once it has cached seq_len rows it returns those, whatever positions it is asked for", "other_positions"
    )


def _with_used_positions(case: Case, used: torch.Tensor) -> Case:
    case.arrays.append(Array("positions_used", "position", "axes, batch, seq", used.reshape(-1, 1, used.shape[-1])))
    return case


def _after_bf16(module: RotaryEmbedding) -> None:
    module.rotate_queries_or_keys(torch.zeros(1, 300, 64, dtype=torch.bfloat16))


def cases() -> Iterator[Deferred]:
    yield rotate("d64", "Language frequencies, every feature rotates")
    yield rotate("d64-offset-7", "Positions 7 .. 14", offset=7)
    yield rotate("d64-offset-1048568", "The last eight positions below 2^20, beyond the cache", offset=1048568)
    yield rotate("decode", "One token of two sequences at position 300", shape=(2, 2, 1), offset=300)
    yield rotate("partial-32-of-64", "The first 32 of 64 features rotate", dim=32, head_dim=64)
    yield rotate("d80", "A head_dim that is not a power of two", dim=80, shape=(1, 2, 8))
    yield rotate("seq-first", "seq_before_head_dim: heads after the sequence", seq_first=True)
    yield rotate(
        "complex-notebook",
        "The query of case published/complex-notebook-vectorised",
        dim=128,
        shape=(2, 4, 4),
        draw_as="published/complex-notebook",
    )
    yield rotate(
        "interpolate-2",
        "Positions divided by 2",
        interpolate_factor=2.0,
        c=3.0,
        more={"scaling": {"kind": "linear", "factor": 2}},
    )
    yield rotate(
        "theta-rescale-4",
        "NTK-aware change of base",
        theta_rescale_factor=4.0,
        c=4.0,
        more={"scaling": {"kind": "ntk", "factor": 4}},
    )
    yield rotate(
        "pixel",
        "Frequencies pi .. 5 pi, whole positions",
        freqs_for="pixel",
        max_freq=10,
        dim=32,
        c=4.0,
        more={"scaling": {"kind": "pixel", "max_frequency": 10}},
    )
    yield rotate(
        "constant",
        "Every frequency 1",
        freqs_for="constant",
        num_freqs=16,
        dim=32,
        c=0.5,
        more={"scaling": {"kind": "constant"}},
    )
    yield rotate("d64-bf16", "bf16 in and out, positions below 257", dtype="bf16", offset=200)
    yield rotate("d64-f16", "f16 in and out, positions below 2049", dtype="f16", offset=2000)
    custom = torch.tensor([1 / (1 + 3 * i) for i in range(32)])
    yield rotate("custom", "Frequencies of the caller's own: 1, 1/4, 1/7, ..", custom_freqs=custom, given=True)
    yield _axial("axial-lang", "3 x 4 tokens, two axes with language frequencies")
    yield _axial("axial-lang-offsets", "3 x 4 tokens, rows from 10 and columns from 20", offsets=(10, 20))
    scaling = {"scaling": {"kind": "pixel", "max_frequency": 10}}
    yield _axial("axial-pixel", "3 x 4 pixels, positions from -1 to 1", "pixel", more=scaling, c=4.0)
    yield rotate("d64-offset-half", "Positions 1/2, 3/2, .. 15/2", offset=0.5)
    yield rotate("d64-offset-minus-3", "Positions -3 .. 4", offset=-3)
    yield _cached_keys("query")
    yield _cached_keys("key")
    yield xpos(
        "xpos", "xPos: the queries grow with their position, the keys shrink; the middle of the sequence keeps its size"
    )

    yield rotate("d64-bf16-past-256", "bf16 queries at positions 256 .. 263", dtype="bf16", offset=256).deviates(
        "positions are made in the query's dtype: bf16 has no odd number above 256, so 257 turns as 256",
        "positions_rounded",
        dtype="bf16",
    )
    yield rotate("d64-f16-past-2048", "f16 queries at positions 2048 .. 2055", dtype="f16", offset=2048).deviates(
        "positions are made in the query's dtype: f16 has no odd number above 2048, so 2049 turns as 2048",
        "positions_rounded",
        dtype="f16",
    )
    yield rotate(
        "d64-after-bf16", "f32 queries at positions 256 .. 263, after a bf16 call", offset=256, prepare=_after_bf16
    ).deviates(
        "the angles that a bf16 call caches, of positions rounded to bf16, serve every later dtype",
        "positions_rounded",
        dtype="bf16",
    )
    case = rotate("d64-offset-minus-10", "Positions -10 .. -3", offset=-10)
    yield case.then(lambda made: _with_used_positions(made, torch.zeros(8, dtype=torch.int64))).deviates(
        "takes offset + seq <= 0 rows for cached ones and reads zeros from the end of an empty cache: nothing turns",
        "other_positions",
    )
    yield _forward_twice()
    case = _axial("axial-square-offsets", "4 x 4 tokens, rows from 10 and columns from 20", height=4, offsets=(10, 20))
    used = torch.stack([t.flatten() for t in torch.meshgrid(*[torch.arange(10, 14)] * 2, indexing="ij")])
    yield case.then(lambda made: _with_used_positions(made, used)).deviates(
        "the second axis is no longer than the first, so it is given the rows that the first has cached: its offset "
        "is lost",
        "other_positions",
    )
    yield _xpos_cached_keys()
