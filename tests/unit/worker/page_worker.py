#!/usr/bin/env python3
"""A worker written only from tools/worker/protocol/PROTOCOL.md and impls/include/rope_kernel.h.

It proves that the page is enough: nothing here is taken from ropecheck's sources. Only the standard library is used.
Everything is computed in double and rounded once to the storage type.

    ropecheck verify "cmd:python3 tests/unit/worker/page_worker.py"
"""

import json
import math
import os
import struct
import sys
import threading
import time
import traceback

STATUS_OK, STATUS_UNSUPPORTED, STATUS_INVALID = 0, 1, 2
SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i64": 8}
LETTERS = {"f64": "d", "f32": "f", "f16": "e", "i32": "i", "i64": "q"}
FLOATS = ("f64", "f32", "f16", "bf16")

CLAIMS = {
    "dtypes": {"f64": ["f64"], "f32": ["f32"], "f16": ["f16", "f32"], "bf16": ["bf16", "f32"]},
    "tables": ["f64", "f32", "f16", "bf16"],
    "theta": ["f32", "f64"],
    "positions": ["i32", "i64"],
    "pairings": ["half_split", "interleaved"],
    "sources": ["tables", "frequencies", "computed"],
    "half_tables": True,
    "full_tables": True,
    "scalings": ["none", "linear", "ntk"],
    "features": ["partial", "positions", "batch_positions", "in_place", "strided", "key", "grouped_heads", "backward",
                 "axes", "attention_factor", "unequal_halves", "offset", "robust",
                 "any_strides", "seqlen_offsets", "cu_seqlens"],
    "alignment": 1,
    "max_position": 1048576,
    "device": "cpu",
}


