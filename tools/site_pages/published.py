"""What the rope tests of other projects reject, from the last table of the kill matrix."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KILL_MATRIX = "tests/kernels/KILL_MATRIX.md"
ROW = re.compile(r"^\| [a-z] \| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)


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
