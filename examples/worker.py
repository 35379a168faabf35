#!/usr/bin/env python3
"""A worker in plain Python, without numpy: half_split, f32, cos and sin given. It speaks tools/worker/protocol/PROTOCOL.md.

    tools/run verify "cmd:python3 examples/worker.py"
"""

import json
import os
from array import array
from itertools import product
from math import prod

OK, INVALID_ARGUMENT = 0, 2
CLAIMS = {"dtypes": {"f32": ["f32"]}, "tables": ["f32"], "pairings": ["half_split"], "sources": ["tables"],
          "half_tables": True, "features": ["offset"], "max_position": 2**31 - 1}


def place(tensor):
    """Where a tensor begins in its file. No strides are claimed, so it is one piece."""
    return tensor["map"][0] + tensor["at"]


def read(inputs, tensor):
    return array("f", os.pread(inputs, 4 * prod(tensor["shape"]), place(tensor)))


def apply(attrs, tensors, inputs, outputs):
    """Rotates q into q_out; returns a rope_status."""
    if any(name not in tensors or "null" in tensors[name] for name in ("q", "q_out", "cos", "sin")):
        return INVALID_ARGUMENT
    batches, tokens, heads, head_dim = tensors["q"]["shape"]
    half, offset = head_dim // 2, attrs["offset"]
    asked = [attrs[key] for key in ("rotary_dim", "pairing", "direction", "source")]
    if asked != [head_dim, "half_split", "forward", "tables"] or offset < 0:
        return INVALID_ARGUMENT
    q, cos, sin = (read(inputs, tensors[name]) for name in ("q", "cos", "sin"))
    first = 0  # index of the row's first element
    for _, token, _ in product(range(batches), range(tokens), range(heads)):
        angle = (offset + token) * half  # index of the position's row of cos and sin
        if angle >= len(cos):
            return INVALID_ARGUMENT
        for p in range(half):
            a, b, c, s = q[first + p], q[first + p + half], cos[angle + p], sin[angle + p]
            q[first + p], q[first + p + half] = a * c - b * s, b * c + a * s
        first += head_dim
    os.pwrite(outputs, q, place(tensors["q_out"]))
    return OK


def serve(protocol, inputs, outputs):
    lines = open(protocol, closefd=False)

    def say(message):
        os.write(protocol, json.dumps(message).encode() + b"\n")

    say({"v": 1, "op": "hello", "name": "worker.py", "kind": "python", "claims": CLAIMS})
    for line in lines:
        message = json.loads(line)
        if message["op"] != "call":
            break
        if "attrs" in message:  # else the last call again, on other numbers
            attrs, tensors = message["attrs"], {tensor["name"]: tensor for tensor in message["t"]}
        say({"id": message["id"], "ok": True, "status": apply(attrs, tensors, inputs, outputs)})


if __name__ == "__main__":
    given = dict(word.split("=") for word in os.environ["ROPECHECK_WORKER"].split())
    serve(*(int(given[name]) for name in ("protocol", "inputs", "outputs")))
