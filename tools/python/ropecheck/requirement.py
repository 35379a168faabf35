"""One requirement of a report, with its verdict; tools/report/report.schema.json says what each member means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NO_FAILURE = ("pass", "note", "not_claimed", "no_case", "not_judged", "expected_failure")


def first_clause(message: str) -> str:
    """A message without its details."""
    return message.partition("\n")[0].partition("; ")[0]


@dataclass(frozen=True)
class Element:
    """The element that is furthest off."""

    tensor: str
    batch: int
    token: int
    head: int
    feature: int
    pair: int | None
    position: int
    phi: float
    dtype: str
    expected: float
    expected_bits: str
    actual: float
    actual_bits: str
    error: float
    bound: float
    place: str
    what: str = "element"  # or row, score, mean: what the numbers are of

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> Element | None:
        """From its JSON."""
        if data is None:
            return None
        numbers = {key: float(data[key]) for key in ("phi", "expected", "actual", "error", "bound")}
        return cls(**{**data, **numbers})

    def __repr__(self) -> str:
        return (f"<Element {self.place}, feature {self.feature}: {self.actual:.9g}, expected {self.expected:.9g}; "
                f"error {self.error:.3g}, bound {self.bound:.3g}>")


@dataclass(frozen=True)
class Failure:
    """The smallest case that shows the failure."""

    kind: str
    """value, unwritten, relation, repetition, status, exception, crash, timeout or misbehaviour"""
    message: str
    case: str
    """As `ropecheck.replay` takes it."""
    replay: str
    """A command line."""
    numpy: str | None
    """A program that computes the element again."""
    element: Element | None

    def __repr__(self) -> str:
        return f"<Failure {self.kind}: {first_clause(self.message)}; {self.case}>"


@dataclass(frozen=True)
class Requirement:
    """One requirement and its verdict."""

    id: str
    sentence: str
    force: str
    """MUST or SHOULD"""
    verdict: str
    """pass, fail, note, not_claimed, no_case, not_judged, expected_failure or unexpected_pass"""
    cases: int
    failed: int
    seconds: float
    worst_use: float | None
    """The worst error as a share of the bound that decides."""
    worst: Element | None
    failure: Failure | None
    lacks: str = ""
    """The claims that it needs, if it is not claimed; why it has no case, if it has none."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Requirement:
        """From its JSON."""
        worst, found = data.get("worst"), data.get("failure")
        failure = None
        if found is not None:
            failure = Failure(found["kind"], found["message"], found["case"], found["replay"], found.get("numpy"),
                              Element.of(found.get("element")))
        return cls(data["id"], data["sentence"], data["force"], data["verdict"], data["cases"], data["failed"],
                   data["seconds"], float(worst["use"]) if worst else None,
                   Element.of(worst["element"]) if worst else None, failure, data.get("lacks", ""))

    @property
    def held(self) -> bool:
        """Whether this is not a failure."""
        return self.verdict in NO_FAILURE

    @property
    def own_message(self) -> str:
        """What the kernel itself said: the text of its exception, or of the status that it returned; else empty."""
        if self.failure is None or self.failure.kind not in ("exception", "status"):
            return ""
        return first_clause(self.failure.message).partition(": ")[2]

    @property
    def found(self) -> str:
        """The failure without its details, or else the verdict."""
        if self.failure is not None:
            return first_clause(self.failure.message)
        if self.verdict == "unexpected_pass":
            return "passes, although it is listed as an expected failure"
        return self.verdict.replace("_", " ")

    def __repr__(self) -> str:
        words = [f"{self.id}: {self.found}"]
        if self.failure is not None:
            words.append(f"{self.verdict.replace('_', ' ')} in {self.failed} of {self.cases} cases")
        elif self.cases:
            words.append(f"{self.cases} cases")
        if self.worst_use is not None:
            words.append(f"worst {self.worst_use:.3g} of the bound")
        return f"<Requirement {'; '.join(words)}>"
