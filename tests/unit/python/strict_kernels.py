"""Kernels that are never called in some ways, and would not survive such a call; others that claim too much."""

import ctypes
import os
import time

import numpy as np
from kernels import F32, right, theta_of_yarn

import ropecheck

ENGINE = ropecheck.kernel(dtypes="f32", tables="f32", table_widths="half", sources="tables", pairings="half_split",
                          features=("positions", "batch_positions", "in_place", "key", "grouped_heads"),
                          required_features=("positions", "in_place", "key"), layouts="packed", max_position=65535)


def start(array):
    return array.__array_interface__["data"][0]


@ENGINE
def engine(call):
    """q and k in place, in the memory of a product that gives q, k and v. It would not survive another call."""
    q, k = call.q, call.k
    if k is None or not call.in_place or call.positions is None:
        os.abort()
    heads = q.shape[2] + 2 * k.shape[2]
    if q.size and (start(k) - start(q) != 4 * q.shape[2] * q.shape[3] or
                   (q.shape[1] > 1 and q.strides[1] != 4 * heads * q.shape[3])):
        os.abort()
    return right(call)


@ENGINE
def engine_wraps(call):
    call.positions = call.positions & 0x3fff
    return engine(call)


@ENGINE
def engine_spoils_v(call):
    engine(call)
    if call.k.size:
        ctypes.c_float.from_address(start(call.k) + 4 * call.k.shape[2] * call.k.shape[3]).value = 1.5


@ropecheck.kernel(dtypes="f32", sources="computed", pairings="half_split", features=("partial", "axes", "positions"),
                  scalings={"none": {}, "yarn": {"clamp_pairs": False, "truncate": True}}, axis_counts=3,
                  axis_orders="chunked", own_attention_factor=True, length_of_call=True)
def of_a_model(call):
    """Makes the factor by itself, and has axes and yarn in one form. Any other call would end it."""
    if call.positions is not None and call.axes != 3:
        os.abort()
    if call.axis is not None and np.any(np.diff(call.axis) < 0):
        os.abort()
    call.attention_factor = 1.0
    if call.scaling["kind"] == "yarn":
        if call.scaling["clamp_pairs"] or not call.scaling["truncate"]:
            os.abort()
        call.attention_factor = 0.1 * np.log(call.scaling["factor"]) + 1
        call.source, call.inv_freq = "frequencies", theta_of_yarn(call)
    return right(call)


SHAPES = set()


def compile_for_each_shape(call):
    shape = (call.q.shape, call.rotary_dim)
    end = time.process_time() + (0 if shape in SHAPES else 1.5)
    SHAPES.add(shape)
    while time.process_time() < end:
        pass
    return right(call)


PLAIN = {"dtypes": "f32", "sources": "computed", "scalings": "none", "pairings": "half_split", "features": ()}
compiles = ropecheck.kernel(**PLAIN, compiles_each_shape=True)(lambda call: compile_for_each_shape(call))
compiles_unsaid = ropecheck.kernel(**PLAIN)(lambda call: compile_for_each_shape(call))


@ropecheck.kernel(dtypes="f32", sources="computed", scalings="none", features=("positions", "batch_positions"))
def needs_own_positions(call):
    positions = call.position_ids(per_batch=True)
    assert positions.shape == call.q.shape[:2] and positions.flags.c_contiguous and positions.flags.writeable
    assert np.array_equal(positions, call.position_ids())
    call.positions = positions
    return right(call)


@F32
def wrong_in_place(call):
    """Claims more than it can."""
    if call.in_place:
        call.attention_factor += 1
    return right(call)
