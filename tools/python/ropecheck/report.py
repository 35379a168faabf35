"""What `verify` found, as objects; tools/report/report.schema.json says what each member means."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ropecheck import notebook
from ropecheck.requirement import Requirement


@dataclass(frozen=True)
class Grade:
    """How exact the kernel is with one dtype; None: not even C3."""

    dtype: str
    grade: str | None
    use: float


@dataclass(frozen=True)
class Horizon:
    """Scores are shift-invariant to `tolerance` up to `position`."""

    dtype: str
    source: str
    tolerance: float
    position: int | None
    tried: int
    worst: float
    curve: tuple[tuple[int, float], ...] = ()
    """Each position that was tried, and the largest change of a score there."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Horizon:
        """From its JSON."""
        curve = tuple((position, float(deviation)) for position, deviation in data.get("curve", ()))
        return cls(**{**data, "worst": float(data["worst"]), "curve": curve})


class Diagnosis(dict[str, Any]):
    """What a kernel that fails computes instead, as tools/report/report.schema.json has it."""

    @property
    def sentence(self) -> str:
        """The likeliest bug, in a line; empty if none explains the failures."""
        if not self["candidates"]:
            return ""
        first = self["candidates"][0]
        sentence = first["sentence"] + (f", {first['condition']}" if first["condition"] else "")
        return sentence if self["certain"] else f"most likely {sentence}"

    def __repr__(self) -> str:
        return f"<Diagnosis {self.sentence or 'no known bug explains the failures'}>"


@dataclass(frozen=True)
class Report:
    """The verdict on one kernel. `str(report)` is what the command prints."""

    subject: str
    conforms: bool
    isolated: bool
    """True: the kernel ran in a process of its own. False: in the caller's."""
    level: str
    seed: int
    cases: int
    calls: int
    seconds: float
    interrupted: bool
    requirements: tuple[Requirement, ...]
    grades: tuple[Grade, ...]
    horizons: tuple[Horizon, ...]
    permitted_variants: tuple[str, ...]
    diagnosis: Diagnosis | None
    """What a kernel that fails computes instead."""
    text: str
    markdown: str
    data: Mapping[str, Any]
    """The whole report as `--json` has it."""

    @classmethod
    def of(cls, data: Mapping[str, Any], text: str, markdown: str, isolated: bool) -> Report:
        """From the JSON of a run with one subject."""
        one = data["subjects"][0]
        return cls(
            subject=one["subject"],
            conforms=one["as_expected"],
            isolated=isolated,
            level=one["level"],
            seed=one["seed"],
            cases=one["cases"],
            calls=one["calls"],
            seconds=one["seconds"],
            interrupted=one["interrupted"],
            requirements=tuple(Requirement.of(each) for each in one["requirements"]),
            grades=tuple(Grade(each["dtype"], each["grade"], float(each["use"])) for each in one["grades"]),
            horizons=tuple(map(Horizon.of, one["horizons"])),
            permitted_variants=tuple(one["permitted_variants"]),
            diagnosis=Diagnosis(one["diagnosis"]) if "diagnosis" in one else None,
            text=text,
            markdown=markdown,
            data=data,
        )

    @property
    def failures(self) -> tuple[Requirement, ...]:
        """Requirements that failed, and expected failures that passed."""
        return tuple(each for each in self.requirements if not each.held)

    @property
    def where(self) -> str:
        """Where the kernel ran, in words."""
        if re.fullmatch(r"\w+", self.subject) and self.isolated:
            return "is part of the program and ran in it"
        if self.isolated:
            return "ran in a process of its own, between guard pages"
        return "ran in the caller's process, which a crash of the kernel would have ended; isolate=True takes another"

    @property
    def diagnosed(self) -> str:
        """The diagnosis in a line; empty if there is none."""
        return self.diagnosis.sentence if self.diagnosis else ""

    @property
    def told(self) -> Requirement | None:
        """The first failure that the diagnosis explains, or else the first one."""
        explained = self.diagnosis["explained"] if self.diagnosis else []
        return next((each for each in self.failures if each.id in explained), next(iter(self.failures), None))

    @property
    def headline(self) -> str:
        """A failure with its diagnosis, in a line without the subject's name. The kernel's own words come first."""
        if told := self.told:
            words = [self.diagnosed, told.found]
            if told.own_message and self.diagnosed.startswith("most likely"):
                words.reverse()
            elif (told.own_message or told.found) in self.diagnosed:
                words.remove(told.found)
            return f"{told.id}: {'; '.join(filter(None, words))}"
        if self.interrupted:
            return f"interrupted after {self.cases} cases"
        if self.data["subjects"][0].get("budget", {}).get("left_out", 0) > 0:
            return f"the budget left something out after {self.cases} cases"
        return "conforms" if self.conforms else "no case was run"

    @property
    def _verdict(self) -> str:
        return f"{self.subject}: {'conforms' if self.conforms else 'does not conform'}"

    @property
    def _counts(self) -> str:
        judged = sum(each.verdict not in ("not_claimed", "no_case") for each in self.requirements)
        return f"{len(self.failures)} of {judged} requirements failed, {self.cases} cases"

    def __repr__(self) -> str:
        if self.conforms:
            grades = [f"grade {each.grade} in {each.dtype}" for each in self.grades if each.grade]
            return f"<Report {'; '.join([self._verdict, self._counts, *grades])}>"
        return f"<Report {self.headline}. {self._verdict}; {self._counts}>"

    def __getitem__(self, id: str) -> Requirement:
        for each in self.requirements:
            if each.id == id:
                return each
        raise KeyError(id)

    def __bool__(self) -> bool:
        return self.conforms

    def __str__(self) -> str:
        return f"{self.text.rstrip()}\n  {self.where}\n"

    def _repr_markdown_(self) -> str:
        return self.markdown

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page for a browser, as `--html` writes it, in one file. With a path it is also written there."""
        page = notebook.page_of(self.data)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        return notebook.framed(self.to_html(), self._verdict)

    def plot(self, axes: Any = None) -> Any:
        """The worst error of each requirement as a share of its bound, with matplotlib. Returns its axes."""
        return notebook.plot_of(self._verdict, self.requirements, axes)


class Plan(dict[str, Any]):
    """The rotation that was measured for one pairing, as tools/report/plan.schema.json has it."""

    @property
    def headline(self) -> str:
        """The spec that was found and the first difference, in a line."""
        if "problem" in self:
            return str(self["problem"]).partition("\n")[0]
        differences = self.get("differences") or []
        more = f" and {len(differences) - 1} more" if len(differences) > 1 else ""
        found = self.get("flags") or f"{self.get('pairing') or 'no known pairing'}, rotary_dim {self.get('rotary_dim')}"
        return f"{found}; " + (f"differs from the request: {differences[0]}{more}" if differences else "as requested")

    def __repr__(self) -> str:
        return f"<Plan {self.headline}>"


@dataclass(frozen=True)
class Identification:
    """The rotations that a kernel executes, measured from outside. `str()` is what the command prints."""

    subject: str
    isolated: bool
    plans: tuple[Plan, ...]
    """One for each pairing."""
    text: str

    def __repr__(self) -> str:
        return f"<Identification {self.subject}: {' | '.join(each.headline for each in self.plans)}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return notebook.html_of_text(self.text)


@dataclass(frozen=True)
class Replay:
    """One case, run again."""

    passed: bool
    text: str
    case: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"<Replay {'passed' if self.passed else 'failed'}: {self.case}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return notebook.html_of_text(self.text)
