"""Compares a fresh set with the committed one in layers, so that a difference is named where it arises.

- inputs, positions: equal
- frequencies: within 1 ulp, because powf may round either way on another CPU
- tables: in both sets within the bound of golden/README.md of cos and sin of that set's own frequencies
- outputs: in both sets bit for bit what the rounding rule makes of that set's own tables
- scores, softmax weights, attended values: in both sets within the bounds of golden/README.md, given the layer before
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

import recompute
from store import Record

UNIT = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
NARROW = (torch.float16, torch.bfloat16)
LAYERS = {
    "input": "inputs",
    "position": "inputs",
    "mask": "inputs",
    "frequencies": "frequencies",
    "table": "tables",
    "output": "outputs",
    "score": "scores",
    "weight": "scores",
    "attended": "scores",
}
# The fields that describe a case; the rest of the entry is judged through the arrays.
DESCRIPTION = (
    "package",
    "version",
    "function",
    "status",
    "reason",
    "instead",
    "spec",
    "sequence_length",
    "position_offset",
    "position_divisor",
    "attention_factor",
    "theta_is_given",
    "score_scale",
    "masked_score",
    "after",
    "beyond_contract",
    "layout",
    "axes",
    "dtype",
    "output_dtype",
    "rounding",
)


@dataclass
class Result:
    compared: Counter = field(default_factory=Counter)
    identical: int = 0
    differences: list[str] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)  # ids of the cases that have a difference


def ulps(a: torch.Tensor, b: torch.Tensor) -> float:
    """Distance in units in the last place of the larger value."""
    a64, b64 = a.to(torch.float64), b.to(torch.float64)
    exponent = torch.frexp(torch.maximum(a64.abs(), b64.abs()))[1]
    ulp = torch.ldexp(torch.full_like(a64, 2 * UNIT[a.dtype]), exponent - 1)
    return float(((a64 - b64).abs() / ulp).nan_to_num(0).max())


def bits_differ(a: torch.Tensor, b: torch.Tensor) -> int:
    integers = {8: torch.int64, 4: torch.int32, 2: torch.int16}[a.element_size()]
    return int((a.contiguous().view(integers) != b.contiguous().view(integers)).sum())


def _tables(fresh: Record, stored: Record) -> Iterator[str]:
    factor, dtype = stored.entry["attention_factor"], stored.arrays["cos"].dtype
    limit = factor * UNIT[torch.float32] * (1 if factor == 1 else 3) + (factor * UNIT[dtype] if dtype in NARROW else 0)
    if stored.entry["status"] == "deviates":
        # Their tables follow no rule of ours.
        pairs = [("fresh against committed", fresh.arrays, stored.arrays)]
    else:
        pairs = [(name, r.arrays, recompute.tables(r)) for name, r in (("fresh", fresh), ("committed", stored))]
    for name in ("q_scale", "k_scale"):  # a power: the libraries of two machines may differ by one ulp
        if name in stored.arrays and ulps(fresh.arrays[name], stored.arrays[name]) > 1:
            yield f"tables: {stored.id} {name}: off by {ulps(fresh.arrays[name], stored.arrays[name]):.2f} ulp"
    for which, actual, expected in pairs:
        for name in recompute.tables_of(stored):
            error = (actual[name].to(torch.float64) - expected[name].to(torch.float64)).abs().max()
            if float(error) > limit:
                off, allowed = float(error) / UNIT[dtype], limit / UNIT[dtype]
                yield f"tables: {stored.id} {name}, {which}: off by {off:.2f} u, allowed {allowed:.2f} u"


def _outputs(fresh: Record, stored: Record) -> Iterator[str]:
    for which, r in (("fresh", fresh), ("committed", stored)):
        for name in ("q", "k"):
            if f"{name}_out" in r.arrays:
                count = bits_differ(r.arrays[f"{name}_out"], recompute.output(r, name))
                if count:
                    rule = r.entry["rounding"]
                    yield f"outputs: {r.id} {name}_out, {which}: {count} values are not what {rule} makes of the tables"
        if "scores" in r.arrays:
            for name, fraction in recompute.attention_errors(r).items():
                if not fraction <= 1:
                    yield f"{name}: {r.id}, {which}: error is {fraction:.3g} times the bound of golden/README.md"


def _arrays(fresh: Record, stored: Record, result: Result) -> Iterator[str]:
    roles = {a["name"]: a["role"] for a in stored.entry["arrays"]}
    if roles.keys() != fresh.arrays.keys():
        yield f"cases: {stored.id}: arrays are {sorted(fresh.arrays)}, committed {sorted(roles)}"
        return
    shaped = True
    for name, role in roles.items():
        new, old = fresh.arrays[name], stored.arrays[name]
        layer = LAYERS[role]
        result.compared[layer] += 1
        if (new.shape, new.dtype) != (old.shape, old.dtype):
            kinds = [f"{t.dtype} {tuple(t.shape)}" for t in (new, old)]
            yield f"{layer}: {stored.id} {name}: {kinds[0]}, committed {kinds[1]}"
            shaped = False
            continue
        differing = bits_differ(new, old)
        result.identical += differing == 0
        if not differing:
            continue
        if layer == "inputs" or stored.entry["rounding"] == "printed":
            yield f"{layer}: {stored.id} {name}: {differing} values differ; they must be equal"
        elif layer == "frequencies" and ulps(new, old) > 1:
            yield f"frequencies: {stored.id} {name}: off by {ulps(new, old):.2f} ulp, allowed 1"
    if shaped and "cos" in roles:
        yield from _tables(fresh, stored)
        yield from _outputs(fresh, stored)


def exact(fresh: Record, stored: Record) -> Iterator[str]:
    """The arrays that differ in some bit, within the bounds or not."""
    for name, old in stored.arrays.items():
        new = fresh.arrays.get(name)
        if new is not None and (new.shape, new.dtype) == (old.shape, old.dtype) and (count := bits_differ(new, old)):
            error = float((new.to(torch.float64) - old.to(torch.float64)).abs().max())
            yield f"exact: {stored.id} {name}: {count} of {old.numel()} values differ, by up to {error:.3g}"


def compare(fresh: dict[str, Record], stored: dict[str, Record], ignored: tuple[str, ...] = ()) -> Result:
    """ignored: description fields that may differ, such as the version when another one is tried."""
    result = Result()

    def note(name: str, line: str) -> None:
        result.differences.append(line)
        result.changed.add(name)

    for name in sorted(fresh.keys() ^ stored.keys()):
        note(name, f"cases: {name} is {'not committed' if name in fresh else 'no longer generated'}")
    for name in sorted(fresh.keys() & stored.keys()):
        for key in DESCRIPTION:
            new, old = fresh[name].entry.get(key), stored[name].entry.get(key)
            if new != old and key not in ignored:
                note(name, f"cases: {name}: {key} is {new!r}, committed {old!r}")
        for line in _arrays(fresh[name], stored[name], result):
            note(name, line)
    return result
