"""errors.json: what the real code answers where it gives no rotation. sources/errors.py has the calls."""

import contextlib
import importlib.metadata
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path

FILE = "errors.json"
PACKAGES = {"labml": "labml-nn", "lucidrains": "rotary-embedding-torch", "published": "torch"}
LEVELS = {"description": 1, "version": 2}  # of update.LEVELS; a change of any other field is major


def make(only: str | None) -> dict[str, dict]:
    with contextlib.redirect_stdout(io.StringIO()):
        from sources import errors

        made = {}
        for source, package in PACKAGES.items():
            if only in (None, source):
                for answer in errors.answers(source):
                    made[answer["id"]] = answer | {"package": package, "version": importlib.metadata.version(package)}
    return made


def read(folder: Path) -> dict[str, dict]:
    path = folder / FILE
    return {entry["id"]: entry for entry in json.loads(path.read_text())} if path.exists() else {}


def _values_agree(new: dict, old: dict) -> bool:
    """Within four units in the last place of f32: another CPU may round a cosine the other way."""
    same = new["shape"] == old["shape"] and len(new["values"]) == len(old["values"])
    return same and all(
        math.isclose(a, b, rel_tol=2.0**-22, abs_tol=2.0**-22) for a, b in zip(new["values"], old["values"], strict=True)
    )


def changes(new: dict, old: dict) -> Iterator[tuple[int, str, str]]:
    """Each field in which two answers differ: the level of the change, the field, both values."""
    for key in ("function", "package", "version", "description", "raises", "returns"):
        a, b = new.get(key), old.get(key)
        if a != b and not (key == "returns" and a and b and _values_agree(a, b)):
            yield LEVELS.get(key, 3), key, f"{key} is {a!r}, was {b!r}"


def differences(
    fresh: dict[str, dict], stored: dict[str, dict], only: str | None, ignored: tuple[str, ...] = ()
) -> list[tuple[int, str]]:
    """Each with the level of the change: 1 patch, 2 minor, 3 major (golden/README.md, "Versions"). ignored: fields that
    may differ, such as the version when another one is tried."""
    lines = []
    for name in sorted(fresh.keys() | stored.keys()):
        if name not in stored:
            lines.append((2, f"{FILE}: {name} is new"))
        elif name in fresh:
            for level, key, what in changes(fresh[name], stored[name]):
                lines += [(level, f"{FILE}: {name}: {what}")] if key not in ignored else []
        elif only is None or name.startswith(f"{only}/"):
            lines.append((3, f"{FILE}: {name} is withdrawn"))
    return lines


def merged(fresh: dict[str, dict], stored: dict[str, dict], only: str | None) -> list[dict]:
    """An answer that agrees stays as it was committed."""
    kept = {k: v for k, v in stored.items() if only is not None and not k.startswith(f"{only}/")}
    for name, entry in fresh.items():
        agrees = name in stored and all(level < 3 for level, *_ in changes(entry, stored[name]))
        kept[name] = entry | {k: stored[name][k] for k in ("returns",) if agrees and k in stored[name]}
    return [kept[name] for name in sorted(kept)]


def text(entries: list[dict]) -> str:
    """One line for each field."""

    def entry_text(entry: dict) -> str:
        return "  {\n" + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in entry.items()) + "\n  }"

    return "[\n" + ",\n".join(map(entry_text, entries)) + "\n]\n"
