"""The report on another version of a package: the differences, case by case and layer by layer."""

from collections import Counter
from collections.abc import Iterator

import torch

import check
from store import Record

HEAD = ("case", "layer", "array", "values", "worst difference", "")


def _rows(fresh: Record, stored: Record, changed: bool) -> Iterator[tuple[str, ...]]:
    for array in stored.entry["arrays"]:
        name, layer = array["name"], check.LAYERS[array["role"]]
        if name not in fresh.arrays:
            continue  # said by the comparison itself
        new, old = fresh.arrays[name], stored.arrays[name]
        if (new.shape, new.dtype) != (old.shape, old.dtype):
            yield stored.id, layer, name, "all", "another shape or dtype", "changed"
            continue
        differing = check.bits_differ(new, old)
        if not differing:
            continue
        error = (new.to(torch.float64) - old.to(torch.float64)).abs().max()
        ulps = f", {check.ulps(new, old):.3g} ulp" if new.dtype in check.UNIT else ""
        verdict = "changed" if changed else "as another CPU may"
        yield stored.id, layer, name, f"{differing} of {old.numel()}", f"{float(error):.3g}{ulps}", verdict


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def report(fresh: dict[str, Record], stored: dict[str, Record], failures: dict[str, str], versions: list[str]) -> int:
    """Prints it; returns the command's exit code. failures: why a case, or the rest of a source, could not be made."""
    not_made = stored.keys() & failures.keys()
    stored = {k: r for k, r in stored.items() if k in fresh or not failures.keys() & {k, k.split("/")[0]}}
    result = check.compare(fresh, stored, ignored=("version",))
    print(f"tried: {', '.join(versions)}")
    rows = [
        row for k in sorted(fresh.keys() & stored.keys()) for row in _rows(fresh[k], stored[k], k in result.changed)
    ]
    if rows:
        print("\n" + _table([HEAD, *rows]))
    if result.differences:
        print("\n" + "\n".join(result.differences))
    if failures:
        print()
    for name, why in failures.items():
        made = sum(k.startswith(f"{name}/") for k in fresh)
        print(f"{name}: cannot be computed: {why}" if "/" in name else f"{name}: stopped after {made} cases: {why}")
    touched = {row[0] for row in rows}
    counts = Counter(
        "changed" if k in result.changed else "as another CPU may differ" if k in touched else "the same bit for bit"
        for k in fresh.keys() | stored.keys()
    )
    counts["cannot be computed"] = len(not_made)
    counts = +counts
    print(f"\n{sum(counts.values())} cases: {', '.join(f'{n} {what}' for what, n in counts.most_common())}")
    return 1 if result.differences or failures else 0