class Refusal(Exception):
    """A call that ends with a status other than ROPE_OK."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


def require(condition, status=STATUS_INVALID):
    if not condition:
        raise Refusal(status)


# Storage types


def unpack(dtype, raw):
    """The numbers in raw, exactly."""
    count = len(raw) // SIZES[dtype]
    if dtype == "bf16":
        bits = [half << 16 for half in struct.unpack(f"={count}H", raw)]
        return struct.unpack(f"={count}f", struct.pack(f"={count}I", *bits))
    return struct.unpack(f"={count}{LETTERS[dtype]}", raw)


def nearest_bf16(x):
    """x rounded once to the nearest bf16, ties to even; the result is a double that is exact in bf16."""
    if not math.isfinite(x):
        return x
    # 8 significant bits; below 2^-126 the spacing stays at 2^-133.
    spacing = max(math.frexp(x)[1] - 8, -133)
    return math.copysign(math.ldexp(round(math.ldexp(x, -spacing)), spacing), x)


def pack_one(letter, x):
    try:
        return struct.pack("=" + letter, x)
    except OverflowError:
        return struct.pack("=" + letter, math.copysign(math.inf, x))


def pack(dtype, values):
    """Rounds to nearest even, once; a value beyond the largest number becomes infinite."""
    letter = LETTERS.get(dtype, "f")
    if dtype == "bf16":
        values = [nearest_bf16(x) for x in values]
    try:
        raw = struct.pack(f"={len(values)}{letter}", *values)
    except OverflowError:
        raw = b"".join(pack_one(letter, x) for x in values)
    if dtype == "bf16":
        upper = 2 if sys.byteorder == "little" else 0
        raw = b"".join(raw[i + upper:i + upper + 2] for i in range(0, len(raw), 4))
    return raw


class Tensor:
    """One tensor of a call, in the memory file that it lies in."""

    def __init__(self, described, files):
        self.dtype = described["dtype"]
        require(self.dtype in SIZES)
        self.size = SIZES[self.dtype]
        self.shape = described["shape"]
        self.strides = described["strides"]
        self.null = described.get("null", False)
        require(len(self.shape) == len(self.strides))
        self.file = files["inputs" if described.get("ro") else "outputs"]
        self.start = described["map"][0] + described["at"]

    def place(self, index):
        return self.start + self.size * sum(i * stride for i, stride in zip(index, self.strides))

    def row(self, *index):
        """The bytes of the last dimension at this index of the others."""
        first, count, step = self.place(index), self.shape[-1], self.strides[-1]
        if step == 1:
            return self.exactly(first, count * self.size)
        return b"".join(self.exactly(first + i * step * self.size, self.size) for i in range(count))

    def exactly(self, offset, length):
        raw = os.pread(self.file, length, offset)
        if len(raw) != length:
            raise EOFError(f"{length} bytes wanted at {offset}, {len(raw)} came")
        return raw

    def numbers(self, *index):
        return unpack(self.dtype, self.row(*index))

    def write_row(self, raw, *index):
        first, step = self.place(index), self.strides[-1]
        pieces = [(first, raw)]
        if step != 1:
            pieces = [(first + i * step * self.size, raw[i * self.size:(i + 1) * self.size])
                      for i in range(self.shape[-1])]
        for offset, piece in pieces:
            if os.pwrite(self.file, piece, offset) != len(piece):
                raise OSError(f"{len(piece)} bytes at {offset} could not be written")


# Angles


def frequencies(attrs):
    """theta of each pair where base and scaling are given."""
    rotary_dim, base, scaling = attrs["rotary_dim"], float(attrs["base"]), attrs["scaling"]
    kind = scaling["kind"]
    require(isinstance(kind, str))
    require(kind in CLAIMS["scalings"], STATUS_UNSUPPORTED)
    require(base > 0 and math.isfinite(base))
    factor = 1.0
    if kind != "none":
        factor = float(scaling.get("factor", 0))
        require(factor > 0 and math.isfinite(factor))
    if kind == "ntk" and rotary_dim > 2:
        base *= factor ** (rotary_dim / (rotary_dim - 2))
    divisor = factor if kind == "linear" else 1.0
    return [base ** (-2 * p / rotary_dim) / divisor for p in range(rotary_dim // 2)]


class Angles:
    """cos and sin of the two features of every pair, from the positions on the axes."""

    def __init__(self, attrs, tensors):
        self.attrs, self.rotary_dim = attrs, attrs["rotary_dim"]
        self.half = self.rotary_dim // 2
        self.positions = tensors.get("positions")
        self.axes = self.positions.shape[0] if self.positions else 1
        self.starts = tensors["seqlen_offsets"].numbers() if "seqlen_offsets" in tensors else None
        self.borders = tensors["cu_seqlens"].numbers() if "cu_seqlens" in tensors else None
        self.axis = [0] * self.half
        if "axis" in tensors:
            require(tensors["axis"].shape == [self.half])
            self.axis = tensors["axis"].numbers()
        require(not self.positions or all(0 <= a < self.axes for a in self.axis))
        self.known = {}
        self.theta = self.cos = self.sin = None
        source = attrs["source"]
        if source == "tables":
            require("cos" in tensors and "sin" in tensors)
            self.cos, self.sin = tensors["cos"], tensors["sin"]
            require(self.cos.dtype in FLOATS and self.sin.dtype == self.cos.dtype)
            require(self.cos.shape == self.sin.shape and self.cos.shape[1] in (self.half, self.rotary_dim))
        elif source == "frequencies":
            require("theta" in tensors)
            require(tensors["theta"].dtype in CLAIMS["theta"] and tensors["theta"].shape == [self.half])
            self.theta = tensors["theta"].numbers()
        else:
            require(source == "computed")
            self.theta = frequencies(attrs)

    def at(self, batch, token):
        """(cos, sin) of first features, (cos, sin) of second features; lists of rotary_dim/2."""
        if self.positions is None:
            where = (self.counted(batch, token),)
        else:
            row = batch if self.positions.shape[1] > 1 else 0
            where = tuple(self.read_position(axis, row, token) for axis in range(self.axes))
        if where not in self.known:
            self.known[where] = self.from_tables(where) if self.cos else self.from_theta(where)
        return self.known[where]

    def counted(self, batch, token):
        """The start of the token's sequence, and its place there."""
        sequence, first = batch, 0
        if self.borders:
            sequence = max(i for i, border in enumerate(self.borders[:-1]) if border <= token)
            first = self.borders[sequence]
        start = self.starts[sequence] if self.starts else self.attrs["offset"]
        return start + token - first

    def read_position(self, axis, row, token):
        return unpack(self.positions.dtype,
                      self.positions.exactly(self.positions.place((axis, row, token)), self.positions.size))[0]

    def of_pair(self, where, p):
        return where[self.axis[p]] if self.positions else where[0]

    def from_theta(self, where):
        phi = [self.of_pair(where, p) * self.theta[p] for p in range(self.half)]
        cos, sin = [math.cos(a) for a in phi], [math.sin(a) for a in phi]
        return cos, sin, cos, sin

    def from_tables(self, where):
        rows = {}
        for m in {self.of_pair(where, p) for p in range(self.half)}:
            require(0 <= m < self.cos.shape[0])
            rows[m] = self.cos.numbers(m), self.sin.numbers(m)
        first, second = range(self.half), range(self.half)
        if self.cos.shape[1] == self.rotary_dim:
            first, second = halves(self.attrs, self.half)
        pick = [rows[self.of_pair(where, p)] for p in range(self.half)]
        return tuple([pick[p][table][columns[p]] for p in range(self.half)]
                     for columns in (first, second) for table in (0, 1))


def halves(attrs, half):
    """The features first[p] and second[p]."""
    if attrs["pairing"] == "interleaved":
        return range(0, 2 * half, 2), range(1, 2 * half, 2)
    return range(half), range(half, 2 * half)


# The rotation


def rotate(x, angles, attrs):
    """One head, forward or backward."""
    cos1, sin1, cos2, sin2 = angles
    half, factor = len(cos1), float(attrs["attention_factor"])
    first, second = halves(attrs, half)
    y = list(x)
    for p in range(half):
        a, b = x[first[p]], x[second[p]]
        if attrs["direction"] == "forward":
            y[first[p]] = factor * (a * cos1[p] - b * sin1[p])
            y[second[p]] = factor * (b * cos2[p] + a * sin2[p])
        else:
            # The transpose: where the halves of a table differ, each sine comes from the other feature.
            y[first[p]] = factor * (a * cos1[p] + b * sin2[p])
            y[second[p]] = factor * (b * cos2[p] - a * sin1[p])
    return y


