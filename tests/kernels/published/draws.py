"""The tests' random numbers, and how a test's grid of parameters is thinned."""

import itertools
import zlib

import numpy as np

from published.arithmetic import stored

DRAWS = 8


def generator(*what):
    """Each rule, test, dtype and draw has its own stream, so adding one changes no other."""
    return np.random.default_rng([zlib.crc32(str(word).encode()) for word in what])


def pairs_of(row):
    """Each pair of a row's parameters, with values, by index; a parameter paired with itself is a single value."""
    return {(one, two) for one in row.items() for two in row.items() if one[0] <= two[0]}


def covering(parameters, count, *stream):
    """`count` rows of a grid that together hold every value of every parameter, and every pair of values if the count
    allows. Of many drawn rows, each step takes the row with the most pairs that no row held yet."""
    rng = generator("covering", *stream)
    sizes = {name: len(values) for name, values in parameters.items()}
    missing = {
        ((one, i), (two, j))
        for one, two in itertools.combinations_with_replacement(sorted(sizes), 2)
        for i in range(sizes[one])
        for j in range(sizes[two])
        if one != two or i == j
    }
    rows = []
    for _ in range(count):
        wanted = sorted(missing)[int(rng.integers(len(missing)))] if missing else ()
        drawn = [{name: int(rng.integers(size)) for name, size in sizes.items()} | dict(wanted) for _ in range(200)]
        row = max(drawn, key=lambda candidate: len(pairs_of(candidate) & missing))
        missing -= pairs_of(row)
        rows.append(row)
    for name, size in sizes.items():
        assert {row[name] for row in rows} == set(range(size)), f"{count} rows do not hold every {name}; raise them"
    return [{name: parameters[name][row[name]] for name in parameters} for row in rows]


def normal(rng, dtype, *shape):
    return stored(dtype, rng.standard_normal(shape, dtype=np.float32))


def uniform(rng, dtype, *shape, low=0.0, high=1.0):
    return stored(dtype, rng.random(shape, dtype=np.float32) * np.float32(high - low) + np.float32(low))


def stale(rng, dtype, *shape):
    """An output as an allocator returns it: it holds old values, here meaningless numbers."""
    block = normal(rng, dtype, 4099)
    return np.resize(block, shape)


def label(test, row):
    return test + "[" + ", ".join(f"{name}={value}" for name, value in row.items()) + "]"
