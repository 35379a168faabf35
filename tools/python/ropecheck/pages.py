"""The pages of `pytest --rope-html DIR`: a run judges some requirements, a page shows all of a kernel.

A run leaves its report as DIR/.ropecheck/KERNEL/REQUIREMENT.json, because runs may be in several processes. The end
of the session joins them to DIR/KERNEL-HASH.html; the hash is of the subject.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropecheck.errors import UsageError

if TYPE_CHECKING:
    from ropecheck.report import Report

PARTS = ".ropecheck"
MEASURED_BY_ONE = ("heatmaps", "horizons", "grades")
# What a run of one requirement says of itself. It would be wrong of the whole.
SAID_OF_ONE = ("conforms_without", "budget", "missing_claim", "tried")


def file_name(subject: str) -> str:
    """A name for a file that tells which kernel it is of. Subjects that differ have names that differ."""
    words = re.sub(r"[^\w.-]+", "_", subject, flags=re.ASCII)[:100].strip("_.") or "kernel"
    return f"{words}-{hashlib.sha256(os.fsencode(subject)).hexdigest()[:8]}"


def begin(folder: str) -> None:
    """Raises UsageError if the folder cannot be written."""
    try:
        shutil.rmtree(Path(folder) / PARTS, ignore_errors=True)
        (Path(folder) / PARTS).mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"--rope-html {folder}: it cannot be written: {error.strerror}") from None


def add(folder: str, subject: str, requirement: str, report: Report) -> None:
    """Keeps the report of one run. `requirement`: its first one."""
    part = Path(folder) / PARTS / file_name(subject) / f"{requirement}.json"
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps(report.data), encoding="utf-8")


def _counts(requirements: Sequence[dict[str, Any]]) -> str:
    def count(*verdicts: str) -> int:
        return sum(one["verdict"] in verdicts for one in requirements)

    return (f"{count('pass')} passed, {count('fail', 'unexpected_pass')} failed, {count('note')} notes, "
            f"{count('no_case')} without a case, {count('not_claimed')} not claimed")


def _asked_of(kinds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One kind of claims: what any of the reports asked for is asked for."""
    asked = [word for kind in kinds for word in kind["asked"]]
    words = [word for word in kinds[0]["asked"] + kinds[0]["not_asked"] if word not in asked]
    return {**kinds[0], "asked": list(dict.fromkeys(asked)), "not_asked": words}


def joined(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One report of one subject, of the reports of its requirements."""
    whole = {**reports[0], "subjects": [dict(reports[0]["subjects"][0])]}
    parts = [each["subjects"][0] for each in reports]
    subject = whole["subjects"][0]
    subject["requirements"] = [one for part in parts for one in part["requirements"]]
    for number in ("cases", "calls", "seconds", "kernel_seconds"):
        subject[number] = sum(part[number] for part in parts)
    for measured in MEASURED_BY_ONE:
        subject[measured] = next((part[measured] for part in parts if part[measured]), [])
    subject["claims"] = [_asked_of(kinds) for kinds in zip(*(part["claims"] for part in parts))]
    # A requirement that no claim needs was not executed. That does not break the whole.
    executed = [part for part in parts if part["cases"] > 0]
    for verdict in ("conforms", "as_expected"):
        subject[verdict] = bool(executed) and all(part[verdict] for part in executed)
    subject["interrupted"] = any(part["interrupted"] for part in parts)
    diagnoses = [part["diagnosis"] for part in parts if "diagnosis" in part]
    subject.update({"diagnosis": diagnoses[0]} if diagnoses else {})
    for said in SAID_OF_ONE:
        subject.pop(said, None)
    subject["only"] = []
    subject["counts"] = _counts(subject["requirements"])
    subject["verdict"] = "conforms" if subject["conforms"] else "does not conform"
    return whole


def finish(folder: str, order: Sequence[str]) -> None:
    """Writes the pages, each completely or not at all. `order` has the id of every requirement."""
    from ropecheck import notebook

    parts = Path(folder) / PARTS
    for kernel in sorted(parts.iterdir()) if parts.is_dir() else ():
        files = sorted(kernel.glob("*.json"), key=lambda part: order.index(part.stem))
        reports = [json.loads(part.read_text(encoding="utf-8")) for part in files]
        page = notebook.page_of(joined(reports))
        (kernel / "page").write_text(page, encoding="utf-8")
        os.replace(kernel / "page", Path(folder) / f"{kernel.name}.html")
    shutil.rmtree(parts, ignore_errors=True)
