"""What the stored reports say of each kernel, as the templates want it."""

import ast
import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADAPTERS = ROOT / "tools" / "adapters"
sys.path.insert(0, str(ADAPTERS))

import published  # noqa: E402
import stored  # noqa: E402
from kernels import BUILT_IN, KERNELS, RealKernel  # noqa: E402

DTYPES = ("f64", "f32", "f16", "bf16")


@dataclass(frozen=True)
class Cell:
    """A kernel in one dtype, or one family of requirements in it."""

    verdict: str  # passes, fails, notes, nothing
    words: str
    grade: str = ""
    horizon: int | None = None


@dataclass(frozen=True)
class Finding:
    """A program that shows a bug."""

    path: str

    @property
    def sentence(self) -> str:
        """The first one that it says, without the name of the package before a colon."""
        said = " ".join((ast.get_docstring(ast.parse((ROOT / self.path).read_text())) or self.path).split())
        first = re.split(r"(?<=[.;])\s", said, maxsplit=1)[0].rstrip(".;")
        return re.sub(r"^[\w-]+: ", "", first)


NOTHING = Cell("nothing", "not claimed")


@dataclass
class Kernel:
    kernel: RealKernel
    version: str
    fails_in: dict[str, list[str]]
    report: dict
    findings: list[Finding] = field(default_factory=list)
    said: list[published.Said] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def package(self) -> str:
        return self.kernel.package

    @cached_property
    def shown(self) -> list[tuple[str, bool]]:
        """The function in pieces: text, and whether it is code."""
        return [(piece, i % 2 == 1) for i, piece in enumerate(self.kernel.shown.split("`")) if piece]

    @property
    def subject(self) -> dict:
        return self.report["subjects"][0]

    @property
    def conforms(self) -> bool:
        return self.subject["conforms"]

    @property
    def date(self) -> str:
        return self.report["started"][:10]

    @property
    def ours(self) -> bool:
        return self.kernel in BUILT_IN

    @property
    def words(self) -> str:
        return " ".join(self.kernel.words)

    @property
    def adapter(self) -> str:
        """The file that calls the package, as a page of the repository."""
        module = self.kernel.subject.partition(":")[0]
        beside = ADAPTERS / f"{module}.py"
        if self.ours:
            return ""
        if beside.is_file():
            return beside.relative_to(ROOT).as_posix()
        return f"tools/python/ropecheck/conventions/{self.kernel.convention}.py"

    @cached_property
    def failed(self) -> list[dict]:
        return [one for one in self.subject["requirements"] if one["verdict"] == "fail"]

    @property
    def notes(self) -> list[dict]:
        return [one for one in self.subject["requirements"] if one["verdict"] == "note"]

    @property
    def diagnosis(self) -> dict | None:
        """The first candidate of the diagnosis."""
        return next(iter(self.subject.get("diagnosis", {}).get("candidates", [])), None)

    @property
    def dtypes(self) -> list[str]:
        claimed = {one["dtype"] for one in self.subject["grades"]}
        return [dtype for dtype in DTYPES if dtype in claimed]

    @property
    def families_that_fail(self) -> list[str]:
        return list(dict.fromkeys(one["id"][:3] for one in self.failed))

    def horizon(self, dtype: str) -> int | None:
        """Only of computed angles: with tables it belongs to the tables."""
        found = [one["position"] for one in self.subject["horizons"]
                 if one["dtype"] == dtype and one["source"] == "computed"]
        return found[0] if found else None

    @property
    def farthest(self) -> int:
        """The largest position that was asked for its errors."""
        return max((position for one in self.subject["heatmaps"] for position in one["positions"]), default=0)

    def in_dtype(self, dtype: str) -> Cell:
        grades = {one["dtype"]: one["grade"] or "" for one in self.subject["grades"]}
        if dtype not in grades:
            return NOTHING
        wrong = self.fails_in.get(dtype, [])
        words = f"fails {', '.join(wrong)}" if wrong else f"conforms, grade {grades[dtype] or 'none'}"
        return Cell("fails" if wrong else "passes", words, grades[dtype], self.horizon(dtype))

    def family(self, family: str, dtype: str) -> Cell:
        asked = [one for one in self.subject["requirements"] if one["id"].startswith(family) and one["cases"]]
        if not asked or dtype not in self.dtypes:
            return Cell("nothing", "not claimed, or not asked")
        wrong = [one for one in self.fails_in.get(dtype, []) if one.startswith(family)]
        if wrong:
            return Cell("fails", f"fails {', '.join(wrong)}")
        notes = [one["id"] for one in asked if one["verdict"] == "note"]
        return Cell("notes", f"notes: {', '.join(notes)}") if notes else Cell("passes", "passes")


def families_of(kernels: list[Kernel]) -> list[str]:
    return list(dict.fromkeys(one["id"][:3] for one in kernels[0].subject["requirements"]))


def judged() -> list[Kernel]:
    """Every kernel with a stored report, in the order of packages; ours last."""
    versions, tried = stored.index(), published.of_real_kernels()
    found = []
    for kernel in (*sorted(KERNELS, key=lambda one: one.package.lower()), *BUILT_IN):
        if kernel.name in versions:
            entry = versions[kernel.name]
            findings = [Finding(f"tools/adapters/findings/{name}.py") for name in kernel.findings]
            found.append(Kernel(kernel, entry["version"], entry["fails_in"], stored.report_of(kernel.name), findings,
                                tried.get(kernel.name, [])))
    return found


def problems(kernels: list[Kernel]) -> list[str]:
    """What the site must not show."""
    named = [f"{one.name} fails; tools/adapters/kernels.py names no finding for it"
             for one in kernels if one.failed and not one.findings]
    return named + [f"{one.name}: {finding.path} is missing" for one in kernels for finding in one.findings
                    if not (ROOT / finding.path).is_file()]
