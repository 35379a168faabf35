"""pytest --rope-kernel package.module:function: an item for each requirement.

One run judges all chosen items of a kernel, and diagnoses it once. Under xdist an item is a run, because each process
gets only some of the items. Without the option nothing is imported or run.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ropecheck import pages, program
from ropecheck.errors import RopecheckError

if TYPE_CHECKING:
    from ropecheck.report import Report
    from ropecheck.requirement import Requirement

REQUIREMENT = re.compile(r"^([A-Z]{3}-[0-9]{2})\s+(MUST|SHOULD)\s+(.*)$")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options, in their own group."""
    group = parser.getgroup("ropecheck", "conformance of rotary position embedding kernels")
    group.addoption("--rope-kernel", action="append", default=[], metavar="SUBJECT",
                    help="judge it, an item a requirement: package.module:function, lib.so#kernel, a built-in's name")
    group.addoption("--rope-convention", default=None, metavar="NAME",
                    help="how the function is called; `ropecheck list conventions`")
    group.addoption("--rope-device", default=None, choices=("cpu", "cuda"), help="where a kernel in Python has its tensors")
    group.addoption("--rope-level", default="quick", choices=("quick", "full", "exhaustive"))
    group.addoption("--rope-spec", default=None, metavar="FILE", help="a RopeSpec; default: all that is claimed")
    group.addoption("--rope-require", default=None, metavar="WORDS", help="as `ropecheck verify --require`")
    group.addoption("--rope-html", default=None, metavar="DIR", help="write a page for a browser there, one for each kernel")
    group.addoption("--rope-seed", default=1, type=int)


def requirements() -> list[tuple[str, str]]:
    """Id and sentence of each requirement, as the program lists them."""
    listed = subprocess.run([str(program.path()), "list", "requirements"], capture_output=True, text=True, check=True)
    return [(found[1], found[3]) for line in listed.stdout.splitlines() if (found := REQUIREMENT.match(line))]


def is_of_xdist(config: pytest.Config) -> bool:
    """Whether this is one of xdist's processes, which gets only some of the items."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """With --rope-kernel and without named files, no other tests are collected."""
    folder = config.getoption("--rope-html")
    try:
        if config.getoption("--rope-kernel"):
            program.path()
        if folder and not is_of_xdist(config):
            pages.begin(folder)
    except RopecheckError as error:
        raise pytest.UsageError(str(error)) from None
    if config.getoption("--rope-kernel") and config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among them
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds an item for each requirement of each kernel."""
    for subject in config.getoption("--rope-kernel"):
        items.extend(RopeKernel.from_parent(session, name=subject, nodeid=subject).collect())


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Judges each kernel before the first item is told, so that its progress has a line of its own."""
    if session.config.option.collectonly or is_of_xdist(session.config):
        return
    chosen: dict[RopeKernel, list[str]] = {}
    for item in session.items:
        if isinstance(item, RopeRequirement):
            chosen.setdefault(item.parent, []).append(item.name)
    for kernel, names in chosen.items():
        kernel.judge(names)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With --rope-html: the requirements of each kernel become one page. Under xdist, the workers are done by now."""
    folder = session.config.getoption("--rope-html")
    if folder and not is_of_xdist(session.config):
        pages.finish(folder, [id for id, _ in requirements()])


class RopeKernel(pytest.Collector):
    """The requirements of one subject; the subject is its name."""

    def __init__(self, **others: Any) -> None:
        super().__init__(**others)
        self.reports: dict[str, Report] = {}  # by requirement
        self.problem = ""  # why the subject cannot be judged
        self.not_judged_by: str | None = None  # the requirement that says so
        self.is_diagnosed = False

    def judge(self, names: list[str]) -> None:
        """Judges these requirements in one run."""
        from ropecheck.running import verify

        option = self.config.getoption
        writer = self.config.get_terminal_writer()
        try:
            report = verify(
                self.name,
                convention=option("--rope-convention"),
                device=option("--rope-device"),
                level=option("--rope-level"),
                spec=option("--rope-spec"),
                require=option("--rope-require") or (),
                seed=option("--rope-seed"),
                only=names,
                diagnosis=not self.is_diagnosed,
                progress=(lambda text: writer.write(text, flush=True)) if writer.hasmarkup else None,
            )
        except RopecheckError as error:
            self.problem = re.sub(rf"^(python:)?{re.escape(self.name)}: ", "", str(error))
            return
        self.is_diagnosed = self.is_diagnosed or report.diagnosis is not None
        if folder := option("--rope-html"):
            pages.add(folder, self.name, names[0], report)
        self.reports.update(dict.fromkeys(names, report))

    def collect(self) -> Iterator[RopeRequirement]:
        """One item after the other, in the command's order."""
        for id, sentence in requirements():
            yield RopeRequirement.from_parent(self, name=id, subject=self.name, sentence=sentence)


class RopeRequirement(pytest.Item):
    """One requirement."""

    def __init__(self, *, subject: str, sentence: str, **others: Any) -> None:
        super().__init__(**others)
        self.subject = subject
        self.sentence = sentence

    def runtest(self) -> None:
        """Fails with what was found; is skipped if nothing is claimed."""
        kernel = self.parent
        if self.name not in kernel.reports and not kernel.problem:
            kernel.judge([self.name])
        if kernel.problem:
            if kernel.not_judged_by:
                pytest.skip(f"not judged; {kernel.not_judged_by} says why")
            kernel.not_judged_by = self.name
            raise NotJudged(kernel.problem)
        report = kernel.reports[self.name]
        result = report[self.name]
        self.user_properties += [("subject", report.subject), ("sentence", self.sentence), ("cases", result.cases),
                                 ("verdict", result.verdict)]
        if result.worst_use is not None:
            self.user_properties.append(("worst_use", result.worst_use))
        if result.failure is not None:
            self.user_properties += [("kind", result.failure.kind), ("replay", result.failure.replay)]
        if result.verdict in ("not_claimed", "no_case"):
            pytest.skip(f"{result.verdict.replace('_', ' ')}: {result.lacks}")
        if not result.held:
            raise DoesNotConform(report, result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was found instead of our own traceback. Its first line is the message of pytest's summary."""
        if not isinstance(excinfo.value, (DoesNotConform, NotJudged)):
            return super().repr_failure(excinfo, style)
        shown = excinfo.getrepr(style="value", chain=False)
        if shown.reprcrash is not None:
            shown.reprcrash.message = str(excinfo.value).partition("\n")[0]
        return shown

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"{self.subject} {self.name}"


class NotJudged(Exception):
    """The kernel cannot be loaded, or an option is wrong."""


class DoesNotConform(AssertionError):
    """The requirement does not hold."""

    def __init__(self, report: Report, result: Requirement) -> None:
        told = report.told or result
        if result.id == told.id:  # the whole verdict, once; pytest has the subject's name above this text
            lines = [line for line in report.text.splitlines() if not line.strip().startswith(report.subject)]
            super().__init__("\n".join([report.headline, "", *lines, f"  {report.where}"]))
            return
        lines = [f"{result.id}: {result.found}", "", f"  {result.sentence}"]
        if result.failure is not None:
            lines += [f"  found   {result.failure.message}", f"  replay  {result.failure.replay}"]
        super().__init__("\n".join([*lines, f"  {told.id} has the diagnosis"]))
