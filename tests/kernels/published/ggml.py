"""llama.cpp's test-backend-ops, ROPE and ROPE_BACK: facts in rules.py. The reference is ggml's own CPU arithmetic."""

import itertools

import numpy as np

from published.arithmetic import loaded, rotate, stored
from published.case import Case, Check, nmse
from published.contract import Arguments, Computed, Frequencies
from published.draws import label, stale, uniform

F = np.float32
POSITIONS = 512
# (head_dim, heads, tokens), rotated dimensions, mode
LLAMA, FALCON = ((128, 32, 2), 128, "normal"), ((64, 128, 2), 64, "neox")
ONCE = [
    ((128, 40, 2), 128, "normal"),
    ((128, 52, 2), 128, "normal"),
    ((128, 64, 2), 128, "normal"),
    ((64, 1, 2), 64, "neox"),
    ((64, 71, 2), 64, "neox"),
    ((64, 8, 2), 64, "neox"),
    *((shape, dims, mode) for mode in ("normal", "neox") for shape, dims in (((80, 32, 2), 20), ((80, 32, 2), 32))),
    *(((80, 32, 4), 32, mode) for mode in ("normal", "neox")),
    *(
        (shape, dims, mode)
        for mode in ("mrope", "imrope")
        for shape, dims in (((128, 12, 2), 128), ((128, 28, 2), 128), ((128, 12, 2), 20), ((128, 28, 2), 32))
    ),
    ((80, 16, 2), 80, "vision"),
    ((128, 16, 2), 128, "imrope"),
]


def grid():
    """Every case of the test, (dtype, row): two shapes for all parameters, the others for the first ones and f32."""
    cases = []
    for forward, fs, ef, af in itertools.product((True, False), (1.0, 1.4245), (0.0, 0.7465), (1.0, 1.4245)):
        for dtype, ff, view in itertools.product(("f32", "f16"), (False, True), (False, True)):
            first = dtype == "f32" and (fs, ef, af) == (1.0, 0.0, 1.0)
            for shape, dims, mode in [LLAMA, *(ONCE if first else []), FALCON]:
                cases.append((dtype, named(shape, dims, mode, fs, ef, af, ff, view, forward, False)))
    for dtype, mode, ff in itertools.product(
        ("f32", "f16"), ("normal", "neox", "mrope", "imrope", "vision"), (False, True)
    ):
        cases.append((dtype, named((128, 32, 2), 128, mode, 1.4245, 0.7465, 1.4245, ff, False, True, True)))
    return cases


def named(*values):
    return dict(zip(("shape", "n_dims", "mode", "fs", "ef", "af", "ff", "view", "forward", "inplace"), values))


def axes_of(mode, pairs):
    """Which row of positions each pair follows; sections of a third of n_dims (of a quarter for images)."""
    p = np.arange(pairs)
    if mode == "mrope":
        return np.minimum(p // (2 * pairs // 3), 2).astype(np.int32)
    if mode == "imrope":
        return (p % 3).astype(np.int32)
    if mode == "vision":
        return (p // (pairs // 2)).astype(np.int32)
    return np.zeros(pairs, np.int32)


def theta_product(position, mode, pairs):
    """position times theta, pair after pair, by repeated multiplication in f32; for images it starts again halfway."""
    scale = np.power(F(10000), F(-2.0) / F(pairs if mode == "vision" else 2 * pairs))
    angle, result = F(position), []
    for p in range(pairs):
        if mode == "vision" and p == pairs // 2:
            angle = F(position)
        result.append(angle)
        angle = F(angle * scale)
    return np.array(result, F)


def frequency_mix(pairs, fs, ef):
    """The factor of each pair's angle. The test's original context of 0 leaves a ramp that is 1 only at pair 0."""
    ramp = np.where(np.arange(pairs) == 0, F(1), F(0)) * F(ef)
    return F(fs) * (F(1) - ramp) + ramp if ef != 0 else np.full(pairs, F(fs))


def magnitude(fs, ef, af):
    return F(af) * (F(1) + F(0.1) * np.log(F(1) / F(fs))) if ef != 0 else F(af)


def source(row, pairs, factors):
    """The angle source nearest to the op's arguments: the mutant computes the angles itself if the contract has a
    rule for them. Only yarn with ext_factor and the restart for images are passed as frequencies."""
    fs, ef, mode = row["fs"], row["ef"], row["mode"]
    if ef != 0 or mode == "vision":
        exponent_dims = pairs if mode == "vision" else 2 * pairs
        p = np.arange(pairs) % (pairs // 2) if mode == "vision" else np.arange(pairs)
        theta = 10000.0 ** (-2.0 * p / exponent_dims) * frequency_mix(pairs, fs, ef) / factors
        return Frequencies(theta.astype(np.float64))
    if row["ff"]:
        both = np.tile(factors.astype(np.float64) / fs, 2)  # short, then long
        lists = {"short_factor": both[:pairs], "long_factor": both[pairs:]}
        return Computed(10000.0, POSITIONS, "longrope", {**lists, "factor": 1.0, "original_max_position": 8192.0})
    if fs != 1:
        return Computed(10000.0, POSITIONS, "linear", {"factor": 1 / fs})
    return Computed(10000.0, POSITIONS)


def rope(row, dtype, rng, limit):
    (head_dim, heads, tokens), mode = row["shape"], row["mode"]
    rotary_dim = row["n_dims"]  # for images the op is given half of it
    pairs = rotary_dim // 2
    axis = axes_of(mode, pairs)
    axes = 3 if mode in ("mrope", "imrope", "vision") else 1
    positions = rng.integers(0, POSITIONS, (axes, 1, tokens), dtype=np.int32)
    factors = F(0.9) + F(0.2) * rng.random(pairs, dtype=F) if row["ff"] else np.ones(pairs, F)

    angles = np.empty((tokens, pairs), F)
    for token in range(tokens):
        each = np.stack([theta_product(positions[a, 0, token], mode, pairs) for a in range(axes)])
        angles[token] = each[axis, np.arange(pairs)] / factors * frequency_mix(pairs, row["fs"], row["ef"])
    scale = magnitude(row["fs"], row["ef"], row["af"])
    at = [(values * scale)[None, :, None] for values in (np.cos(angles), np.sin(angles))]

    # A view takes a corner of a tensor that is 2, 4 and 3 times as large.
    larger = (1, 3 * tokens, 4 * heads, 2 * head_dim) if row["view"] else (1, tokens, heads, head_dim)
    x = uniform(rng, dtype, *larger, low=-1, high=1)[:, :tokens, :heads, :head_dim]
    expected = stored(dtype, rotate(loaded(dtype, x), *at, mode == "normal", not row["forward"]))

    # The test puts a tensor of 1024 numbers behind each tensor, which must not change.
    behind = 4096 // x.itemsize
    memory = stale(rng, dtype, x.size + behind)
    out = x if row["inplace"] else memory[: x.size].reshape(x.shape)
    unchanged = [("the sentinel behind the output", memory[x.size :], memory[x.size :].copy())]
    call = Arguments(
        dtype,
        x,
        rotary_dim,
        mode == "normal",
        source(row, pairs, factors),
        q_out=out,
        positions=positions,
        axis=axis if axes == 3 else None,
        backward=not row["forward"],
        attention_factor=float(scale),
    )
    return Case(label("ROPE", row), [call], [Check("output", dtype, out, expected, nmse(limit))], unchanged)
