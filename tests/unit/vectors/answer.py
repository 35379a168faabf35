#!/usr/bin/env python3
"""A program that answers exported calls, written only from docs/kernel-as-files.md: answer.py FOLDER [FAULT].

It proves that the page is enough: nothing here is taken from ropecheck. Everything is computed in f64 and rounded once.
Scaling rules: none and linear. Exit codes: 0 answered, 2 a call that it cannot do, 77 numpy is missing.

FAULT plants a mistake for the judge to find, such as the other pairing or a position too many; see FAULTS.
"""

import json
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    sys.exit(77)

FAULTS = ("other_pairing", "position_too_many", "sine_negated", "factor_forgotten", "k_as_q_heads", "first_batch_only",
          "bits_by_call", "stale_tables", "bf16_cut_off", "nothing_rotated")


class Memory:
    """State that a program may wrongly keep from call to call."""

    def __init__(self):
        self.calls = 0
        self.turns = {}


def read(folder, array):
    values = np.load(folder / array["file"], allow_pickle=False)
    if array["dtype"] == "bf16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values


def stored(values, dtype, fault):
    """Rounded once to the type of the result, as the file has it."""
    if dtype != "bf16":
        with np.errstate(over="ignore"):
            return values.astype({"f64": "<f8", "f32": "<f4", "f16": "<f2"}[dtype])
    # By way of f32 rounded to odd, so that f64 to bf16 is rounded only once.
    with np.errstate(over="ignore"):
        near = values.astype(np.float32)
    bits = near.view(np.uint32)
    wide = near.astype(np.float64)
    lower = np.where(np.abs(wide) > np.abs(values), bits - 1, bits)
    odd = np.where((wide != values) & np.isfinite(near), lower | 1, bits).astype(np.uint32)
    if fault == "bf16_cut_off":
        rounded = odd >> 16
    else:
        rounded = (odd + 0x7FFF + (odd >> 16 & 1)) >> 16
    return np.where(np.isnan(near), bits >> 16 | 0x40, rounded).astype("<u2")


def positions_of(attrs, arrays, batches, tokens, axes):
    """[axes, batch, seq]"""
    if "positions" in arrays:
        return np.broadcast_to(arrays["positions"].astype(np.int64), (axes, batches, tokens))
    return np.broadcast_to(attrs["offset"] + np.arange(tokens), (axes, batches, tokens))


def frequencies(attrs, arrays, pairs):
    if attrs["source"] == "frequencies":
        return arrays["theta"].astype(np.float64)
    kind = attrs["scaling"]["kind"]
    if kind not in ("none", "linear"):
        sys.exit(f"answer.py: scaling {kind} is not known here")
    theta = attrs["base"] ** (-np.arange(pairs) / pairs)
    return theta / attrs["scaling"].get("factor", 1) if kind == "linear" else theta


def turns(attrs, arrays, shape, first, second, fault):
    """cos and sin of the first and of the second features, each [batch, seq, pairs]."""
    batches, tokens = shape[:2]
    pairs = attrs["rotary_dim"] // 2
    axis = arrays.get("axis", np.zeros(pairs, np.int32))
    axes = arrays["positions"].shape[0] if "positions" in arrays else int(axis.max(initial=0)) + 1
    where = positions_of(attrs, arrays, batches, tokens, axes)
    if fault == "position_too_many":
        where = where + 1
    position = np.moveaxis(where[axis], 0, -1)
    if attrs["source"] != "tables":
        # In f64 numpy's own sine is off by more than one unit in the last place if it uses AVX-512.
        phi = (position * frequencies(attrs, arrays, pairs)).astype(np.longdouble)
        cos, sin = np.cos(phi).astype(np.float64), np.sin(phi).astype(np.float64)
        return cos, sin, cos, sin
    rows, width = arrays["cos"].shape
    position = np.minimum(position, rows - 1)
    columns = (first, second) if width == attrs["rotary_dim"] else (range(pairs), range(pairs))
    return tuple(arrays[name].astype(np.float64)[position, list(column)] for column in columns for name in ("cos", "sin"))


def rotated(x, turn, attrs, first, second, fault):
    cos1, sin1, cos2, sin2 = (t[:, :, None, :] for t in turn)
    if fault == "sine_negated":
        sin1, sin2 = -sin1, -sin2
    factor = 1 if fault == "factor_forgotten" else attrs["attention_factor"]
    a, b = x[..., first].astype(np.float64), x[..., second].astype(np.float64)
    y = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        if attrs["direction"] == "forward":
            y[..., first], y[..., second] = factor * (a * cos1 - b * sin1), factor * (b * cos2 + a * sin2)
        else:
            y[..., first], y[..., second] = factor * (a * cos1 + b * sin2), factor * (b * cos2 - a * sin1)
    return y


def answer(folder, call, fault, memory):
    attrs = call["attrs"]
    memory.calls += 1
    inputs = {array["name"]: array for array in call["inputs"]}
    arrays = {name: read(folder, array) for name, array in inputs.items()}
    r = attrs["rotary_dim"]
    interleaved = attrs["pairing"] == "interleaved"
    if fault == "other_pairing":
        interleaved = not interleaved
    first, second = (range(0, r, 2), range(1, r, 2)) if interleaved else (range(r // 2), range(r // 2, r))
    first, second = list(first), list(second)
    turn = turns(attrs, arrays, arrays["q"].shape, first, second, fault)
    first, second = [attrs["rotary_offset"] + j for j in first], [attrs["rotary_offset"] + j for j in second]
    if fault == "stale_tables":
        turn = memory.turns.setdefault((turn[0].shape, attrs["source"]), turn)
    for output in call["outputs"]:
        name = output["name"][0]
        x = arrays[name]
        y = rotated(x, turn, attrs, first, second, fault)
        if fault == "nothing_rotated":
            y = x.astype(np.float64)
        if fault == "first_batch_only":
            y[1:] = x[1:]
        if fault == "k_as_q_heads" and name == "k":
            y[:, :, 1:] = y[:, :, :1]
        result = stored(y, output["dtype"], fault)
        if output["dtype"] == inputs[name]["dtype"]:  # the rest bit for bit, NaNs as well
            rest = [j for j in range(x.shape[-1]) if not 0 <= j - attrs["rotary_offset"] < r]
            result[..., rest] = np.load(folder / inputs[name]["file"])[..., rest]
        if fault == "bits_by_call" and result.size:
            bits = result.reshape(-1).view(f"<u{result.itemsize}")
            bits[0] = int(bits[0]) ^ (memory.calls & 1)
        assert list(result.shape) == output["shape"] and result.dtype.str == output["storage"]
        np.save(folder / output["file"], result)


def main():
    folder = Path(sys.argv[1])
    fault = sys.argv[2] if len(sys.argv) > 2 else ""
    if fault and fault not in FAULTS:
        sys.exit(f"answer.py: \"{fault}\" is none of {', '.join(FAULTS)}")
    with open(folder / "manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    memory = Memory()
    for case in manifest["cases"]:
        for call in case["calls"]:
            answer(folder, call, fault, memory)


if __name__ == "__main__":
    main()
