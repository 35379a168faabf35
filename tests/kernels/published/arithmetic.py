"""Numbers as in other projects' tests: f32, f16 and bf16 (as uint16), with one rounding per operation."""

import functools
import math

import numpy as np

STORAGE = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}


def stored(dtype, values):
    """Values rounded to nearest, ties to even, in the form that a kernel gets."""
    values = np.asarray(values, np.float32)
    if dtype == "f32":
        return values
    if dtype == "f16":
        return values.astype(np.float16)
    bits = values.view(np.uint32)
    rounded_up = bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))
    return np.where(np.isnan(values), np.uint16(0x7FC0), (rounded_up >> np.uint32(16)).astype(np.uint16))


def loaded(dtype, values):
    if dtype == "bf16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values.astype(np.float32)


def rounded(dtype, values):
    return values if dtype == "f32" else loaded(dtype, stored(dtype, values))


def pair_slices(rotary_dim, interleaved):
    if interleaved:
        return slice(0, rotary_dim, 2), slice(1, rotary_dim, 2)
    return slice(0, rotary_dim // 2), slice(rotary_dim // 2, rotary_dim)


def rotate(x, cos, sin, interleaved, inverse=False, dtype="f32"):
    """x[.., head_dim] rotated by cos and sin[.., rotary_dim/2], every operation rounded to dtype."""
    first, second = pair_slices(2 * cos.shape[-1], interleaved)
    if inverse:
        sin = -sin
    one, two = x[..., first], x[..., second]
    y = x.copy()
    y[..., first] = rounded(dtype, rounded(dtype, one * cos) - rounded(dtype, two * sin))
    y[..., second] = rounded(dtype, rounded(dtype, two * cos) + rounded(dtype, one * sin))
    return y


def inverse_frequencies(rotary_dim, base):
    """1 / base^(2p/r) in f32, as torch code computes it."""
    exponents = np.arange(0, rotary_dim, 2, dtype=np.float32) / np.float32(rotary_dim)
    return np.float32(1) / np.power(np.float32(base), exponents)


@functools.lru_cache(maxsize=32)
def angle_tables(rows, rotary_dim, base=10000.0):
    """cos and sin in f32 of the f32 product of position and frequency: [rows, rotary_dim/2] each."""
    angles = np.arange(rows, dtype=np.float32)[:, None] * inverse_frequencies(rotary_dim, base)[None, :]
    return np.cos(angles), np.sin(angles)


def llama3(theta):
    """Llama 3.1 in f32: factor 8, wavelengths 8192 / 1 and 8192 / 4."""
    result = theta.copy()
    for p, frequency in enumerate(theta):
        wavelength = 2 * math.pi / frequency
        if wavelength > 8192:
            result[p] = frequency / np.float32(8)
        elif wavelength >= 2048:
            smooth = np.float32((8192 / wavelength - 1) / 3)
            result[p] = (1 - smooth) * frequency / np.float32(8) + smooth * frequency
    return result
