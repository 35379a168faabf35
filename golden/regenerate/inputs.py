"""Input values as a pure function of (seed, index, dtype), the same bits as golden/input_generator.cpp.

The bits of each value are assembled without arithmetic, so no compiler, library or rounding mode can change them. Sign,
exponent (magnitudes 2^-4 .. 2^4) and the whole significand are drawn from splitmix64 in counter form.
"""

import hashlib

import numpy as np

# dtype: (bits of the fraction, exponent bias, unsigned type of the same size)
FORMATS = {
    "f64": (52, 1023, np.uint64),
    "f32": (23, 127, np.uint32),
    "f16": (10, 15, np.uint16),
    "bf16": (7, 127, np.uint16),
}
SMALLEST_EXPONENT = -4
GOLDEN_GAMMA = 0x9E3779B97F4A7C15


def seed_of(case_id: str, array: str) -> int:
    """A seed that depends only on the name: a new case moves no other. Below 2^48, so exact in any JSON reader."""
    return int.from_bytes(hashlib.sha256(f"{case_id}/{array}".encode()).digest()[:6], "big")


def words(seed: int, count: int) -> np.ndarray:
    """splitmix64 (Steele, Lea, Flood, OOPSLA 2014) evaluated at the counters 1 .. count."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN_GAMMA)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def bits(seed: int, count: int, dtype: str) -> np.ndarray:
    """The bit patterns of `count` values, as unsigned integers of the dtype's size."""
    fraction_bits, bias, unsigned = FORMATS[dtype]
    z = words(seed, count)
    sign = z >> np.uint64(63)
    exponent = ((z >> np.uint64(60)) & np.uint64(7)) + np.uint64(bias + SMALLEST_EXPONENT)
    fraction = (z >> np.uint64(8)) & np.uint64((1 << fraction_bits) - 1)
    total_bits = 8 * np.dtype(unsigned).itemsize
    assembled = (sign << np.uint64(total_bits - 1)) | (exponent << np.uint64(fraction_bits)) | fraction
    return assembled.astype(unsigned)
