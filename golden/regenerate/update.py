"""What a regeneration changes in the committed set, and which version that asks for (golden/README.md, "Versions").

A case that agrees with the committed one by the rules of --check stays as it is, bit for bit, with the host that made
it: another CPU changes nothing. So an update holds new cases and real changes only.
"""

from dataclasses import dataclass, field

import check
import torch
from store import Record

WORDS = ("description", "reason", "function")
OF_CONTENT = ("file", "sha256", "dtype", "storage", "shape")  # fields of an array that follow from its values
LEVELS = ("no", "a patch", "a minor", "a major")


@dataclass
class Update:
    records: list[Record] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # what changed, one a line
    level: int = 0  # of LEVELS

    def note(self, level: int, line: str) -> None:
        self.level = max(self.level, level)
        self.lines.append(line)


def _with_host(record: Record, host: str, default: str) -> Record:
    record.entry.pop("host", None)
    if host != default:
        arrays = record.entry.pop("arrays")
        record.entry |= {"host": host, "arrays": arrays}  # arrays are the last field of an entry
    return record


def _field_level(key: str, new: object, old: object) -> int:
    if key in WORDS or (key == "c" and None not in (new, old) and new < old):
        return 1
    return 2 if key == "version" or old is None else 3


def _meanings(fresh: Record, stored: Record, update: Update) -> None:
    """What the manifest says of an array: role, axes, seed, printed."""
    before = {array["name"]: array for array in stored.entry["arrays"]}
    for array in fresh.entry["arrays"]:
        old = before.get(array["name"], array)
        for key in sorted((array.keys() | old.keys()) - set(OF_CONTENT)):
            if array.get(key) != old.get(key):
                update.note(3, f"{stored.id} {array['name']}: {key} is {array.get(key)!r}, was {old.get(key)!r}")


def _with_values_of(fresh: Record, stored: Record) -> Record:
    before = {array["name"]: array for array in stored.entry["arrays"]}
    arrays = [a | {key: before[a["name"]][key] for key in OF_CONTENT} for a in fresh.entry["arrays"]]
    return Record(fresh.entry | {"arrays": arrays}, stored.arrays, {})


def _arrays(fresh: Record, stored: Record, update: Update) -> None:
    for name in stored.arrays.keys() - fresh.arrays.keys():
        update.note(3, f"{stored.id}: array {name} is withdrawn")
    for name, new in fresh.arrays.items():
        old = stored.arrays.get(name)
        if old is None:
            update.note(2, f"{stored.id}: array {name} is new")
        elif (new.shape, new.dtype) != (old.shape, old.dtype):
            update.note(3, f"{stored.id} {name}: {new.dtype} {tuple(new.shape)}, was {old.dtype} {tuple(old.shape)}")
        elif count := check.bits_differ(new, old):
            most = float((new.to(torch.float64) - old.to(torch.float64)).abs().max())
            update.note(3, f"{stored.id} {name}: {count} of {old.numel()} values changed, by up to {most:.3g}")


def _merge(fresh: Record, stored: Record, host: str, default: str, update: Update) -> Record:
    before = stored.entry.get("host", default)
    for key in sorted((fresh.entry.keys() | stored.entry.keys()) - {"arrays", "host"}):
        new, old = fresh.entry.get(key), stored.entry.get(key)
        if new != old:
            update.note(_field_level(key, new, old), f"{stored.id}: {key} is {new!r}, was {old!r}")
    _meanings(fresh, stored, update)
    same_bits = all(
        name in fresh.arrays and fresh.arrays[name].shape == old.shape and fresh.arrays[name].dtype == old.dtype
        and not check.bits_differ(fresh.arrays[name], old) for name, old in stored.arrays.items()
    )  # fmt: skip
    differs = check.compare({fresh.id: fresh}, {stored.id: stored}, ignored=check.DESCRIPTION).differences
    if not same_bits and not differs:
        return _with_host(_with_values_of(fresh, stored), before, default)
    _arrays(fresh, stored, update)
    made_before = same_bits and fresh.arrays.keys() == stored.arrays.keys()
    return _with_host(fresh, before if made_before else host, default)


def plan(fresh: dict[str, Record], stored: dict[str, Record], only: str | None, host: str, default: str) -> Update:
    """host: the fingerprint of this machine. default: of the host that made each case that names none."""
    update = Update()
    for name in sorted(fresh.keys() | stored.keys()):
        if name not in fresh:
            if only is not None and not name.startswith(f"{only}/"):
                update.records.append(stored[name])
            else:
                update.note(3, f"{name} is withdrawn")
        elif name not in stored:
            update.records.append(_with_host(fresh[name], host, default))
            update.note(2, f"{name} is new")
        else:
            update.records.append(_merge(fresh[name], stored[name], host, default, update))
    return update


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def least_version(committed: str, level: int) -> str:
    major, minor, patch = _numbers(committed)
    return (committed, f"{major}.{minor}.{patch + 1}", f"{major}.{minor + 1}.0", f"{major + 1}.0.0")[level]


def is_enough(version: str, committed: str, level: int) -> bool:
    return _numbers(version) >= _numbers(least_version(committed, level))
