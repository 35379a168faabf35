"""Kernels in Python for the tests: a right one, and one for each kind of mistake."""

import ctypes
import os
import sys
import time

import numpy as np

import ropecheck

if "COUNT_STARTS" in os.environ:  # a line for each process that loads this file
    with open(os.environ["COUNT_STARTS"], "a") as starts:
        starts.write("started\n")


def tables(call):
    """cos and sin of the first and of the second feature of each pair, [batch, seq, 1, pairs]."""
    half = call.rotary_dim // 2
    positions = call.position_ids()
    axes = positions[None] if positions.ndim == 2 else positions
    axis = np.zeros(half, np.int64) if call.axis is None else call.axis
    followed = np.moveaxis(axes, 0, -1)[..., axis]
    if call.source == "tables":
        pairs = np.arange(half)
        first = second = pairs
        if call.cos.shape[1] == call.rotary_dim:
            first, second = (pairs, pairs + half) if call.pairing == "half_split" else (2 * pairs, 2 * pairs + 1)
        found = [table[followed, columns] for columns in (first, second) for table in (call.cos, call.sin)]
    else:
        theta = call.inv_freq
        if call.source == "computed":
            theta = call.base ** (-2.0 * np.arange(half) / call.rotary_dim)
        phi = followed * theta.astype(np.float64)
        wide = phi.astype(np.longdouble)  # some versions of numpy are several ulp off in f64
        found = [np.cos(wide), np.sin(wide)] * 2
    return [table.astype(np.float64)[:, :, None, :] for table in found]


def rotate(x, y, call):
    """x into y, which may be x."""
    half = call.rotary_dim // 2
    cos1, sin1, cos2, sin2 = tables(call)
    first, second = slice(0, half), slice(half, call.rotary_dim)
    if call.pairing == "interleaved":
        first, second = slice(0, call.rotary_dim, 2), slice(1, call.rotary_dim, 2)
    a, b = x[..., first].astype(np.float64), x[..., second].astype(np.float64)
    if call.direction == "forward":
        turned = a * cos1 - b * sin1, b * cos2 + a * sin2
    else:
        turned = a * cos1 + b * sin2, b * cos2 - a * sin1
    y[..., first], y[..., second] = (call.attention_factor * half for half in turned)
    return y


# Everything that a caller may reasonably ask for, except scaling rules: tests/conformance tests these on the built-ins.
MANY = ropecheck.kernel(scalings="none", dtypes=("f64", "f32", "f16"))
F32 = ropecheck.kernel(dtypes="f32", tables="f32", sources="tables", pairings="half_split",
                       features=("positions", "offset", "key", "in_place"))


@MANY
def right(call):
    given = [x for x in (call.q, call.k) if x is not None]
    turned = [rotate(x, x if call.in_place else x.copy(), call) for x in given]
    if call.in_place:
        return None
    return turned[0] if call.k is None else tuple(turned)


SEQUENCES = ropecheck.kernel(dtypes="f32", tables="f32", sources="tables", scalings="none",
                             features=("offset", "axes", "positions", "key", "seqlen_offsets", "cu_seqlens"))


@SEQUENCES
def in_sequences(call):
    assert call.max_position < call.cos.shape[0]
    return right(call)


@SEQUENCES
def counts_through_the_row(call):
    if call.cu_seqlens is not None:
        call.cu_seqlens = None
        call.seqlen_offsets = None if call.seqlen_offsets is None else call.seqlen_offsets[:1]
    return right(call)


def undecorated(call):
    return right(call)


