"""What `verify` found, as objects; tools/report/report.schema.json says what each member means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    diagnosis: Mapping[str, Any] | None
    """What a kernel that fails computes instead."""
    text: str = field(repr=False)
    markdown: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)
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
            horizons=tuple(Horizon(**{**each, "worst": float(each["worst"])}) for each in one["horizons"]),
            permitted_variants=tuple(one["permitted_variants"]),
            diagnosis=one.get("diagnosis"),
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
    def _verdict(self) -> str:
        return f"{self.subject}: {'conforms' if self.conforms else 'does not conform'}"

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

    def _repr_html_(self) -> str:
        return notebook.html_of(self._verdict, f"{self.cases} cases; {self.where}", self.requirements)

    def plot(self, axes: Any = None) -> Any:
        """The worst error of each requirement as a share of its bound, with matplotlib. Returns its axes."""
        return notebook.plot_of(self._verdict, self.requirements, axes)


@dataclass(frozen=True)
class Identification:
    """The rotations that a kernel executes, measured from outside. `str()` is what the command prints."""

    subject: str
    isolated: bool
    plans: tuple[Mapping[str, Any], ...]
    """One for each pairing, as tools/report/plan.schema.json has them."""
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Replay:
    """One case, run again."""

    passed: bool
    text: str = field(repr=False)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.text
