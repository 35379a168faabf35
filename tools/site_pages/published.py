"""What the rope tests of other projects say: of wrong kernels, from the tables of the kill matrix; of real ones, from
tools/adapters/published.json."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KILL_MATRIX = "tests/kernels/KILL_MATRIX.md"
REAL = ROOT / "tools" / "adapters" / "published.json"
ROW = re.compile(r"^\| [a-z] \| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)
MUTANT = re.compile(r"^\| [A-Z0-9-]+ \| ([a-z0-9-]+): .* \| (\d+) of (\d+) \|$", re.MULTILINE)
UNREJECTED = re.compile(r"^- Rejected by no requirement: (.+)\.$", re.MULTILINE)


def rejected_by_ours(kernels: int) -> int:
    """How many of the wrong kernels some requirement rejects. Raises ValueError if the page does not say so."""
    said = UNREJECTED.search((ROOT / KILL_MATRIX).read_text())
    if not said:
        raise ValueError(f"{KILL_MATRIX} does not say what no requirement rejects")
    return kernels - (0 if said[1] == "none" else len(said[1].split(", ")))


@dataclass(frozen=True)
class BugClass:
    """The wrong kernels with one class of bugs."""

    name: str
    kernels: int
    unseen: int  # accepted by every published test


@dataclass(frozen=True)
class Column:
    name: str
    rejects: int
    kernels: int
    largest_position: int


def columns() -> list[Column]:
    """Raises ValueError if the page has no such table."""
    found = [Column(name, int(rejects), int(rejects) + int(accepts), int(position))
             for name, rejects, accepts, position in ROW.findall((ROOT / KILL_MATRIX).read_text())]
    if not found:
        raise ValueError(f"{KILL_MATRIX} has no table of published rules")
    return found


def classes() -> list[BugClass]:
    """The most unseen first. Raises ValueError if the page has no such table."""
    found: dict[str, list[int]] = {}
    for name, rejects, _ in MUTANT.findall((ROOT / KILL_MATRIX).read_text()):
        found.setdefault(name, []).append(int(rejects))
    if not found:
        raise ValueError(f"{KILL_MATRIX} has no table of wrong kernels")
    made = [BugClass(name, len(rejects), rejects.count(0)) for name, rejects in found.items()]
    return sorted(made, key=lambda one: (-one.unseen / one.kernels, one.name))


@dataclass(frozen=True)
class Said:
    """What a test says of one real kernel."""

    test: str
    cases: int  # up to the one that rejects it
    wrong: str | None


def of_real_kernels() -> dict[str, list[Said]]:
    """By the kernels' names: the tests that ask anything of them."""
    return {kernel: [Said(test, each["cases"], each["wrong"]) for test, each in tests.items() if each["cases"]]
            for kernel, tests in json.loads(REAL.read_text()).items()}
