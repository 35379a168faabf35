"""Rope kernels in numpy."""

import math

import ml_dtypes  # noqa: F401  (bfloat16 arrays)
import numpy as np

import ropecheck


def parts(x, rotary_dim, pairing):
    """Views of the first and the second features of all pairs."""
    if pairing == "interleaved":
        return x[..., 0:rotary_dim:2], x[..., 1:rotary_dim:2]
    return x[..., : rotary_dim // 2], x[..., rotary_dim // 2 : rotary_dim]


def turned(x, cos, sin, call, factor=1.0):
    """cos and sin: [batch, seq, pairs], f32 or f64"""
    cos, sin = (np.asarray(table)[:, :, None, :] * factor for table in (cos, sin))
    if call.direction == "backward":
        sin = -sin
    work = np.float64 if x.dtype == np.float64 else np.float32
    cos, sin = cos.astype(work), sin.astype(work)
    y = np.array(x, dtype=x.dtype, order="C")
    first, second = parts(x.astype(work), call.rotary_dim, call.pairing)
    o1, o2 = parts(y, call.rotary_dim, call.pairing)
    o1[...] = first * cos - second * sin
    o2[...] = second * cos + first * sin
    return y


def both(call, function):
    q = function(call.q)
    k = None if call.k is None else function(call.k)
    if call.in_place:
        call.q[...] = q
        if k is not None:
            call.k[...] = k
        return None
    return q if k is None else (q, k)


def plain_theta(base, rotary_dim):
    return float(base) ** (-np.arange(0, rotary_dim, 2, dtype=np.float64) / rotary_dim)


def angles(call, theta):
    return call.position_ids().astype(np.float64)[..., None] * theta


def ntk_base(base, stretch, dim):
    return base if dim <= 2 else base * stretch ** (dim / (dim - 2))


@ropecheck.kernel(dtypes=("f32", "f64"), tables="f32", table_widths="half", sources="tables",
                  features=("partial", "positions", "batch_positions", "in_place", "strided", "key", "grouped_heads",
                            "backward", "attention_factor", "offset"))
def from_tables(call):
    positions = call.position_ids()
    cos, sin = (table[positions].astype(np.float64) for table in (call.cos, call.sin))
    return both(call, lambda x: turned(x, cos, sin, call, call.attention_factor))


@ropecheck.kernel(dtypes=("f32", "f16"), sources="computed", scalings=("none", "linear", "ntk", "dynamic", "llama3"),
                  max_position=1 << 22,
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "offset"))
def from_base(call):
    dim, rule = call.rotary_dim, call.scaling
    kind = rule["kind"]
    base = call.base
    if kind == "ntk":
        base = ntk_base(base, rule["factor"], dim)
    if kind == "dynamic":
        original = rule["original_max_position_embeddings"]
        length = max(call.sequence_length, original)
        base = ntk_base(base, rule["factor"] * length / original - (rule["factor"] - 1), dim)
    theta = plain_theta(base, dim)
    if kind == "linear":
        theta = theta / rule["factor"]
    if kind == "llama3":
        original, low, high = (rule[key] for key in ("original_max_position_embeddings", "low_freq_factor",
                                                     "high_freq_factor"))
        wavelength = 2 * math.pi / theta
        smooth = (original / wavelength - low) / (high - low)
        blended = (1 - smooth) * theta / rule["factor"] + smooth * theta
        theta = np.where(wavelength > original / low, theta / rule["factor"],
                         np.where(wavelength < original / high, theta, blended))
    phi = angles(call, theta)
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call))


@ropecheck.kernel(dtypes=("bf16", "f32"), sources="frequencies", frequencies=("f32", "f64"), max_position=1 << 22,
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "axes", "offset",
                            "backward"))
def from_frequencies(call):
    positions = call.position_ids()
    if positions.ndim == 2:
        positions = positions[None]
    axis = np.zeros(call.rotary_dim // 2, np.int64) if call.axis is None else np.asarray(call.axis, np.int64)
    phi = np.moveaxis(positions[axis], 0, -1).astype(np.float64) * call.inv_freq.astype(np.float64)
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call))


@ropecheck.kernel(dtypes="f32", sources="computed", scalings="yarn", max_position=1 << 20,
                  features=("partial", "positions", "batch_positions", "attention_factor", "offset"))
def yarn_ends_rounded(call):
    dim, rule = call.rotary_dim, call.scaling
    original = rule["original_max_position_embeddings"]

    def correction(turns):
        return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(call.base))

    low = max(math.floor(correction(rule["beta_fast"])), 0)
    high = min(math.ceil(correction(rule["beta_slow"])), (dim // 2 if rule["clamp_pairs"] else dim) - 1)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    theta = plain_theta(call.base, dim)
    phi = angles(call, theta / rule["factor"] * ramp + theta * (1 - ramp))
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call, call.attention_factor))


@ropecheck.kernel(dtypes="f32", sources="computed", scalings=("none", "llama3"), max_position=1 << 20,
                  features=("positions", "batch_positions", "key", "grouped_heads", "offset"))
def llama3_weights_exchanged(call):
    theta = plain_theta(call.base, call.rotary_dim)
    rule = call.scaling
    if rule["kind"] == "llama3":
        original, low, high = (rule[key] for key in ("original_max_position_embeddings", "low_freq_factor",
                                                     "high_freq_factor"))
        wavelength = 2 * math.pi / theta
        smooth = (original / wavelength - low) / (high - low)
        scaled = np.where(wavelength > original / low, theta / rule["factor"], theta)
        medium = (wavelength <= original / low) & (wavelength >= original / high)
        theta = np.where(medium, (1 - smooth) * theta + smooth * theta / rule["factor"], scaled)
    phi = angles(call, theta)
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call))


