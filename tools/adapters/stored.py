"""The stored reports of the kernels. reports/NAME.json is what `ropecheck verify --json` wrote, with fewer line breaks.
reports/index.json says which version was judged, and which requirements fail in which dtype."""

import json
from pathlib import Path
from typing import Any

REPORTS = Path(__file__).resolve().parent / "reports"
ROOT = REPORTS.parents[2]
INDEX = REPORTS / "index.json"
DEPTH = 4  # levels with a line for each member: a requirement, a heatmap and a grade have one line each


def report_of(name: str) -> dict[str, Any]:
    """The whole document. Its subject is in `subjects`."""
    return json.loads((REPORTS / f"{name}.json").read_text())


def index() -> dict[str, dict[str, Any]]:
    """Of each kernel: the version of its package, and {dtype: ids of the requirements that fail in it}."""
    return json.loads(INDEX.read_text()) if INDEX.is_file() else {}


def keep(name: str, report: dict[str, Any], version: str, fails_in: dict[str, list[str]]) -> None:
    REPORTS.mkdir(exist_ok=True)
    here = f"{ROOT}/"  # tracebacks name this folder; it is another one on every machine
    write(REPORTS / f"{name}.json", text_of(report).replace(here, "") + "\n")
    known = index() | {name: {"version": version, "fails_in": fails_in}}
    write(INDEX, text_of(dict(sorted(known.items())), 1) + "\n")


def text_of(value: Any, depth: int = DEPTH) -> str:
    """JSON with a line for each member of the outer levels."""
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, list):
        return "[\n" + ",\n".join(text_of(each, depth - 1) for each in value) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(key)}:{text_of(each, depth - 1)}" for key, each in value.items()) + "\n}"


def write(path: Path, text: str) -> None:
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(text)
    unfinished.rename(path)
