"""Arrays of the golden files, as nested lists. The test of the pictures may have no numpy, so nothing here needs it."""

import array
import ast
import hashlib
import json
import math
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "golden"
CASES = {case["id"]: case for case in json.loads((FOLDER / "manifest.json").read_text())["cases"]}
CODES = {"<f4": "f", "<f8": "d", "<i8": "q"}


def values(case, name):
    """The array of the case, a list for each axis."""
    wanted = next(a for a in CASES[case]["arrays"] if a["name"] == name)
    content = (FOLDER / wanted["file"]).read_bytes()
    if hashlib.sha256(content).hexdigest() != wanted["sha256"]:
        sys.exit(f"{wanted['file']}: sha256 is not the manifest's; restore the file from git")
    start = 10 + int.from_bytes(content[8:10], "little")  # version 1.0 of .npy, which all golden files have
    header = ast.literal_eval(content[10:start].decode())
    flat = array.array(CODES[header["descr"]], content[start:])
    if sys.byteorder == "big":
        flat.byteswap()
    return _nested(list(flat), header["shape"])


def _nested(flat, shape):
    if len(shape) < 2:
        return flat
    size = math.prod(shape[1:])
    return [_nested(flat[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def pairs(row):
    """(x1, x2) of each pair of an interleaved row, as the report has them."""
    return list(zip(row[::2], row[1::2], strict=True))