def only_tables(call):
    """Does far less than it claims."""
    cos, sin = (table[call.position_ids()][:, :, None, :] for table in (call.cos, call.sin))
    first, second = np.split(call.q, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


@F32
def not_in_place(call):
    """Claims more than it does."""
    if call.in_place:
        raise NotImplementedError("in place")
    return right(call)


@F32
def takes_its_time(call):
    time.sleep(0.02)
    return right(call)


@F32
def writes_outputs(call):
    """Right, but returns nothing: it writes where the result belongs."""
    for x, y in ((call.q, call.q_out), (call.k, call.k_out)):
        if x is not None and not call.in_place:
            y[:] = x
            rotate(x, y, call)
        elif x is not None:
            rotate(x, x, call)


@F32
def wrong_values(call):
    result = right(call)
    if not call.in_place:
        (result[0] if isinstance(result, tuple) else result)[..., 0] += 0.5
    return result


@F32
def turns_backwards(call):
    call.direction = "backward"
    return right(call)


@F32
def raises(call):
    if call.q.shape[1] > 1:
        raise ValueError(f"no more than one token, not {call.q.shape[1]}")
    return right(call)


@F32
def waits_asleep(call):
    if os.environ["OMP_WAIT_POLICY"] != "passive":
        raise RuntimeError("threads spin while they wait")
    return right(call)


class no_room(Exception):
    """Called as a mark of the worker's protocol."""


class invalid_argument(Exception):
    """The same."""


@F32
def raises_no_room(call):
    raise no_room("says the kernel")


@F32
def raises_class_of_suite(call):
    from ropecheck import serving

    raise getattr(serving, "NoRoom", no_room)("says the kernel")


@F32
def raises_invalid_argument(call):
    raise invalid_argument("says the kernel")


@F32
def unsupported(call):
    raise NotImplementedError("not on Fridays")


@F32
def segfault(call):
    ctypes.string_at(8)


@F32
def aborts(call):
    print("about to abort")
    os.abort()


@F32
def exits(call):
    sys.exit(5)


@F32
def ends_process(call):
    os._exit(0)


@F32
def hangs(call):
    while True:
        time.sleep(1)


@F32
def wrong_dtype(call):
    result = right(call)
    return None if call.in_place else tuple(x.astype(np.float64) for x in result) if call.k is not None else \
        result.astype(np.float64)


@F32
def wrong_shape(call):
    result = right(call)
    return None if call.in_place else (result[0][..., 1:], result[1]) if call.k is not None else result[..., 1:]


@F32
def wrong_type(call):
    return right(call) if call.in_place else call.q.tolist() if call.k is None else (call.q.tolist(), call.k)


@F32
def wrong_count(call):
    result = right(call)
    return result if call.in_place or call.k is None else result[0]


@F32
def returns_none(call):
    return None


@F32
def returns_input(call):
    return None if call.in_place else call.q if call.k is None else (call.q, call.k)


@F32
def returns_table(call):
    """A result that shares memory with cos."""
    if call.in_place or call.q.size == 0 or call.cos.size < call.q.size:
        return right(call)
    view = call.cos.reshape(-1)[:call.q.size].reshape(call.q.shape)
    return view if call.k is None else (view, call.k.copy())


@F32
def new_memory_in_place(call):
    if not call.in_place:
        return right(call)
    given = [x for x in (call.q, call.k) if x is not None]
    turned = [rotate(x, x.copy(), call) for x in given]
    return turned[0] if call.k is None else tuple(turned)


_buffers = {}


@F32
def keeps_its_buffer(call):
    """Every result of a shape is the same array."""
    if call.k is not None or call.in_place:
        return right(call)
    buffer = _buffers.setdefault(call.q.shape, np.empty(call.q.shape, np.float32))
    buffer[...] = right(call)
    return buffer


@F32
def one_buffer_for_both(call):
    """The result of k is written over the result of q."""
    if call.k is None or call.in_place or call.q.shape != call.k.shape:
        return right(call)
    q, k = right(call)
    q[...] = k
    return q, q


@ropecheck.kernel(dtypes="f32", tables="f32", sources="tables", pairings="half_split", overwrites_inputs=True,
                  features=("positions", "offset", "key", "in_place"))
def overwrites_as_claimed(call):
    """The inputs are used up."""
    result = right(call)
    if not call.in_place:
        for x in (call.q, call.k):
            if x is not None:
                x[...] = 7
    return result


@F32
def writes_input_politely(call):
    """numpy itself refuses this."""
    call.q[...] = 0
    return right(call)


def poke(array, element):
    """Writes a number where numpy would not; `element` counts from the first element."""
    address = array.__array_interface__["data"][0] + element * array.itemsize
    (ctypes.c_char * array.itemsize).from_address(address)[:] = bytes(array.itemsize)


@F32
def writes_input(call):
    result = right(call)
    if not call.in_place:
        poke(call.q, 0)
    return result


@F32
def one_too_far(call):
    out = call.q if call.in_place else call.q_out
    writes_outputs(call)
    poke(out, out.size)


@F32
def one_before(call):
    out = call.q if call.in_place else call.q_out
    writes_outputs(call)
    poke(out, -1)


@F32
def reads_too_far(call):
    address = call.cos.__array_interface__["data"][0] + call.cos.nbytes
    ctypes.string_at(address, 4)
    return right(call)


class Shelf:
    @staticmethod
    def right(call):
        return right(call)


no_function = 3


@ropecheck.kernel(dtypes="bf16", tables="f32", sources="tables", pairings="half_split",
                  features=("positions", "offset"))
def bf16_bits(call):
    """bf16 by its bits, which numpy has without ml_dtypes; with ml_dtypes, by its own type."""
    if call.dtype == np.uint16:
        wide = (call.q.astype(np.uint32) << 16).view(np.float32)
    else:
        wide = call.q.astype(np.float32)
    turned = rotate(wide, wide.copy(), call).astype(np.float32)
    if call.dtype != np.uint16:
        return turned.astype(call.dtype)
    bits = turned.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16  # to nearest even
    return np.where(np.isnan(turned), (bits >> 16) | 0x40, rounded).astype(np.uint16)


def theta_of_yarn(call):
    """Peng et al., arXiv 2309.00071, as Hugging Face writes it."""
    rule, half = call.scaling, call.rotary_dim // 2
    original = rule["original_max_position_embeddings"]

    def pair_of(turns):
        return half * np.log(original / (turns * 2 * np.pi)) / np.log(call.base)

    low, high = pair_of(rule["beta_fast"]), pair_of(rule["beta_slow"])
    if rule["truncate"]:
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, 0), min(high, half - 1 if rule["clamp_pairs"] else call.rotary_dim - 1)
    ramp = np.clip((np.arange(half) - low) / max(high - low, 0.001), 0, 1)
    theta = call.base ** (-2.0 * np.arange(half) / call.rotary_dim)
    return theta / rule["factor"] * ramp + theta * (1 - ramp)


@ropecheck.kernel(dtypes="f32", sources="computed", scalings="yarn", pairings="half_split",
                  features=("positions", "offset", "attention_factor"))
def yarn(call):
    half, theta = call.rotary_dim // 2, theta_of_yarn(call)
    phi = (call.position_ids()[..., None] * theta)[:, :, None, :]
    a, b = call.q[..., :half].astype(np.float64), call.q[..., half:].astype(np.float64)
    turned = np.concatenate([a * np.cos(phi) - b * np.sin(phi), b * np.cos(phi) + a * np.sin(phi)], -1)
    return (call.attention_factor * turned).astype(np.float32)


@F32
def spins(call):
    """A hang that Python can interrupt."""
    while True:
        pass


@ropecheck.kernel(dtypes="f32", tables="f32", sources="tables", pairings="half_split", features=("in_place", "offset"))
def crashes_in_place(call):
    if call.in_place:
        ctypes.string_at(8)
    return right(call)