@ropecheck.kernel(dtypes="f32", sources="computed", scalings=("none", "dynamic"), max_position=1 << 20,
                  features=("positions", "batch_positions", "key", "grouped_heads", "offset"))
def dynamic_by_call(call):
    dim, base = call.rotary_dim, call.base
    if call.scaling["kind"] == "dynamic":
        original, factor = call.scaling["original_max_position_embeddings"], call.scaling["factor"]
        seq_len = call.q.shape[1]
        if seq_len > original:
            base = ntk_base(base, factor * seq_len / original - (factor - 1), dim)
    phi = angles(call, plain_theta(base, dim))
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call))


@ropecheck.kernel(dtypes="f32", sources="computed", scalings=("none", "ntk"), max_position=1 << 20,
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "offset"))
def ntk_of_head_dim(call):
    base = call.base
    if call.scaling["kind"] == "ntk":
        base = ntk_base(base, call.scaling["factor"], call.head_dim)
    phi = angles(call, plain_theta(base, call.rotary_dim))
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call))


@ropecheck.kernel(dtypes=("f32", "f16"), sources=("computed", "frequencies"), scalings="none", max_position=1 << 20,
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "offset"))
def positions_in_dtype(call):
    theta = plain_theta(call.base, call.rotary_dim) if call.source == "computed" else call.inv_freq.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        positions = call.position_ids().astype(call.dtype)
        phi = positions.astype(np.float64)[..., None] * theta
        cos, sin = np.cos(phi), np.sin(phi)
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(dtypes="f32", tables="f32", table_widths="half", sources="tables",
                  features=("partial", "positions", "batch_positions", "in_place", "strided", "key", "grouped_heads",
                            "offset"))
def in_place_in_a_copy(call):
    positions = call.position_ids().reshape(-1)
    cos, sin = call.cos[positions][:, None, :], call.sin[positions][:, None, :]

    def rotate_(x):
        batch, seq, heads, dim = x.shape
        rows = x.reshape(batch * seq, heads * dim)
        x1, x2 = parts(rows.reshape(batch * seq, heads, dim), call.rotary_dim, call.pairing)
        y1, y2 = x1 * cos - x2 * sin, x2 * cos + x1 * sin
        x1[...] = y1
        x2[...] = y2

    targets = [x if call.in_place else np.array(x, order="C") for x in (call.q, call.k) if x is not None]
    for x in targets:
        rotate_(x)
    if call.in_place:
        return None
    return targets[0] if call.k is None else tuple(targets)


@ropecheck.kernel(dtypes=("f32", "f64"), tables="f32", table_widths="half", sources="tables",
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "backward",
                            "attention_factor", "offset"))
def backward_divides(call):
    positions = call.position_ids()
    cos, sin = (table[positions].astype(np.float64) for table in (call.cos, call.sin))
    factor = call.attention_factor if call.direction == "forward" else 1.0 / call.attention_factor
    return both(call, lambda x: turned(x, cos, sin, call, factor))


@ropecheck.kernel(dtypes=("f32", "bf16"), tables="f32", table_widths=("half", "full"), sources="tables",
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "offset"))
def first_half_of_full_tables(call):
    positions = call.position_ids()
    columns = slice(0, call.rotary_dim // 2)
    cos, sin = (table[positions][..., columns] for table in (call.cos, call.sin))
    return both(call, lambda x: turned(x, cos, sin, call))


@ropecheck.kernel(dtypes="f32", sources=("frequencies", "computed"), scalings="none", max_position=1 << 20,
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "axes", "offset"))
def two_axes(call):
    theta = plain_theta(call.base, call.rotary_dim) if call.source == "computed" else call.inv_freq.astype(np.float64)
    positions = call.position_ids().astype(np.float64)
    if positions.ndim == 2:
        phi = positions[..., None] * theta
    else:
        axis = np.zeros(theta.shape, np.int64) if call.axis is None else np.asarray(call.axis, np.int64)
        rows, columns = positions[0][..., None] * theta, positions[1][..., None] * theta
        phi = np.where(axis % 2 == 0, rows, columns)
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call))


@ropecheck.kernel(dtypes="f32", tables="f32", table_widths="half", sources="tables",
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "attention_factor",
                            "offset"))
def factor_on_the_rest(call):
    positions = call.position_ids()
    cos, sin = call.cos[positions], call.sin[positions]

    def turn(x):
        y = turned(x, cos, sin, call)
        if call.attention_factor != 1.0:
            y *= np.float32(call.attention_factor)
        return y

    return both(call, turn)


@ropecheck.kernel(dtypes="f32", sources="computed", scalings="none", pairings="half_split", max_position=1 << 20,
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "offset"))
def offset_plus_one(call):
    batch, seq = call.q.shape[:2]
    if call.positions is not None:
        positions = call.positions
    else:
        past = call.position_offset + 1 if call.position_offset else 0
        positions = np.broadcast_to(np.arange(past, past + seq), (batch, seq))
    phi = positions.astype(np.float64)[..., None] * plain_theta(call.base, call.rotary_dim)
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call))


@ropecheck.kernel(dtypes="f32", sources="computed", scalings=("none", "longrope"), max_position=1 << 20,
                  features=("partial", "positions", "batch_positions", "key", "grouped_heads", "attention_factor",
                            "offset"))
def longrope_by_position(call):
    theta = plain_theta(call.base, call.rotary_dim)
    rule = call.scaling
    if rule["kind"] == "longrope":
        length = call.max_position + 1
        name = "long_factor" if length > rule["original_max_position_embeddings"] else "short_factor"
        theta = theta / np.asarray(rule[name], np.float64)
    phi = angles(call, theta)
    return both(call, lambda x: turned(x, np.cos(phi), np.sin(phi), call, call.attention_factor))