def check(attrs, tensors):
    """Refuses calls that the contract does not allow, before anything is written."""
    require("q" in tensors and not any(x.null for x in tensors.values()))
    q, rotary_dim = tensors["q"], attrs["rotary_dim"]
    require(len(q.shape) == 4 and all(extent >= 0 for extent in q.shape))
    require(q.shape[3] % 2 == 0 and rotary_dim % 2 == 0 and 2 <= rotary_dim <= q.shape[3])
    require(attrs["pairing"] in ("half_split", "interleaved"))
    require(attrs["direction"] in ("forward", "backward"))
    require(attrs["device"] in ("cpu", "cuda"))
    require(attrs["device"] == "cpu", STATUS_UNSUPPORTED)
    for name in ("q", "k"):
        if name not in tensors:
            continue
        x = tensors[name]
        y = tensors.get(name if attrs["in_place"] else name + "_out")
        require(x.dtype in FLOATS and x.dtype == q.dtype and len(x.shape) == 4)
        require([x.shape[i] for i in (0, 1, 3)] == [q.shape[i] for i in (0, 1, 3)])
        require(y is not None and y.shape == x.shape)
        require(y.dtype in CLAIMS["dtypes"][x.dtype], STATUS_UNSUPPORTED)
    positions = tensors.get("positions")
    if positions:
        require(positions.dtype in CLAIMS["positions"] and len(positions.shape) == 3)
        require(positions.shape[0] >= 1 and positions.shape[1] in (1, q.shape[0]) and positions.shape[2] == q.shape[1])


def apply(attrs, tensors):
    """The call; raises Refusal. All angles are read first, so that a refused call has written nothing."""
    check(attrs, tensors)
    source = Angles(attrs, tensors)
    batches, tokens = tensors["q"].shape[:2]
    angles = {(b, s): source.at(b, s) for b in range(batches) for s in range(tokens)}
    rotary_dim = attrs["rotary_dim"]
    for name in ("q", "k"):
        if name not in tensors:
            continue
        x, y = tensors[name], tensors[name if attrs["in_place"] else name + "_out"]
        for b in range(batches):
            for s in range(tokens):
                for head in range(x.shape[2]):
                    raw = x.row(b, s, head)
                    turned = pack(y.dtype, rotate(unpack(x.dtype, raw), angles[b, s], attrs))
                    if x.dtype == y.dtype:  # the rest bit for bit, NaNs as well
                        turned = turned[:rotary_dim * y.size] + raw[rotary_dim * x.size:]
                    y.write_row(turned, b, s, head)


# The protocol


class Worker:
    def __init__(self, environment):
        given = dict(word.split("=", 1) for word in environment.split())
        if given.get("v") != "1":
            raise SystemExit("page_worker speaks only version 1 of the worker protocol")
        self.files = {name: int(given[name]) for name in ("inputs", "outputs")}
        self.protocol, self.life = int(given["protocol"]), int(given["life"])
        self.plans = {}

    def say(self, message):
        self.send(json.dumps(message).encode("ascii") + b"\n")

    def send(self, raw):
        while raw:
            raw = raw[os.write(self.protocol, raw):]

    def hello(self):
        self.say({"v": 1, "op": "hello", "name": "page_worker", "kind": "python", "claims": CLAIMS, "packed": True})

    def watch_life(self):
        os.read(self.life, 1)
        os._exit(0)

    def answer(self, message):
        if "attrs" in message:
            self.plans = {message["plan"]: message}
        call = self.plans[message["plan"]]
        try:
            started = time.perf_counter_ns()
            status = STATUS_OK
            try:
                require(call["fn"] == "apply", STATUS_UNSUPPORTED)
                self.run(call)
            except Refusal as refusal:
                status = refusal.status
            took = time.perf_counter_ns() - started
            self.say({"id": message["id"], "ok": True, "status": status, "ns": took})
        except Exception as error:  # any exception of the kernel is an answer, not the end of the worker
            said = {"type": type(error).__name__, "msg": str(error), "trace": traceback.format_exc()[-4000:]}
            self.say({"id": message["id"], "ok": False, "error": said})

    def run(self, call):
        tensors = {described["name"]: Tensor(described, self.files) for described in call["t"]}
        apply(call["attrs"], tensors)

    def serve(self):
        threading.Thread(target=self.watch_life, daemon=True).start()
        self.hello()
        with os.fdopen(self.protocol, "rb", closefd=False) as lines:
            for line in lines:
                message = json.loads(line)
                if message["op"] == "bye":
                    return
                if message["op"] == "call":
                    self.answer(message)


if __name__ == "__main__":
    Worker(os.environ["ROPECHECK_WORKER"]).serve()
