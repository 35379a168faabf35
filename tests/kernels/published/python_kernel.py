"""Calls of the contract to a function in Python, as the worker of the Python package makes them.

A test is made for the interface of its own project. So a call is put into the form that the kernel claims: tables in
its width, positions in its integer type, results returned where it does not write in place. A call that it does not
claim even so is not made."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from published.contract import Arguments, Computed, Frequencies, Tables

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "python"))
from ropecheck.names import SIZES  # noqa: E402
from ropecheck.tensors import STORAGE  # noqa: E402

PAGE = os.sysconf("SC_PAGESIZE")
RIGHT, FAILED = 0, 1


@dataclass
class Memory:
    """One of the two files that hold the tensors of a call."""

    file: int
    read_only: bool
    end: int = 0
    tensors: list = field(default_factory=list)

    def place(self, name, dtype, like, values):
        """A tensor of this shape and these strides, in whole pages of its own. Returns numpy's view of it."""
        size = SIZES[dtype]
        strides = [stride // like.itemsize for stride in like.strides]
        span = sum((extent - 1) * stride for extent, stride in zip(like.shape, strides)) + 1 if like.size else 0
        length = max(-(-span * size // PAGE), 1) * PAGE
        start, self.end = self.end, self.end + length
        os.truncate(self.file, max(self.end, os.fstat(self.file).st_size))
        pages = np.memmap(os.fdopen(os.dup(self.file), "r+b"), np.uint8, "r+", start, (length,))
        view = np.ndarray(like.shape, STORAGE[dtype], pages, 0, [stride * size for stride in strides])
        view[...] = values
        self.tensors.append({"name": name, "dtype": dtype, "shape": list(like.shape), "strides": strides,
                             "map": [start, length], "at": 0, "ro": int(self.read_only)})
        return view


def is_dense(array):
    return array.flags.c_contiguous


def needed_features(call: Arguments):
    """The features that this call takes, by the contract's names; in place counts apart."""
    tensors = [each for each in (call.q, call.k, call.q_out, call.k_out) if each is not None]
    if call.rotary_dim < call.q.shape[3]:
        yield "partial"
    if isinstance(call.positions, int):
        yield from ["offset"] if call.positions else []
    else:
        yield "positions"
        rows = call.positions if call.positions.ndim == 3 else call.positions[None]
        yield from ["batch_positions"] if (rows != rows[:, :1]).any() else []
        yield from ["axes"] if rows.shape[0] > 1 else []
    if call.axis is not None:
        yield "axes"
    if not all(map(is_dense, tensors)):
        yield "strided"
    if call.k is not None:
        yield "key"
        yield from ["grouped_heads"] if call.k.shape[2] != call.q.shape[2] else []
    if call.backward:
        yield "backward"
    if call.attention_factor != 1:
        yield "attention_factor"


def largest_position(call: Arguments):
    if isinstance(call.positions, int):
        return call.positions + call.q.shape[1] - 1
    return int(call.positions.max(initial=0))


@dataclass
class PythonKernel:
    """`server`: ropecheck's, with the kernel and its claims. `pairings`, `dtypes`: what was judged, if not all."""

    server: object
    pairings: tuple = ()
    dtypes: tuple = ()

    def __post_init__(self):
        from ropecheck.protocol import Files

        self.claims = self.server.claims
        self.files = Files(-1, os.memfd_create("inputs"), os.memfd_create("outputs"), -1)

    def claims_case(self, case):
        return all(map(self.claims_call, case.calls))

    def claims_call(self, call: Arguments):
        claims, head_dim = self.claims, call.q.shape[3]
        pairing = "interleaved" if call.interleaved else "half_split"
        return (
            call.dtype in claims["dtypes"].get(call.dtype, ())
            and (not self.dtypes or call.dtype in self.dtypes)
            and pairing in (self.pairings or claims["pairings"])
            and pairing in claims["pairings"]
            and set(needed_features(call)) <= set(claims["features"])
            and (not claims["head_dims"] or head_dim in claims["head_dims"])
            and call.rotary_dim >= claims["least_rotary_dim"]
            and largest_position(call) <= claims["max_position"]
            and (isinstance(call.positions, int) or bool(claims["positions"]))
            and self._claims_angles(call.angles)
        )

    def _claims_angles(self, angles):
        claims = self.claims
        if isinstance(angles, Tables):
            return "tables" in claims["sources"] and angles.dtype in claims["tables"]
        if isinstance(angles, Frequencies):
            return "frequencies" in claims["sources"] and "f64" in claims["theta"]
        return ("computed" in claims["sources"] and angles.scaling in claims["scalings"]
                and claims["base"] in (0, angles.base))

    def __call__(self, call: Arguments):
        """The status, after the results were written to where the call wants them."""
        inputs, outputs = Memory(self.files.inputs, True), Memory(self.files.outputs, False)
        in_place = call.q_out is None and "in_place" in self.claims["features"]
        results = []
        for name, given, wanted in (("q", call.q, call.q_out), ("k", call.k, call.k_out)):
            if given is None:
                continue
            wanted = given if wanted is None else wanted
            if in_place:
                results.append((wanted, outputs.place(name, call.dtype, given, given)))
            else:
                inputs.place(name, call.dtype, given, given)
                results.append((wanted, outputs.place(f"{name}_out", call.dtype, wanted, wanted)))
        self._place_positions(call, inputs)
        self._place_angles(call, inputs)
        plan = {"fn": "apply", "attrs": self._attributes(call, in_place), "t": inputs.tensors + outputs.tensors}
        answer = self.server.answer(plan, self.files)
        if not answer.get("ok"):
            return FAILED
        for wanted, found in results:
            wanted[...] = found
        return answer["status"]

    def _place_positions(self, call, inputs):
        if not isinstance(call.positions, int):
            rows = np.ascontiguousarray(call.positions if call.positions.ndim == 3 else call.positions[None])
            own = "i64" if rows.itemsize == 8 else "i32"
            inputs.place("positions", own if own in self.claims["positions"] else self.claims["positions"][0], rows, rows)
        if call.axis is not None:
            inputs.place("axis", "i32", call.axis, call.axis)

    def _place_angles(self, call, inputs):
        angles = call.angles
        if isinstance(angles, Tables):
            for name in ("cos", "sin"):
                table = self._in_its_width(getattr(angles, name), call)
                inputs.place(name, angles.dtype, table, table)
        elif isinstance(angles, Frequencies):
            inputs.place("theta", "f64", angles.theta, angles.theta)
        else:
            for name in ("short_factor", "long_factor"):
                if name in angles.parameters:
                    inputs.place(name, "f64", angles.parameters[name], angles.parameters[name])

    def _in_its_width(self, table, call):
        """A column for each pair, or for each feature."""
        pairs = call.rotary_dim // 2
        is_half = table.shape[1] == pairs
        if self.claims["half_tables" if is_half else "full_tables"]:
            return table
        if is_half:
            return np.repeat(table, 2, axis=1) if call.interleaved else np.concatenate([table, table], axis=1)
        return np.ascontiguousarray(table[:, ::2] if call.interleaved else table[:, :pairs])

    def _attributes(self, call, in_place):
        angles = call.angles
        computed = isinstance(angles, Computed)
        positions = call.positions
        scaling = {"kind": "none", "yarn_truncate": 1, "yarn_clamp_pairs": 0}
        if computed:
            listed = {key: value.tolist() if isinstance(value, np.ndarray) else value
                      for key, value in angles.parameters.items()}
            scaling |= {"kind": angles.scaling, **listed}
        return {
            "rotary_dim": call.rotary_dim,
            "axes": 1 if isinstance(positions, int) or positions.ndim == 2 else positions.shape[0],
            "offset": positions if isinstance(positions, int) else 0,
            "sequence_length": angles.sequence_length if computed else largest_position(call) + 1,
            "device_index": 0,
            "pairing": "interleaved" if call.interleaved else "half_split",
            "direction": "backward" if call.backward else "forward",
            "source": {Tables: "tables", Frequencies: "frequencies", Computed: "computed"}[type(angles)],
            "device": "cpu",
            "attention_factor": call.attention_factor,
            "base": angles.base if computed else 0,
            "in_place": in_place,
            "scaling": scaling,
        }


class PythonLibrary:
    """Loads each kernel in the process that calls it: libraries with threads do not survive a fork."""

    def __init__(self, kernels):
        self.kernels = {kernel.name: kernel for kernel in kernels}

    def kernel(self, name):
        from ropecheck import conventions
        from ropecheck.loading import load
        from ropecheck.memory import GuardedMemory
        from ropecheck.serving import Server

        kernel = self.kernels[name]
        function = load(kernel.subject)
        adapted = conventions.adapt(function, kernel.convention) if kernel.convention else function
        options = dict(zip(kernel.options, kernel.options[1:]))
        return PythonKernel(Server(adapted, GuardedMemory(), name, function=function),
                            *(tuple(filter(None, options.get(each, "").split(","))) for each in ("--pairing", "--dtype")))
