#!/usr/bin/env python3
"""Judges every golden case by the formulas of README.md beside it, with only numpy: verify.py [FOLDER] [--list].

Prints each case that is not as the manifest says, or with --list every case. Exit codes: 0 all are; 1 some are not; 2 the
manifest cannot be used.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from bounds import rows_of
from definition import lambda_of, pairs_of

ORDER = "axes batch heads query key seq head_dim feature pair".split()


def content_of(path, most=1 << 32):
    if not path.is_file():  # a pipe may have no writer, a device no end
        raise ValueError(f"{path}: not a regular file; expected one")
    if path.stat().st_size > most:
        raise ValueError(f"{path}: it has {path.stat().st_size} bytes; allowed are {most}")
    return path.read_bytes()


def manifest_in(folder):
    path = folder / "manifest.json"
    try:
        return json.loads(content_of(path, 64 << 20))
    except RecursionError:
        raise ValueError(f"{path}: nested too deep") from None


def load(folder, array):
    path = folder / array["file"]
    if hashlib.sha256(content_of(path)).hexdigest() != array["sha256"]:
        raise ValueError(f"{array['file']}: sha256 is not the manifest's; restore the file from git")
    x = np.load(path, allow_pickle=False)
    if [x.dtype.str, list(x.shape)] != [array["storage"], array["shape"]]:
        raise ValueError(f"{array['file']}: dtype or shape is not the manifest's; restore both from git")
    return (x.astype(np.uint32) << 16).view(np.float32) if array["dtype"] == "bf16" else x


def arrays_of(case, folder):
    """Each array in f64, with its axes in ORDER. Tables are [2, batch, 1, seq, pair]: for both features of a pair."""
    values = {}
    for array in case["arrays"]:
        axes = array["axes"].split(", ")
        x = load(folder, array).astype(np.float64).transpose(np.argsort([ORDER.index(axis) for axis in axes]))
        if array["role"] in ("table", "mask"):  # one for all heads
            x = np.expand_dims(x, -3)
        if array["role"] == "table":
            x = pairs_of(case["spec"], x) if axes[-1] == "feature" else np.array([x, x])
        values[array["name"]] = x
    return values


def half_unit(values, printed):
    # f64 holds neither the printed number nor the power of ten exactly: an exact value at half a unit may not fail.
    scale = np.floor(np.log10(np.abs(values))) if printed["form"] == "scientific" else 0
    return 0.5 * 10.0 ** (scale - printed["digits"]) * (1 + 1e-9)


def faults_of(case, folder):
    faults, info = [], {array["name"]: array for array in case["arrays"]}
    lam = lambda_of(case["spec"])
    if abs(case["attention_factor"] - lam) > 1e-15 * lam:
        faults.append(f"attention_factor: {case['attention_factor']} is not the spec's {lam}")
    dtypes = {name: array["dtype"] for name, array in info.items()}
    for name, values, expected, bound in rows_of(case, arrays_of(case, folder), dtypes):
        if "printed" in info.get(name, {}):
            bound = half_unit(values, info[name]["printed"])
        wrong = ~(np.abs(values - expected) <= bound)
        if np.any(wrong):
            faults.append(f"{name}: {np.sum(wrong)} of {wrong.size} values are beyond their bound")
    return faults


def main(words):
    folder = Path(next((w for w in words if w != "--list"), Path(__file__).resolve().parent))
    try:
        cases = manifest_in(folder)["cases"]
    except (ValueError, KeyError, TypeError) as error:
        print(f"verify.py: the manifest cannot be used: {error}")
        return 2
    wrong = conform = 0
    for case in cases:
        try:
            faults = faults_of(case, folder)
            is_as_said = (case["status"] == "conforms") == (not faults)
        except ValueError as error:  # a damaged file: neither status is shown
            faults, is_as_said = [str(error)], False
        conform += not faults
        wrong += not is_as_said
        if not is_as_said or "--list" in words:
            found = "; ".join(faults) or "no fault found"
            print(f"{'' if is_as_said else 'WRONG '}{case['id']}: {case['status']}; {found}")
    verdict = f"{wrong} are not as the manifest says" if wrong else "all as the manifest says"
    arrays = sum(len(case["arrays"]) for case in cases)
    print(f"{len(cases)} cases, {arrays} arrays: {conform} conform, {len(cases) - conform} deviate; {verdict}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
